"""Web addresses: the host and a short path, or the whole address. Mail addresses are left as they are."""

from __future__ import annotations

import re

from yuliu.text.markup.cursor import Cursor, Progress

_CHARS = r"[!#$%&'()+,\-./:;=?@_~0-9A-Za-z]"
_SCHEME = r"(?:https?://|ftp://|www\.)"
_URL = re.compile(rf"{_SCHEME}(?:{_CHARS}{{2000}}|{_CHARS}{{1,1999}}(?!{_CHARS})(?=.|\s))", re.IGNORECASE)
_URL_BEGUN = re.compile(
    rf"h(?:t(?:t(?:p(?:s?|s?:|s?:/)?)?)?)?|f(?:t(?:p(?::|:/)?)?)?|w{{1,3}}|{_SCHEME}{_CHARS}{{0,2000}}", re.IGNORECASE
)
_PARTS = re.compile(
    r"(?P<scheme>(?:[A-Za-z]{3,5}://)?(?:[^/?#@]{1,200}@)?)(?P<host>[^/?#:@]{1,255})(?P<path>(?:/[A-Za-z][A-Za-z0-9_-]{0,11}){0,2}/?$)?",
    re.IGNORECASE,
)
"""Spoken path: at most two short names, without a query."""
_TRAILING = ".,;:!?'_~"


def url(cursor: Cursor) -> Progress:
    """Match ``https://host/path``."""
    found = cursor.look(_URL, _URL_BEGUN)
    if isinstance(found, Progress):
        return found
    return say_url(cursor, _trimmed(found[0]))


def say_url(cursor: Cursor, address: str) -> Progress:
    """Take the address at the cursor; ``mailto:`` and other non-addresses are spoken without their scheme."""
    found = _PARTS.match(address)
    if found is None or cursor.options.urls == "full":
        return cursor.say(len(address))
    cursor.skip(len(found["scheme"]), "url")
    cursor.say(len(found["host"]) + len(found["path"] or ""))
    return cursor.skip(len(address) - found.end(), "url")


def _trimmed(address: str) -> str:
    """Strip the punctuation of the surrounding sentence."""
    while True:
        if address[-1] == ")" and address.count(")") > address.count("("):
            address = address[:-1]
        elif address[-1] in _TRAILING:
            address = address.rstrip(_TRAILING)
        else:
            return address
