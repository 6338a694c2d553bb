"""Lexicons in the W3C's Pronunciation Lexicon Specification 1.0 (https://www.w3.org/TR/pronunciation-lexicon/).

The elements ``lexicon`` (with ``alphabet`` and ``xml:lang``), ``lexeme``, ``grapheme``, ``phoneme`` and ``alias`` are
read; metadata and examples are ignored. Of several readings the preferred one counts, or the first. Options that PLS
does not have (case, parts of words, stage, a language for one entry) are in an attribute of our own namespace, which
other readers ignore. Documents with a DOCTYPE are refused, because it could define entities that grow without bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, cast
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from yuliu.errors import InvalidRequest
from yuliu.text.languages import all_languages, find_language, phoneme_alphabets
from yuliu.text.lexicon.entry import Entry
from yuliu.text.lexicon.problems import MAX_ENTRIES, MAX_FILE_BYTES, LineProblem, Parsed
from yuliu.text.lexicon.tsv import parse_options, write_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.types import Lang

NAMESPACE = "http://www.w3.org/2005/01/pronunciation-lexicon"
OURS = "urn:yuliu:lexicon"
_OPTIONS = f"{OURS} options"
_LANG = "http://www.w3.org/XML/1998/namespace lang"
_ALIASES: Mapping[str, str] = {"x-pinyin": "pinyin", "misaki": "x-misaki"}
_WRITTEN: Mapping[str, str] = {"pinyin": "x-pinyin"}
"""Alphabets with a different name in a document."""
_ANY_LANGUAGE = frozenset(("", "mul", "und"))
_MAX_DEPTH = 8


def parse_pls(data: bytes) -> Parsed:
    """Read a document.

    Raises:
        InvalidRequest: The document is too large, has too many entries, is not well-formed XML, has a DOCTYPE or an
            unknown language, or is not a lexicon. Invalid lexemes do not raise.
    """
    if len(data) > MAX_FILE_BYTES:
        raise InvalidRequest(f"the lexicon has more than {MAX_FILE_BYTES:,} bytes; split it in two", param="entries")
    parser = expat.ParserCreate(namespace_separator=" ")
    reader = _PlsReader(parser)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = f"line {error.lineno}: the XML is not well-formed ({expat.errors.messages[error.code]})"
        raise InvalidRequest(message, param="entries") from None
    except (LookupError, ValueError):  # the declaration names an encoding that Python does not have, or no text one
        raise InvalidRequest("line 1: save the file in UTF-8", param="entries") from None
    return Parsed(tuple(reader.entries), tuple(reader.lines), tuple(reader.problems))


@dataclass(slots=True)
class _Lexeme:
    """Lexeme under construction."""

    line: int
    options: str
    graphemes: list[str] = field(default_factory=list)
    readings: list[tuple[bool, str, str | None]] = field(default_factory=list)
    """Readings: whether it is preferred, its text, and its alphabet, None for words."""


class _PlsReader:
    """Handlers that collect entries while expat reads."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.entries: list[Entry] = []
        self.lines: list[int] = []
        self.problems: list[LineProblem] = []
        self._parser = parser
        self._depth = 0
        self._lang: Lang | None = None
        self._alphabet = "ipa"
        self._lexeme: _Lexeme | None = None
        self._text: list[str] = []
        self._attributes: Mapping[str, str] = {}
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.StartDoctypeDeclHandler = self._refuse_doctype

    def _refuse_doctype(self, *_: object) -> NoReturn:
        raise InvalidRequest(f"line {self._line}: remove the DOCTYPE; lexicons need none", param="entries")

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise InvalidRequest(f"line {self._line}: elements are nested too deeply", param="entries")
        element = _local(name)
        if self._depth == 1:
            self._open(element, attributes)
        elif element == "lexeme":
            self._lexeme = _Lexeme(self._line, attributes.get(_OPTIONS, ""))
        self._text.clear()
        self._attributes = attributes

    def _open(self, element: str, attributes: Mapping[str, str]) -> None:
        if element != "lexicon":
            raise InvalidRequest(f"line {self._line}: the outermost element must be <lexicon>", param="entries")
        self._alphabet = attributes.get("alphabet", "ipa")
        self._lang = _language(attributes.get(_LANG, ""), self._line)

    def _end(self, name: str) -> None:
        self._depth -= 1
        lexeme, element = self._lexeme, _local(name)
        if lexeme is None:
            return
        said = " ".join("".join(self._text).split())
        if element == "grapheme":
            lexeme.graphemes.append(said)
        elif element in ("alias", "phoneme"):
            alphabet = self._attributes.get("alphabet", self._alphabet) if element == "phoneme" else None
            lexeme.readings.append((self._attributes.get("prefer") == "true", said, alphabet))
        elif element == "lexeme":
            self._lexeme = None
            self._take(lexeme)
        self._text.clear()

    def _take(self, lexeme: _Lexeme) -> None:
        try:
            found = _entries(lexeme, self._lang)
        except InvalidRequest as error:
            self.problems.append(LineProblem(lexeme.line, error.message))
            return
        self.entries += found
        self.lines += [lexeme.line] * len(found)
        if len(self.entries) > MAX_ENTRIES:
            raise InvalidRequest(f"more than {MAX_ENTRIES:,} entries; split the lexicon in two", param="entries")


