"""Formatters of log records, which never show the text to be spoken."""

from __future__ import annotations

import json
import logging
import logging.config
import time
import traceback
from typing import TYPE_CHECKING, Literal

from yuliu.logger import LogEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

LogFormat = Literal["line", "json"]
"""``line`` is for people, ``json`` for log collectors."""


def configure_log(log_format: LogFormat = "line") -> None:
    """Log to standard error: warnings of all libraries, and information of Yuliu and uvicorn.

    uvicorn's lines about handshakes are left out, since they contain the query. (Configuring a logger resets the levels
    of the loggers below it.)
    """
    logger = {"handlers": ["stderr"], "level": "INFO", "propagate": False}
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"ours": {"()": _FORMATTERS[log_format]}},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "ours"}},
            "root": {"handlers": ["stderr"], "level": "WARNING"},
            "loggers": {"yuliu": logger, "uvicorn": logger, "uvicorn.error.websocket": {"level": "WARNING"}},
        }
    )


class LineFormatter(logging.Formatter):
    """``2026-01-31T12:00:00 INFO yuliu.delivery.access_log speech id=... ``.

    Exceptions appear as classes and places, without messages: those of Python's own errors quote the invalid value,
    which may be the text to be spoken. Messages are cut after their first line, since asyncio appends such errors.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """Return one line, and one more for each exception; the text that another formatter cached is ignored."""
        seen_elsewhere, record.exc_text = record.exc_text, None
        line = super().format(record)
        record.exc_text = seen_elsewhere
        return line

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - named by logging
        """Return the first line of the message with its prefix."""
        return super().formatMessage(record).partition("\n")[0]

    def formatException(  # noqa: N802 - named by logging
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        """Return each exception, its cause and the members of a group, with their frames from the outermost in."""
        return "\n".join(_places(ei[1]))


class JsonFormatter(logging.Formatter):
    """``{"time": "2026-01-31T12:00:00.123Z", "level": "INFO", "logger": ..., "event": "speech", "id": ..., ...}``.

    The fields of an event keep their types. Records of other libraries have ``message``, its first line, instead.
    Exceptions are in ``error``, as classes and places as in :class:`LineFormatter`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return one line of JSON in ASCII."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        values: dict[str, object] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
        }
        # fields of an event never replace these
        values |= {name: value for name, value in _fields(record).items() if name not in values}
        if record.exc_info and record.exc_info[1] is not None:
            values["error"] = [place.strip() for place in _places(record.exc_info[1])]
        return json.dumps(values, ensure_ascii=True, default=str)


_FORMATTERS: Mapping[LogFormat, type[logging.Formatter]] = {"line": LineFormatter, "json": JsonFormatter}


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """Return the event and its fields; the first line of any other message as ``message``."""
    if not isinstance(record.msg, LogEvent):
        return {"message": record.getMessage().partition("\n")[0]}
    fields: dict[str, object] = {"event": record.msg.name}
    for name, value in record.msg.fields.items():
        fields.setdefault(name, value.partition("\n")[0] if isinstance(value, str) else value)
    return fields


def _places(error: BaseException | None) -> Iterator[str]:
    if error is None:
        return
    frames = traceback.extract_tb(error.__traceback__)
    places = " > ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)
    yield f"  {type(error).__name__} at {places or 'unknown'}"
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from _places(member)
    yield from _places(error.__cause__ or error.__context__)
