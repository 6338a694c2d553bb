"""Structured logging: an event name and typed fields, which a formatter renders as a line or as JSON.

    log = event_logger("yuliu.scheduler")
    log.error("worker_lost", name="worker-0", reason="crashed")

An :class:`LogEvent` is the message of an ordinary record of :mod:`logging`, so levels, handlers, filters and
propagation are those of the standard library. The formatters are in :mod:`yuliu.server.log`.

Rules for callers: event names and field names are stable, in snake case, with the unit in the field's name (``_s``,
``_ms``). No field ever holds text to be spoken, nor the message of an error that might quote it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    Field = str | int | float | bool | None
    """Value of a field. None means that there is no value: ``-`` in a line, null in JSON."""


class Fixed(float):
    """Number that is rounded to, and written with, a fixed number of decimals.

    Args:
        value: The number.
        decimals: Number of decimals.
    """

    def __new__(cls, value: float, decimals: int) -> Self:
        """Round the value."""
        fixed = super().__new__(cls, round(value, decimals))
        fixed._decimals = decimals
        return fixed

    _decimals: int

    def __str__(self) -> str:
        """Return the number with all its decimals, zeros included."""
        return f"{float(self):.{self._decimals}f}"


@dataclass(frozen=True, slots=True)
class LogEvent:
    """Message of a log record: ``name field=value field=value``."""

    name: str
    fields: Mapping[str, Field]

    def __str__(self) -> str:
        """Return the event as one line."""
        return " ".join((self.name, *(f"{name}={written(value)}" for name, value in self.fields.items())))


class EventLogger:
    """Logger of events.

    Args:
        logger: Logger that receives the records.
        bound: Fields that every event carries, before its own.
    """

    __slots__ = ("_bound", "_logger")

    def __init__(self, logger: logging.Logger, bound: Mapping[str, Field] | None = None) -> None:
        self._logger = logger
        self._bound: Mapping[str, Field] = bound or {}

    def bind(self, **fields: Field) -> EventLogger:
        """Return a logger whose events also carry these fields, for example the id of a request."""
        return EventLogger(self._logger, {**self._bound, **fields})

    def info(self, event: str, /, **fields: Field) -> None:
        """Log an event of normal operation."""
        self._log(logging.INFO, event, fields)

    def warning(self, event: str, /, **fields: Field) -> None:
        """Log an event that an operator should know of."""
        self._log(logging.WARNING, event, fields)

    def error(self, event: str, /, *, exc_info: BaseException | None = None, **fields: Field) -> None:
        """Log a failure; of ``exc_info`` the formatters show classes and places, never messages."""
        self._log(logging.ERROR, event, fields, exc_info)

    def _log(self, level: int, event: str, fields: Mapping[str, Field], exc_info: BaseException | None = None) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, LogEvent(event, {**self._bound, **fields}), exc_info=exc_info, stacklevel=3)


def event_logger(name: str) -> EventLogger:
    """Return the logger of events of this name, a dotted one under ``yuliu``."""
    return EventLogger(logging.getLogger(name))


def written(value: Field) -> str:
    """Return a value as a line shows it: its first line; ``-`` for none."""
    return "-" if value is None else str(value).partition("\n")[0]
