"""The pages on reading text agree with the code: every rule, option, warning and example."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from pages import ROOT, Page

import yuliu
from yuliu.engines import alignment
from yuliu.stream import text_pipeline
from yuliu.text.en import English
from yuliu.text.language_spans import split_languages
from yuliu.text.languages import phoneme_alphabets
from yuliu.text.markup import CleanText, MarkupReader, options, ssml, ssml_values
from yuliu.text.zh import Mandarin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.text.frontend import FrontEnd

pytestmark = pytest.mark.parametrize("lang", ["en", "zh"])
Table = list[list[str]]
_CODE = re.compile(r"^(`+) ?(.*?) ?\1$")


def page_of(lang: str, name: str) -> Page:
    return Page(ROOT / "docs" / lang / f"{name}.md")


def tables_of(page: Page) -> list[Table]:
    """Return the rows of each table, without headings, with the cells as written."""
    found = re.findall(r"(?:^\|.*\n)+", page.text, re.MULTILINE)
    return [[[cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines()[2:]] for text in found]


def bare(cell: str) -> str:
    """Return a cell without its backticks."""
    found = _CODE.match(cell)
    return found[2] if found else cell


@cache
def front_end(language: str) -> FrontEnd:
    return Mandarin() if language == "zh" else English()


def rules_in_code() -> Iterator[str]:
    """Yield the names of the rules by which the reader, the front ends, the ledger and the engines skip text."""
    for path in (ROOT / "src" / "yuliu" / "text" / "markup").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "skip":
                yield from (
                    arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
                )
    yield from ("punctuation", "symbol", "language_not_spoken", alignment.UNKNOWN_PHONEME)


def test_every_rule_is_listed(lang: str) -> None:
    """The table of rules contains every rule that skips text, and no other."""
    table = tables_of(page_of(lang, "reference/markup"))[1]
    assert sorted(bare(row[0]) for row in table) == sorted(set(rules_in_code()))


def test_rules_in_the_guide_exist(lang: str) -> None:
    """The rules in the how-to guide exist."""
    named = re.findall(
        r"`(\w+)`", "".join(row[0] for row in tables_of(page_of(lang, "how-to/control-how-it-is-read"))[1])
    )
    assert named
    assert set(named) <= set(rules_in_code())


def test_options_in_the_guide_are_accepted(lang: str) -> None:
    """Every option in the how-to guide is valid, and every field has one."""
    text = page_of(lang, "how-to/control-how-it-is-read").text
    shown = re.findall(r'`(\w+)=(?:"(\w+)"|(False))`', text)
    assert {name for name, *_ in shown} == {field.name for field in fields(yuliu.MarkupOptions)}
    for name, word, _ in shown:
        choice: dict[str, Any] = {name: word or False}
        assert getattr(yuliu.MarkupOptions(**choice), name) == choice[name]  # raises for an invalid value


def test_library_page_lists_reader_options_with_defaults_and_values(lang: str) -> None:
    """The library page lists the default and all values of each option."""
    page = page_of(lang, "reference/library").text
    for field in fields(yuliu.MarkupOptions):
        row = re.search(rf"^\| `{field.name}` \| `(\"?\w+\"?)` \| (.*) \|$", page, re.MULTILINE)
        assert row, field.name
        assert row[1] == (f'"{field.default}"' if isinstance(field.default, str) else str(field.default))
        for choice in options._CHOICES.get(field.name, ()):
            assert f'`"{choice}"`' in row[2] or choice == field.default, (field.name, choice)


def test_markup_examples_are_read_as_shown(lang: str) -> None:
    """The reader turns the first column of the first table into the second one."""
    table = tables_of(page_of(lang, "reference/markup"))[0]
    assert len(table) > 15
    for written, spoken, _ in table:
        reader = MarkupReader()
        events = [*reader.push(bare(written)), *reader.flush()]
        assert "".join(event.text for event in events if isinstance(event, CleanText)).strip() == bare(spoken), written


def test_every_warning_is_listed_verbatim(lang: str) -> None:
    """The last table contains every warning."""
    known = {
        value for module in (ssml, text_pipeline) for name, value in vars(module).items() if is_warning(name, value)
    }
    assert len(known) == 8
    assert {bare(row[0]) for row in tables_of(page_of(lang, "reference/markup"))[-1]} == known


def is_warning(name: str, value: object) -> bool:
    return name.isupper() and not name.startswith("_") and isinstance(value, str) and " " in value


def test_ssml_values_are_listed(lang: str) -> None:
    """The table of elements contains every say-as kind, alphabet and named attribute value with its number."""
    table = tables_of(page_of(lang, "reference/markup"))[2]
    told = " ".join(" ".join(row) for row in table)
    assert {*ssml._SAY_AS, *phoneme_alphabets(), *ssml._UNITS, *ssml._READINGS} <= set(re.findall(r"`([\w-]+)`", told))
    for names in (ssml_values._STRENGTHS_S, ssml_values._RATES, ssml_values._VOLUMES_DB):
        for name, number in names.items():
            assert name == "default" or re.search(rf"`{name}` {number:g}\b", told), name


@pytest.mark.parametrize(("place", "language"), [(0, "zh"), (1, "en")])
def test_language_examples_are_read_as_shown(lang: str, place: int, language: str) -> None:
    """The front end turns the second column into the third one."""
    table = tables_of(page_of(lang, "explanation/how-text-is-read"))[place]
    assert len(table) > 10
    for _, written, said in table:
        assert front_end(language).read(bare(written)).spoken == said


def test_ambiguous_examples_are_read_as_shown(lang: str) -> None:
    """Both front ends turn the first column into the second and third one, where these are not empty."""
    table = tables_of(page_of(lang, "explanation/how-text-is-read"))[2]
    assert len(table) > 10
    for row in table:
        for language, said in zip(("zh", "en"), row[1:3], strict=True):
            assert not said or front_end(language).read(bare(row[0])).spoken == said, (row[0], language)


def test_mandarin_examples_go_to_the_mandarin_voice(lang: str) -> None:
    """The default voice treats no part of the Mandarin examples as English."""
    mandarin, _, ambiguous = tables_of(page_of(lang, "explanation/how-text-is-read"))[:3]
    for written in [*(row[1] for row in mandarin), *(row[0] for row in ambiguous if row[1])]:
        assert [part.lang for part in split_languages(bare(written), ("zh", "en"))] == ["zh"], written


def test_pronunciation_examples_are_read_as_shown(lang: str) -> None:
    """The front ends return the syllables of the fourth table and the phonemes of the fifth."""
    mandarin, english = tables_of(page_of(lang, "explanation/how-text-is-read"))[3:5]
    for written, pinyin in mandarin:
        assert " ".join(unit.pinyin or "" for unit in front_end("zh").read(bare(written)).units) == pinyin
    for written, word, phonemes in english:
        units = [unit for unit in front_end("en").read(bare(written)).units if unit.text == word]
        assert ["".join(unit.phonemes) for unit in units] == [phonemes]


def test_referenced_files_exist(lang: str) -> None:
    """The tables that the page refers to exist."""
    named = re.findall(r"`((?:src|tests)/[\w/.]+)`", page_of(lang, "explanation/how-text-is-read").text)
    assert len(named) > 4
    assert all((ROOT / name).exists() for name in named)