def _language(tag: str, line: int) -> Lang | None:
    """Return the language that a lexicon is restricted to; None for any."""
    if tag.partition("-")[0].lower() in _ANY_LANGUAGE:
        return None
    lang = find_language(tag)
    if lang is None:
        reason = f"xml:lang: there is no language {tag!r}; there are {', '.join(all_languages())}, and mul for any"
        raise InvalidRequest(f"line {line}: {reason}", param="entries")
    return lang


def _local(name: str) -> str:
    """Return the name of a PLS element, with or without its namespace; empty for others."""
    namespace, _, local = name.rpartition(" ")
    return local if namespace in ("", NAMESPACE) else ""


def _entries(lexeme: _Lexeme, lang: Lang | None) -> list[Entry]:
    if not lexeme.graphemes:
        raise InvalidRequest("a lexeme needs a <grapheme> with the written text")
    if not lexeme.readings:
        raise InvalidRequest("a lexeme needs an <alias> or a <phoneme> with the reading")
    _, said, alphabet = next((each for each in lexeme.readings if each[0]), lexeme.readings[0])
    fields: dict[str, Any] = {"lang": lang} | parse_options(lexeme.options)
    if alphabet is not None:
        name = _ALIASES.get(alphabet.lower(), alphabet.lower())
        if name not in phoneme_alphabets():
            known = ", ".join(_WRITTEN.get(each, each) for each in phoneme_alphabets())
            raise InvalidRequest(f"there is no such alphabet; there are {known}")
        fields["alphabet"] = name
    return [Entry(grapheme, said, **fields) for grapheme in lexeme.graphemes]


def write_pls(entries: Sequence[Entry]) -> str:
    """Return a document that :func:`parse_pls` reads as the same entries."""
    languages = {entry.lang for entry in entries}
    shared = cast("str", languages.pop()) if len(languages) == 1 and None not in languages else "mul"
    lexemes = "".join(_lexeme(entry, shared) for entry in entries)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<lexicon version="1.0" xmlns="{NAMESPACE}" xmlns:y="{OURS}" alphabet="ipa" xml:lang="{shared}">\n'
        f"{lexemes}</lexicon>\n"
    )


def _lexeme(entry: Entry, shared: str) -> str:
    options = [
        option
        for option in write_options(entry).split()
        if option not in (shared, entry.alphabet)  # in the attributes of PLS
    ]
    ours = f" y:options={quoteattr(' '.join(options))}" if options else ""
    if entry.alphabet is None:
        reading = f"<alias>{escape(entry.reading)}</alias>"
    else:
        name = _WRITTEN.get(entry.alphabet, entry.alphabet)
        alphabet = "" if name == "ipa" else f" alphabet={quoteattr(name)}"
        reading = f"<phoneme{alphabet}>{escape(entry.reading)}</phoneme>"
    return f"  <lexeme{ours}><grapheme>{escape(entry.text)}</grapheme>{reading}</lexeme>\n"
