"""Rules for JSON beyond its grammar: UTF-8, no key twice in an object, no half of a surrogate pair, no NaN.

Two readers of one document must not understand it differently. msgspec decodes (:mod:`yuliu.wire.schema`); it is fast,
but keeps the last of two values of a key, so :func:`check_keys` looks at the keys. :func:`read_json` reads a document
once more, slowly, to say why it was refused.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NoReturn

import msgspec

from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Container

    Path = tuple[str | int, ...]
    """Place of a value in a document: names of fields and indices of elements."""

MEDIA_TYPE = "application/json"
BOM = b"\xef\xbb\xbf"
"""A byte order mark, which some editors put before a document."""
_MAX_DIGITS = 4300
"""Maximum digits of a number, even of one that is ignored: Python converts no longer ones."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"[ \t\r\n]*+(:?)')
"""A string of JSON, and the colon behind it if it is a key."""
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


class _Ambiguous(ValueError):
    """Two readers would read the document differently."""


def media_type(content_type: str | None) -> str:
    """Return the type that a ``Content-Type`` header names, in lower case; empty if there is no header."""
    return (content_type or "").partition(";")[0].strip().lower()


def check_keys(data: str | bytes, *, what: str, known: Container[str]) -> None:
    """Check a JSON object that msgspec has decoded: that no key stands twice, and that ignored values are JSON.

    A colon stands behind every key, and nowhere else but in strings. If an object has as many colons outside its values
    as it has different keys, none of them stands twice. Objects inside it are read again.

    Args:
        data: The object, valid JSON.
        what: Name of the document for messages.
        known: Fields that msgspec has decoded. It has skipped the values of others.

    Raises:
        InvalidRequest: A key stands twice, at any depth, or an ignored value is none that can be read.
    """
    text = data.encode() if isinstance(data, str) else data
    try:
        fields = _FIELDS.decode(text)
    except msgspec.DecodeError:  # an ignored key is no UTF-8
        read_json(text, what=what)
        raise
    num_colons = text.count(b":")
    if len(text) <= _MAX_DIGITS and text.isascii() and (num_colons == len(fields) or not _may_repeat(text)):
        return
    for name, raw in fields.items():
        value = bytes(raw)
        num_colons -= value.count(b":")
        is_ignored = name not in known and (len(value) > _MAX_DIGITS or not value.isascii())
        if is_ignored or (value[:1] in b"[{" and _may_repeat(value)):
            read_json(value, what=what)
    if num_colons != len(fields):  # a key stands twice, or has a colon in it
        read_json(text, what=what)


def _may_repeat(text: bytes) -> bool:
    """Return whether a key may stand twice in a value; it may be in two objects."""
    keys = [key for key, colon in _STRING.findall(text) if colon]
    return len(set(keys)) < len(keys) or b"\\" in b"".join(keys)


def read_json(data: str | bytes, *, what: str) -> object:
    """Return the value of a document, read slowly and with all rules.

    Args:
        data: The document. Bytes are UTF-8.
        what: Name of the document for messages, such as ``the message``.

    Raises:
        InvalidRequest: The document is no JSON, is nested too deeply, or is ambiguous.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidRequest(f"{what} must be UTF-8") from None
    try:
        value: object = _DECODER.decode(text)
    except _Ambiguous as error:
        raise InvalidRequest(f"{what}: {error}") from None
    except RecursionError:
        raise InvalidRequest(f"{what} is nested too deeply") from None
    except ValueError as error:  # JSONDecodeError, or a number of too many digits
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidRequest(f"{what} is not valid JSON{where}") from None
    return value


def find_surrogate(document: object) -> Path | None:
    """Return the place of a text that holds half of a surrogate pair, which JSON can write and UTF-8 cannot."""
    left: list[tuple[Path, object]] = [((), document)]
    while left:
        path, value = left.pop()
        if isinstance(value, dict):
            left += [((*path, name), each) for name, each in value.items()]
            left += [((*path, name), name) for name in value]
        elif isinstance(value, list):
            left += [((*path, index), each) for index, each in enumerate(value)]
        elif isinstance(value, str) and _SURROGATE.search(value):
            return path
    return None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _Ambiguous("a key stands twice in the same JSON object")
    return fields


def _no_constant(_: str) -> NoReturn:
    raise _Ambiguous("NaN and Infinity are not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
