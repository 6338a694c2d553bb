"""JSON that two readers cannot read differently: no key stands twice, and numbers are those of the standard."""

from __future__ import annotations

import json
from typing import NoReturn

from yuliu.errors import InvalidRequest


def read_json(text: str, *, what: str) -> object:
    """The value in a text.

    Args:
        text: As received.
        what: What it is, for messages, such as ``the message``.

    Raises:
        InvalidRequest: It is no JSON, is nested too deeply, or two readers would read it differently.
    """
    try:
        value: object = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise InvalidRequest(f"{what} is nested too deeply") from None
    except ValueError as error:  # JSONDecodeError, or a number of too many digits
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidRequest(f"{what} is not valid JSON{where}") from None
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise InvalidRequest("a key stands twice in the same JSON object")
    return fields


def _no_constant(_: str) -> NoReturn:
    raise InvalidRequest("NaN and Infinity are not JSON")
