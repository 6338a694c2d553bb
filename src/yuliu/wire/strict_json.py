"""JSON that two readers cannot read differently: no key stands twice, and numbers are those of the standard.

All that the server takes is read here: bodies of requests, messages of the native stream, the file of keys.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn, cast

from yuliu.errors import InvalidRequest

MEDIA_TYPE = "application/json"
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Ambiguous(ValueError):
    """Two readers would read it differently."""


def media_type(content_type: str | None) -> str:
    """The type that a ``Content-Type`` header names, in small letters; empty if there is no header."""
    return (content_type or "").partition(";")[0].strip().lower()


def read_json(data: str | bytes, *, what: str) -> object:
    """The value in a text.

    Args:
        data: As received. Bytes are UTF-8; a byte order mark before them is passed over.
        what: What it is, for messages, such as ``the message``.

    Raises:
        InvalidRequest: It is no JSON, is nested too deeply, or two readers would read it differently.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequest(f"{what} must be UTF-8") from None
    try:
        value: object = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except _Ambiguous as error:
        raise InvalidRequest(f"{what}: {error}") from None
    except RecursionError:
        raise InvalidRequest(f"{what} is nested too deeply") from None
    except ValueError as error:  # JSONDecodeError, or a number of too many digits
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidRequest(f"{what} is not valid JSON{where}") from None
    return value


def read_object(data: str | bytes, *, what: str) -> dict[str, object]:
    """The JSON object in a text, as :func:`read_json` reads it.

    Raises:
        InvalidRequest: There is none.
    """
    value = read_json(data, what=what)
    if not isinstance(value, dict):
        raise InvalidRequest(f"{what} must be a JSON object")
    return cast("dict[str, object]", value)


def check_text(value: object, param: str, *, where: str | None = None) -> str:
    """A value that is a text.

    Args:
        value: As read.
        param: The field at fault if it is none.
        where: The same more exactly, such as ``phrases[3]``.

    Raises:
        InvalidRequest: It is none, or holds half of a surrogate pair, which JSON can write and UTF-8 cannot.
    """
    if not isinstance(value, str):
        raise InvalidRequest(f"{(where or param)!r} must be a string", param=param)
    if _SURROGATE.search(value):
        raise InvalidRequest(f"{(where or param)!r} holds half of a surrogate pair, which is no character", param=param)
    return value


def check_number(value: object, param: str, low: float, high: float) -> float:
    """A value that is a number within bounds.

    Args:
        value: As read.
        param: The field at fault if it is none.
        low: The least that is taken.
        high: The most.

    Raises:
        InvalidRequest: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InvalidRequest(f"{param!r} must be a number from {low:g} to {high:g}", param=param)
    return float(value)


def check_whole(value: object, param: str, low: int, high: int) -> int:
    """A value that is a whole number within bounds, given as to :func:`check_number`.

    Raises:
        InvalidRequest: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidRequest(f"{param!r} must be a whole number from {low} to {high}", param=param)
    return value


def check_flag(value: object, param: str) -> bool:
    """A value that is true or false.

    Raises:
        InvalidRequest: It is neither.
    """
    if not isinstance(value, bool):
        raise InvalidRequest(f"{param!r} must be true or false", param=param)
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _Ambiguous("a key stands twice in the same JSON object")
    return fields


def _no_constant(_: str) -> NoReturn:
    raise _Ambiguous("NaN and Infinity are not JSON")
