"""HTML inside Markdown: common tags, comments, addresses in angle brackets, character references."""

from __future__ import annotations

import html
import re

from yuliu.text.markup.cursor import Cursor, Progress
from yuliu.text.markup.urls import say_url
from yuliu.types import Boundary

_BLOCKS = "p div h1 h2 h3 h4 h5 h6 hr table ul ol dl blockquote pre details section"
_LINES = "br li tr dt dd summary caption"
_UNITS = {
    **dict.fromkeys(_BLOCKS.split(), Boundary.PARAGRAPH),
    **dict.fromkeys(_LINES.split(), Boundary.SENTENCE),
}
_CELLS = ("td", "th")
_INLINE = (
    "a abbr b bdi bdo big center cite code del dfn em font i img ins kbd mark nobr q s samp small span strike strong "
    "sub sup tbody tfoot thead tt u var wbr"
)
_TAGS = frozenset((*_UNITS, *_CELLS, *_INLINE.split()))
_VALUE = r"(?:\"[^\"<>]{0,300}\"|'[^'<>]{0,300}'|[^\s\"'<>=]{1,100})"
_ATTRIBUTES = rf"(?:\s{{1,9}}[\w:-]{{1,30}}\s?=\s?{_VALUE}){{0,8}}"
_TAG = re.compile(rf"<(?P<slash>/?)(?P<name>[A-Za-z][A-Za-z0-9]{{0,9}}){_ATTRIBUTES}\s{{0,9}}/?>")
_TAG_BEGUN = re.compile(
    rf"<(?:/?[A-Za-z]?|/?(?P<name>[A-Za-z][A-Za-z0-9]{{0,9}}){_ATTRIBUTES}"
    r"(?:\s{1,9}(?:[\w:-]{1,30}\s?(?:=\s?(?:\"[^\"<>]{0,300}|'[^'<>]{0,300}|[^\s\"'<>=]{0,100}))?)?)?\s{0,9}/?)"
)
_COMMENT = re.compile(r"<!--[\s\S]{0,1000}?-->")
_COMMENT_BEGUN = re.compile(r"<(?:!(?:-(?:-[\s\S]{0,1002})?)?)?")
_ADDRESS = re.compile(
    r"<((?:https?://|mailto:)[^\s<>]{1,1000}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})>", re.IGNORECASE
)
_ADDRESS_BEGUN = re.compile(
    r"<(?:h(?:t(?:t(?:ps?(?::/?)?)?)?)?|m(?:a(?:i(?:l(?:to?)?)?)?)?|(?:https?://|mailto:)[^\s<>]{0,1000}"
    r"|[\w.+-]{1,64}(?:@[\w.-]{0,255})?)?",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_REFERENCE_BEGUN = re.compile(r"&(?:#(?:\d{0,7}|[xX][0-9a-fA-F]{0,6})|[A-Za-z][A-Za-z0-9]{0,31})?")


def comment(cursor: Cursor) -> Progress:
    """Match ``<!-- ... -->``."""
    found = cursor.look(_COMMENT, _COMMENT_BEGUN)
    return found if isinstance(found, Progress) else cursor.skip(len(found[0]), "html_comment")


def address(cursor: Cursor) -> Progress:
    """Match ``<https://...>`` and ``<name@host>``."""
    found = cursor.look(_ADDRESS, _ADDRESS_BEGUN)
    if isinstance(found, Progress):
        return found
    cursor.skip(1, "markdown")
    if found[1].lower().startswith("mailto:"):
        cursor.skip(len("mailto:"), "url")
        cursor.say(len(found[1]) - len("mailto:"))
    elif "://" in found[1]:
        say_url(cursor, found[1])
    else:
        cursor.say(len(found[1]))
    return cursor.skip(1, "markdown")


def tag(cursor: Cursor) -> Progress:
    """Match ``<br>``, ``<b>`` and similar tags; other names in angle brackets are text."""
    found = cursor.look(_TAG, _TAG_BEGUN)
    if found is Progress.WAIT:
        begun = _TAG_BEGUN.fullmatch(cursor.text, cursor.at)
        name = begun["name"] if begun else None
        return found if name is None or _may_be_tag(name.lower()) else Progress.NOT_MINE
    if isinstance(found, Progress) or (name := found["name"].lower()) not in _TAGS:
        return Progress.NOT_MINE
    if name in _CELLS and found["slash"]:
        return cursor.rewrite(cursor.words.comma, len(found[0]))
    if name in _UNITS:
        cursor.end_unit(_UNITS[name])
    return cursor.skip(len(found[0]), "html_tag")


def _may_be_tag(name: str) -> bool:
    return any(known.startswith(name) for known in _TAGS)


def reference(cursor: Cursor) -> Progress:
    """Match ``&amp;`` and ``&#20013;``."""
    found = cursor.look(_REFERENCE, _REFERENCE_BEGUN)
    if isinstance(found, Progress):
        return found
    text = html.unescape(found[0])
    if text == found[0]:
        return Progress.NOT_MINE
    text = " " if text.isspace() else text
    return cursor.rewrite(text, len(found[0])) if text else cursor.skip(len(found[0]), "html_entity")
