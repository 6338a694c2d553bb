"""The client's half of the wire: what it says, as JSON, and what the server says, read back."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from yuliu.errors import InvalidRequest
from yuliu.types import Coverage, Mark, Skipped, Span, Timing
from yuliu.wire.native.decode import KINDS
from yuliu.wire.native.encode import TYPES
from yuliu.wire.native.messages import Times

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.wire.native.messages import ServerMessage

T = TypeVar("T")
_KINDS = {name: kind for kind, name in TYPES.items()}
_STRINGS = frozenset(
    (
        *("context", "stream", "voice", "format", "media_type", "mode", "spoken"),
        *("code", "message", "ends", "param", "waits_for"),
    )
)
_WHOLE = frozenset(
    ("seq", "tag", "sample_rate", "channels", "offset", "num_bytes", "num_characters", "heard_source_end")
)
_FLAGS = frozenset(("degraded", "text_ended"))


def request_text(kind: str, context: str | None = None, **values: object) -> str:
    """What a client says, as it goes over the wire; what is None is left out.

    Raises:
        InvalidRequest: The message has no such field, or a value is none of JSON's.
    """
    given = {"context": context, **values}
    found = {name: value for name, value in given.items() if value is not None}
    unknown = [name for name in found if name not in KINDS[kind]]
    if unknown:
        raise InvalidRequest(f"{kind!r} has no field {unknown[0]!r}; it has {', '.join(KINDS[kind])}", param=unknown[0])
    try:
        return json.dumps({"type": kind, **found}, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidRequest(f"a value of {kind!r} cannot be written as JSON") from None


def parse_reply(text: str) -> ServerMessage | None:
    """What the server says; None if it is a message that this version does not know. Fields it does not know are left.

    Raises:
        ValueError: It is no message.
    """
    try:
        values = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(values, dict):
        raise ValueError("a message must be a JSON object")  # noqa: TRY004 - one kind of error for all that is wrong
    kind = _KINDS.get(str(values.get("type")))
    if kind is None:
        return None
    try:
        found = {each.name: _value(each.name, values) for each in fields(kind)}
        given: dict[str, Any] = {name: value for name, value in found.items() if value is not None}
        return kind(**given)
    except (TypeError, KeyError, IndexError) as error:
        raise ValueError(f"{values['type']!r} is not as it should be") from error


def _value(name: str, values: Mapping[str, object]) -> object:
    """A field's value, checked; None if it was left out."""
    match name:
        case "coverage":
            return _coverage(values) if "skipped" in values else None
        case "source":
            return Span(_whole(values["start"]), _whole(values["end"]))
    value = values.get(name)
    if value is None:
        return None
    match name:
        case "timings":
            return tuple(map(_timing, _rows(value)))
        case "marks":
            return tuple(map(_mark, _rows(value)))
        case "warnings":
            return tuple(map(str, _list(value)))
        case "times":
            return _times(value)
    return _plain(name, value)


def _plain(name: str, value: object) -> object:
    if name in _STRINGS:
        return _of(str, value)
    if name in _WHOLE:
        return _whole(value)
    if name in _FLAGS:
        return _of(bool, value)
    if name.endswith(("_ms", "_s")):
        return _number(value)
    return value  # the id of a pong, which comes back as it was sent


def _of(kind: type[T], value: object) -> T:
    if not isinstance(value, kind):
        raise TypeError(kind.__name__)
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool):
        raise TypeError("bool")
    return _of(int, value)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("number")
    return float(value)


def _list(value: object) -> list[object]:
    return _of(list, value)


def _rows(value: object) -> list[list[object]]:
    return [_list(row) for row in _list(value)]


def _coverage(values: Mapping[str, object]) -> Coverage:
    spoken, failed = (
        tuple(Span(_whole(a), _whole(b)) for a, b in _rows(values[name])) for name in ("spoken", "failed")
    )
    skipped = (Skipped(Span(_whole(a), _whole(b)), _of(str, rule)) for a, b, rule in _rows(values["skipped"]))
    return Coverage(spoken, tuple(skipped), failed)


def _timing(row: list[object]) -> Timing:
    text, start_ms, end_ms, start, end = row
    return Timing(Span(_whole(start), _whole(end)), _of(str, text), _number(start_ms) / 1000, _number(end_ms) / 1000)


def _mark(row: list[object]) -> Mark:
    name, at_ms, offset = row
    return Mark(_of(str, name), _whole(offset), None if at_ms is None else _number(at_ms) / 1000)


def _times(value: object) -> Times:
    given = _of(dict, value)
    return Times(**{each.name: _number(given[each.name]) for each in fields(Times)})
