"""The pages on how text is read are compared with the code: each rule, option and warning, each row of examples."""

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
from yuliu.text.markup import MarkupReader, CleanText, options, ssml, ssml_values
from yuliu.text.language_spans import split_languages
from yuliu.text.languages import phoneme_alphabets
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
    """The rows of each table, without its heading, cells as they are written."""
    found = re.findall(r"(?:^\|.*\n)+", page.text, re.MULTILINE)
    return [[[cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines()[2:]] for text in found]


def bare(cell: str) -> str:
    """A cell without the backticks around it."""
    found = _CODE.match(cell)
    return found[2] if found else cell


@cache
def front_end(language: str) -> FrontEnd:
    return Mandarin() if language == "zh" else English()


def rules_in_code() -> Iterator[str]:
    """The names of rules, wherever the reader, the front ends, the ledger or the engines leave something out."""
    for path in (ROOT / "src" / "yuliu" / "text" / "markup").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "skip":
                yield from (
                    arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
                )
    yield from ("punctuation", "symbol", "language_not_spoken", alignment.UNKNOWN_PHONEME)


def test_every_rule_is_listed(lang: str) -> None:
    """The table of rules holds the name of each rule that leaves something out, and no other."""
    table = tables_of(page_of(lang, "reference/markup"))[1]
    assert sorted(bare(row[0]) for row in table) == sorted(set(rules_in_code()))


def test_rules_named_in_the_how_to_exist(lang: str) -> None:
    """The rules that the how-to page explains are those of the reference."""
    named = re.findall(
        r"`(\w+)`", "".join(row[0] for row in tables_of(page_of(lang, "how-to/control-how-it-is-read"))[1])
    )
    assert named
    assert set(named) <= set(rules_in_code())


def test_choices_shown_in_the_how_to_are_accepted(lang: str) -> None:
    """Each option that the how-to page shows can be given, and there is one for each field."""
    text = page_of(lang, "how-to/control-how-it-is-read").text
    shown = re.findall(r'`(\w+)=(?:"(\w+)"|(False))`', text)
    assert {name for name, *_ in shown} == {field.name for field in fields(yuliu.MarkupOptions)}
    for name, word, _ in shown:
        choice: dict[str, Any] = {name: word or False}
        assert getattr(yuliu.MarkupOptions(**choice), name) == choice[name]  # raises for what is no choice


def test_each_option_of_the_reader_is_told_with_default_and_choices(lang: str) -> None:
    """The library's page tells the default and all choices of each option."""
    page = page_of(lang, "reference/library").text
    for field in fields(yuliu.MarkupOptions):
        row = re.search(rf"^\| `{field.name}` \| `(\"?\w+\"?)` \| (.*) \|$", page, re.MULTILINE)
        assert row, field.name
        assert row[1] == (f'"{field.default}"' if isinstance(field.default, str) else str(field.default))
        for choice in options._CHOICES.get(field.name, ()):
            assert f'`"{choice}"`' in row[2] or choice == field.default, (field.name, choice)


def test_each_example_of_markup_is_read_so(lang: str) -> None:
    """What the reader makes of the first column of the first table is its second column."""
    table = tables_of(page_of(lang, "reference/markup"))[0]
    assert len(table) > 15
    for written, spoken, _ in table:
        reader = MarkupReader()
        events = [*reader.push(bare(written)), *reader.flush()]
        assert "".join(event.text for event in events if isinstance(event, CleanText)).strip() == bare(spoken), written


def test_every_warning_is_told_word_by_word(lang: str) -> None:
    """The last table holds each warning that there is."""
    known = {value for module in (ssml, text_pipeline) for name, value in vars(module).items() if is_warning(name, value)}
    assert len(known) == 8
    assert {bare(row[0]) for row in tables_of(page_of(lang, "reference/markup"))[-1]} == known


def is_warning(name: str, value: object) -> bool:
    return name.isupper() and not name.startswith("_") and isinstance(value, str) and " " in value


def test_values_of_ssml_are_told(lang: str) -> None:
    """Each kind of say-as, alphabet and named value of an attribute, with its number, is in the table of elements."""
    table = tables_of(page_of(lang, "reference/markup"))[2]
    told = " ".join(" ".join(row) for row in table)
    assert {*ssml._SAY_AS, *phoneme_alphabets(), *ssml._UNITS, *ssml._READINGS} <= set(re.findall(r"`([\w-]+)`", told))
    for names in (ssml_values._STRENGTHS_S, ssml_values._RATES, ssml_values._VOLUMES_DB):
        for name, number in names.items():
            assert name == "default" or re.search(rf"`{name}` {number:g}\b", told), name


@pytest.mark.parametrize(("place", "language"), [(0, "zh"), (1, "en")])
def test_each_example_of_a_language_is_read_so(lang: str, place: int, language: str) -> None:
    """What the front end makes of the second column is the third."""
    table = tables_of(page_of(lang, "explanation/how-text-is-read"))[place]
    assert len(table) > 10
    for _, written, said in table:
        assert front_end(language).read(bare(written)).spoken == said


def test_each_ambiguous_example_is_read_so(lang: str) -> None:
    """What both front ends make of the first column is the second and the third, where these say anything."""
    table = tables_of(page_of(lang, "explanation/how-text-is-read"))[2]
    assert len(table) > 10
    for row in table:
        for language, said in zip(("zh", "en"), row[1:3], strict=True):
            assert not said or front_end(language).read(bare(row[0])).spoken == said, (row[0], language)


def test_what_is_shown_as_mandarin_goes_to_the_mandarin_voice(lang: str) -> None:
    """Nothing in the examples that are said in Mandarin would be taken for English by the default voice."""
    mandarin, _, ambiguous = tables_of(page_of(lang, "explanation/how-text-is-read"))[:3]
    for written in [*(row[1] for row in mandarin), *(row[0] for row in ambiguous if row[1])]:
        assert [part.lang for part in split_languages(bare(written), ("zh", "en"))] == ["zh"], written


def test_each_example_of_pronunciation_is_read_so(lang: str) -> None:
    """The syllables of the fourth table, and the phonemes of the words in the fifth, are what the front ends give."""
    mandarin, english = tables_of(page_of(lang, "explanation/how-text-is-read"))[3:5]
    for written, pinyin in mandarin:
        assert " ".join(unit.pinyin or "" for unit in front_end("zh").read(bare(written)).units) == pinyin
    for written, word, phonemes in english:
        units = [unit for unit in front_end("en").read(bare(written)).units if unit.text == word]
        assert ["".join(unit.phonemes) for unit in units] == [phonemes]


def test_files_named_exist(lang: str) -> None:
    """The tables that the page names are there."""
    named = re.findall(r"`((?:src|tests)/[\w/.]+)`", page_of(lang, "explanation/how-text-is-read").text)
    assert len(named) > 4
    assert all((ROOT / name).exists() for name in named)
