"""Lexicons as tables: one entry per line, with tabs between text, reading and options.

    # any remark
    text    reading    options
    行业    hang2 ye4    pinyin
    SQL    sequel
    GPT    吉皮提    zh case

Options are separated by spaces, in any order: a phoneme alphabet (``pinyin``, ``ipa``, ``x-misaki``: the reading is
phonemes), a language (``zh``, ``en-US``: the entry applies there only), ``case`` (letters match in their case only),
``word`` or ``anywhere``, ``after`` (matched in the spoken form). Empty lines and lines that begin with ``#`` are
ignored (put a space before a text that begins with it), and so is a heading: a first line whose first column is
``text``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.errors import InvalidRequest
from yuliu.text.languages import all_languages, find_language, phoneme_alphabets
from yuliu.text.lexicon.entry import Entry
from yuliu.text.lexicon.problems import MAX_ENTRIES, MAX_FILE_BYTES, LineProblem, Parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HEADING = "text\treading\toptions"
_OPTIONS: Mapping[str, tuple[str, str | bool]] = {
    "case": ("match_case", True),
    "word": ("where", "word"),
    "anywhere": ("where", "anywhere"),
    "after": ("stage", "after"),
}
"""Field and value set by each option, beside alphabets and languages."""


def parse_tsv(data: bytes) -> Parsed:
    """Read a table, in UTF-8 with or without a byte order mark.

    Raises:
        InvalidRequest: It is too large, has too many entries, or is not UTF-8. Invalid lines do not raise.
    """
    entries: list[Entry] = []
    lines: list[int] = []
    problems: list[LineProblem] = []
    heading = True
    for number, line in enumerate(decoded(data).split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if heading and line.split("\t")[0].strip().lower() == "text":
            heading = False
            continue
        heading = False
        try:
            entries.append(_entry(line))
            lines.append(number)
        except InvalidRequest as error:
            problems.append(LineProblem(number, error.message))
        if len(entries) > MAX_ENTRIES:
            raise InvalidRequest(f"more than {MAX_ENTRIES:,} entries; split the lexicon in two", param="entries")
    return Parsed(tuple(entries), tuple(lines), tuple(problems))


def decoded(data: bytes) -> str:
    """Decode a file.

    Raises:
        InvalidRequest: It is too large or not UTF-8.
    """
    if len(data) > MAX_FILE_BYTES:
        raise InvalidRequest(f"the lexicon has more than {MAX_FILE_BYTES:,} bytes; split it in two", param="entries")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidRequest(f"line {line}: is not UTF-8; save the file in that encoding", param="entries") from None


def _entry(line: str) -> Entry:
    columns = [column.strip() for column in line.split("\t")]
    if len(columns) < 2:
        raise InvalidRequest("needs text and reading with a tab between them (spaces do not count)", param="entries")
    if len(columns) > 3:
        raise InvalidRequest("has more than three columns: text, reading, options", param="entries")
    return Entry(columns[0], columns[1], **parse_options(columns[2] if len(columns) == 3 else ""))


def parse_options(written: str) -> dict[str, Any]:
    """Return the fields that options set.

    Raises:
        InvalidRequest: An option is unknown, or two of them contradict each other.
    """
    fields: dict[str, Any] = {}
    for option in written.lower().replace(",", " ").split():
        name, value = _option(option)
        if fields.get(name, value) != value:
            raise InvalidRequest(f"option {option!r} contradicts another one", param="options")
        fields[name] = value
    return fields


def _option(word: str) -> tuple[str, str | bool]:
    """Return the field that an option sets and its value."""
    if word in _OPTIONS:
        return _OPTIONS[word]
    if word in phoneme_alphabets():
        return "alphabet", word
    lang = find_language(word)
    if lang is None:
        known = ", ".join((*phoneme_alphabets(), *all_languages(), *_OPTIONS))
        raise InvalidRequest(f"there is no such option; there are {known}", param="options")
    return "lang", lang


def write_options(entry: Entry) -> str:
    """Return the options of an entry, as :func:`parse_options` reads them."""
    others = (option for option, (name, value) in _OPTIONS.items() if getattr(entry, name) == value)
    return " ".join([*filter(None, (entry.alphabet, entry.lang)), *others])


def write_tsv(entries: Iterable[Entry]) -> str:
    """Return a table with its heading, which :func:`parse_tsv` reads as the same entries."""
    return "".join(f"{row}\n" for row in (HEADING, *map(_row, entries)))


def _row(entry: Entry) -> str:
    text = f" {entry.text}" if entry.text.startswith("#") else entry.text
    return "\t".join((text, entry.reading, write_options(entry))).rstrip("\t")
