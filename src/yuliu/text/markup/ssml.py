"""Subset of SSML 1.1 (https://www.w3.org/TR/speech-synthesis11/), read tag by tag and leniently.

Malformed markup is read as text, with a warning. No document tree is built, only the usual entities are known, and
depth and lengths are limited, so that nothing can grow.
"""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from yuliu.text.languages import find_language, phoneme_alphabets
from yuliu.text.markup.cursor import Cursor, Progress
from yuliu.text.markup.ssml_values import break_s, pitch_semitones, rate_factor, volume_db
from yuliu.types import Boundary, Hint, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.types import Lang, Style

MAX_DEPTH = 32
"""Maximum depth; elements nested deeper have no effect."""
_ATTRIBUTE = r"\s{1,20}([\w:.-]{1,40})\s{0,3}=\s{0,3}(\"[^\"<]{0,256}\"|'[^'<]{0,256}')"
_TAG = re.compile(
    rf"<(?P<slash>/?)(?P<name>[A-Za-z][\w:-]{{0,30}})(?P<attributes>(?:{_ATTRIBUTE}){{0,8}})\s{{0,20}}(?P<empty>/?)>"
)
_TAG_BEGUN = re.compile(
    rf"<(?:/?(?:[A-Za-z][\w:-]{{0,30}}(?:{_ATTRIBUTE}){{0,8}}"
    r"(?:\s{1,20}(?:[\w:.-]{1,40}\s{0,3}(?:=\s{0,3}(?:\"[^\"<]{0,256}|'[^'<]{0,256})?)?)?)?\s{0,20}/?)?)?"
)
_DECLARATION = re.compile(r"<\?xml[^<>]{0,200}\?>")
_DECLARATION_BEGUN = re.compile(r"<(?:\?(?:x(?:m(?:l[^<>]{0,201})?)?)?)?")
_PAIRS = re.compile(_ATTRIBUTE)
_CONTENT = re.compile(r"[^<]{0,300}")
_SPEAK = re.compile(r"\s{0,200}<(?:speak(?=[\s/>])|\?xml(?=\s))")
_SPEAK_BEGUN = re.compile(r"\s{0,200}(?:<(?:s(?:p(?:e(?:a(?:k)?)?)?)?|\?(?:x(?:m(?:l)?)?)?)?)?")
_KINDS = "date time telephone characters spell-out ordinal cardinal number unit digits"
_SAY_AS = frozenset(_KINDS.split())
_SAME = {"spell-out": "characters", "number": "cardinal"}
_UNITS = {"p": Boundary.PARAGRAPH, "s": Boundary.SENTENCE, "speak": Boundary.SENTENCE}
_PLAIN = frozenset(("speak", "p", "s"))

UNKNOWN = "ssml: an element that is not supported was left out, its text was read"
MALFORMED = "ssml: markup that is not well formed was read as text"
UNMATCHED = "ssml: an end tag without its start tag was left out"
TOO_DEEP = f"ssml: elements nested deeper than {MAX_DEPTH} were left out, their text was read"
VALUE = "ssml: an attribute is missing or its value is not supported; it was left out"
EMPHASIS = "ssml: emphasis is not spoken; its text was read without it"
LANGUAGE = "ssml: a language that is not supported was ignored; the script decides"


def begins(cursor: Cursor) -> Progress:
    """Return whether the text that begins here is an SSML document."""
    found = cursor.look(_SPEAK, _SPEAK_BEGUN)
    return found if isinstance(found, Progress) else Progress.DONE


def declaration(cursor: Cursor) -> Progress:
    """Match ``<?xml version="1.0"?>``."""
    found = cursor.look(_DECLARATION, _DECLARATION_BEGUN)
    return found if isinstance(found, Progress) else cursor.skip(len(found[0]), "ssml_tag")


def line_end(cursor: Cursor) -> Progress:
    """Match a line end, which is only layout in a document."""
    cursor.end_line()
    return cursor.rewrite(" ", 1)


def malformed(cursor: Cursor) -> Progress:
    """Warn about a ``<`` that begins nothing."""
    cursor.warn(MALFORMED)
    return Progress.NOT_MINE


def tag(cursor: Cursor) -> Progress:
    """Match any well-formed tag; elements with a reading of their own are taken whole."""
    found = cursor.look(_TAG, _TAG_BEGUN)
    if isinstance(found, Progress):
        return found
    name, length = found["name"].lower(), len(found[0])
    attributes = {match[1].lower(): html.unescape(match[2][1:-1]) for match in _PAIRS.finditer(found["attributes"])}
    if found["slash"]:
        return _close(cursor, name, length)
    if name in _READINGS and not found["empty"]:
        progress = _reading(cursor, name, attributes, length)
        if progress is not Progress.NOT_MINE:
            return progress
    return _open(cursor, name, attributes, length=length, is_empty=bool(found["empty"]))


