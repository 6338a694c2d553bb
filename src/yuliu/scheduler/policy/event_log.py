"""The event log: events and decisions of the policy with their times, as lines of JSON, for replay.

Pure. There is no text in it, since events hold none: numbers, names of engines, workers and classes.

The first line has the version of the contract, the facts of the engines and the tuning::

    {"contract": 2, "engines": {"heart": {...}}, "tuning": {...}}

Each further line is an event, with its time in seconds on the clock of the scheduler, and the decision::

    {"at_s": 12.5, "event": "StreamOpened", "stream_id": 1, ..., "actions": [{"action": "Admit", "stream_id": 1, ...}]}
"""

from __future__ import annotations

import json
import types
import typing
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_origin

from yuliu.errors import InvalidRequest
from yuliu.scheduler.policy import events, tuning
from yuliu.scheduler.policy.costs import EngineFacts
from yuliu.scheduler.policy.policy import Policy
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from yuliu.scheduler.policy.events import Action, Event

CONTRACT = 2
"""Version of the log: raised when an old log cannot be read any more, or its replay would differ."""

_EVENTS: Mapping[str, type] = {each.__name__: each for each in get_args(events.Event)}
_ACTIONS: Mapping[str, type] = {each.__name__: each for each in get_args(events.Action)}
_NAMES = vars(events) | vars(tuning) | {"StreamClass": StreamClass, "Tuning": Tuning, "Mapping": dict}
_T = TypeVar("_T")


def encode(value: object) -> Any:  # noqa: ANN401 - any value that json takes
    """An event, an action or a value within one, as JSON knows it; events and actions say their name themselves."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [encode(each) for each in value]
    if isinstance(value, dict):
        return {encode(key): encode(each) for key, each in value.items()}
    return value


def named(value: Event | Action) -> dict[str, Any]:
    """An event or action with its name, as JSON."""
    kind = "event" if type(value).__name__ in _EVENTS else "action"
    return {kind: type(value).__name__} | cast("dict[str, Any]", encode(value))


def event_of(values: Mapping[str, Any]) -> Event:
    """Return the event that :func:`named` encoded.

    Raises:
        ValueError: It is none.
    """
    return cast("Event", _of(_EVENTS, "event", values))


def action_of(values: Mapping[str, Any]) -> Action:
    """Return the action that :func:`named` encoded.

    Raises:
        ValueError: It is none.
    """
    return cast("Action", _of(_ACTIONS, "action", values))


def _of(kinds: Mapping[str, type], word: str, values: Mapping[str, Any]) -> object:
    kind = kinds.get(str(values.get(word)))
    if kind is None:
        raise ValueError(f"there is no {word} {values.get(word)!r}")
    return decode(kind, {key: value for key, value in values.items() if key != word})


def decode(kind: type[_T], value: object) -> _T:
    """Return the value of a type that :func:`encode` encoded.

    Raises:
        ValueError: It encodes something else.
    """
    return cast("_T", _decode(kind, value))


def _decode(kind: Any, value: Any) -> Any:  # noqa: ANN401 - types are values here
    origin = get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        inner = next(each for each in get_args(kind) if each is not types.NoneType)
        return None if value is None else _decode(inner, value)
    if origin is tuple:
        return tuple(_decode(get_args(kind)[0], each) for each in _checked(value, list))
    if origin is not None:  # a mapping
        of_key, of_value = get_args(kind)
        return {_decode(of_key, key): _decode(of_value, each) for key, each in _checked(value, dict).items()}
    if isinstance(kind, type) and is_dataclass(kind):
        hints = typing.get_type_hints(kind, _NAMES)
        if unknown := set(_checked(value, dict)) - set(hints):
            raise ValueError(f"{kind.__name__} has no {', '.join(sorted(unknown))}")
        try:
            return cast("Any", kind)(**{key: _decode(hints[key], each) for key, each in value.items()})
        except TypeError as error:
            raise ValueError(f"{kind.__name__}: {error}") from error
    if issubclass(kind, Enum):
        return kind(value)
    return float(_checked(value, (int, float))) if kind is float else _checked(value, kind)


def _checked(value: Any, kind: type | tuple[type, ...]) -> Any:  # noqa: ANN401
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{type(value).__name__} stands where something else belongs")
    return value


class Recorder:
    """Writes a log.

    Args:
        write: Takes each line, with its end.
        engines: Facts of the engines.
        tuning: Initial tuning.
    """

    def __init__(self, write: Callable[[str], object], engines: Mapping[str, EngineFacts], tuning: Tuning) -> None:
        self._write = write
        self._line({"contract": CONTRACT, "engines": encode(dict(engines)), "tuning": encode(tuning)})

    def __call__(self, now: float, event: Event, actions: Sequence[Action]) -> None:
        """Record an event and the decision of the policy."""
        self._line({"at_s": now} | named(event) | {"actions": [named(action) for action in actions]})

    def _line(self, values: Mapping[str, Any]) -> None:
        self._write(json.dumps(values, separators=(",", ":")) + "\n")


@dataclass(frozen=True, slots=True)
class ReplayedDecision:
    """Decision of the policy about an event, now and when it was recorded."""

    number: int
    """Number of the line in the log, from 1."""
    at_s: float
    """Seconds on the clock of the scheduler."""
    event: Event
    actions: tuple[Action, ...]
    recorded: tuple[Action, ...]

    @property
    def is_same(self) -> bool:
        """True if the decision is still the same."""
        return self.actions == self.recorded


def replay(lines: Iterable[str]) -> Iterator[ReplayedDecision]:
    """Replay the events of a log.

    An incomplete last line, as left by a killed program, is ignored.

    Args:
        lines: Lines of the log, with their ends.

    Raises:
        InvalidRequest: It is not a log, or has another version of the contract.
    """
    numbered = enumerate(lines, 1)
    policy = _opened(next(numbered, (1, ""))[1])
    for number, line in numbered:
        if not line.endswith("\n"):
            return
        try:
            values = _checked(json.loads(line), dict)
            at_s = decode(float, values.pop("at_s"))
            recorded = tuple(map(action_of, _checked(values.pop("actions"), list)))
            event = event_of(values)
        except (ValueError, KeyError, AttributeError) as error:
            raise InvalidRequest(f"line {number} of the log is not an event: {error}", param="log") from error
        yield ReplayedDecision(number, at_s, event, tuple(policy.handle(event, at_s)), recorded)


def _opened(line: str) -> Policy:
    try:
        head = _checked(json.loads(line), dict)
        contract = head["contract"]
        if contract != CONTRACT:
            raise InvalidRequest(
                f"the log was made by version {contract} of the policy's contract, this is version {CONTRACT}; "
                "replay it with the version of Yuliu that made it",
                param="log",
            )
        engines = {name: decode(EngineFacts, facts) for name, facts in head["engines"].items()}
        return Policy(engines, decode(Tuning, head["tuning"]))
    except (ValueError, KeyError, AttributeError) as error:
        raise InvalidRequest("this is not a log of the scheduler: its first line is missing", param="log") from error