def _reading(cursor: Cursor, name: str, attributes: Mapping[str, str], length: int) -> Progress:
    """Match ``<sub alias="...">text</sub>`` and similar elements as one text."""
    content = _CONTENT.match(cursor.text, cursor.at + length, cursor.end)
    inside = content[0] if content else ""
    after = cursor.at + length + len(inside)
    end_tag = f"</{name}>"
    there = cursor.text[after : after + len(end_tag)].lower()
    if there != end_tag:
        may_come = len(inside) <= 300 and end_tag.startswith(there) and after + len(there) == cursor.end
        return Progress.WAIT if may_come and len(inside) < 300 and not cursor.final else Progress.NOT_MINE
    spoken = _READINGS[name](html.unescape(inside), attributes)
    if spoken is None:
        cursor.warn(VALUE)
        return Progress.NOT_MINE
    cursor.skip(length, "ssml_tag")
    text, hint = spoken
    if inside and text:
        cursor.rewrite(text, len(inside), hint)
    else:
        cursor.skip(len(inside), "ssml_tag")
    return cursor.skip(len(end_tag), "ssml_tag")


def _sub(content: str, attributes: Mapping[str, str]) -> tuple[str, Hint | None] | None:
    return (attributes["alias"], None) if "alias" in attributes else None


def _phoneme(content: str, attributes: Mapping[str, str]) -> tuple[str, Hint | None] | None:
    alphabet, phonemes = attributes.get("alphabet", "ipa").lower(), attributes.get("ph", "").strip()
    if alphabet not in phoneme_alphabets() or not phonemes:
        return None
    return content, Hint(Span(0, len(content)), "phonemes", phonemes, alphabet)


def _say_as(content: str, attributes: Mapping[str, str]) -> tuple[str, Hint | None] | None:
    kind = attributes.get("interpret-as", "").lower()
    if kind not in _SAY_AS:
        return None
    return content, Hint(Span(0, len(content)), "say_as", _SAME.get(kind, kind), attributes.get("format", ""))


_READINGS: Mapping[str, Callable[[str, Mapping[str, str]], tuple[str, Hint | None] | None]] = {
    "sub": _sub,
    "phoneme": _phoneme,
    "say-as": _say_as,
}


def _open(cursor: Cursor, name: str, attributes: Mapping[str, str], *, length: int, is_empty: bool) -> Progress:
    cursor.skip(length, "ssml_tag")
    if name in _UNITS:
        cursor.end_unit(_UNITS[name])
    if name == "break":
        _pause(cursor, attributes)
    elif name == "mark":
        _mark(cursor, attributes)
    elif not is_empty:
        _enter(cursor, name, attributes)
    elif name not in _READINGS:
        cursor.warn(UNKNOWN)
    return Progress.DONE


def _pause(cursor: Cursor, attributes: Mapping[str, str]) -> None:
    pause_s = break_s(attributes)
    if pause_s is None:
        cursor.warn(VALUE)
    else:
        cursor.pause(pause_s)


def _mark(cursor: Cursor, attributes: Mapping[str, str]) -> None:
    if name := attributes.get("name"):
        cursor.mark(name)
    else:
        cursor.warn(VALUE)


def _enter(cursor: Cursor, name: str, attributes: Mapping[str, str]) -> None:
    if len(cursor.styles) >= MAX_DEPTH:
        cursor.num_too_deep += 1
        cursor.warn(TOO_DEEP)
        return
    before = cursor.style
    style = _styled(cursor, name, attributes)
    cursor.styles.append((name, style))
    if style != before:
        cursor.restyle()


def _styled(cursor: Cursor, name: str, attributes: Mapping[str, str]) -> Style:
    style = cursor.style
    if "xml:lang" in attributes:
        style = replace(style, lang=_lang(cursor, attributes["xml:lang"]))
    match name:
        case "prosody":
            return _prosody(cursor, style, attributes)
        case "voice" if attributes.get("name"):
            return replace(style, voice=attributes["name"])
        case "voice" | "lang":
            if "xml:lang" not in attributes:
                cursor.warn(VALUE)
        case "emphasis":
            if attributes.get("level", "moderate") != "none":
                cursor.warn(EMPHASIS)
        case _ if name not in _PLAIN and name not in _READINGS:
            cursor.warn(UNKNOWN)
    return style


def _lang(cursor: Cursor, tag: str) -> Lang | None:
    lang = find_language(tag.strip())
    if lang is None:
        cursor.warn(LANGUAGE)
    return lang


def _prosody(cursor: Cursor, style: Style, attributes: Mapping[str, str]) -> Style:
    rate = rate_factor(attributes.get("rate", "medium"))
    pitch = pitch_semitones(attributes.get("pitch", "medium"))
    volume = volume_db(attributes.get("volume", "medium"))
    if rate is None or pitch is None or volume is None:
        cursor.warn(VALUE)
    return replace(
        style,
        rate=min(max(style.rate * (rate or 1.0), 0.1), 10.0),
        pitch_semitones=min(max(style.pitch_semitones + (pitch or 0.0), -24.0), 24.0),
        volume_db=min(max(style.volume_db + (volume or 0.0), -60.0), 20.0),
    )


def _close(cursor: Cursor, name: str, length: int) -> Progress:
    if name in _UNITS:
        cursor.end_unit(_UNITS[name])
    cursor.skip(length, "ssml_tag")
    if cursor.num_too_deep:
        cursor.num_too_deep -= 1
        return Progress.DONE
    depth = next((at for at in range(len(cursor.styles) - 1, -1, -1) if cursor.styles[at][0] == name), None)
    if depth is None:
        cursor.warn(UNMATCHED)
        return Progress.DONE
    before = cursor.style
    del cursor.styles[depth:]
    if cursor.style != before:
        cursor.restyle()
    return Progress.DONE
