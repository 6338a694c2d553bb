"""Log lines that cannot tell what was said."""

from __future__ import annotations

import json
import logging
import logging.config
import re
import time
import traceback
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

LogFormat = Literal["line", "json"]
"""``line`` is for people, ``json`` for whatever collects logs."""


def configure_log(log_format: LogFormat = "line") -> None:
    """Log to standard error: warnings of all, and what Yuliu and uvicorn say of their work.

    Not what uvicorn says of handshakes, which it tells with their query. (Configuring a logger forgets the levels that
    were set for those below it.)
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
    """``2026-01-31T12:00:00 INFO yuliu.server.access_log speech id=... ``.

    Of exceptions it shows the classes and the places, not the messages: those of Python's own errors quote the value
    that was at fault, which may be the text to be spoken. Of messages it shows the first line: in further ones asyncio
    puts such errors.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """One line, and one more for each exception. What another formatter left in the record is not used."""
        seen_elsewhere, record.exc_text = record.exc_text, None
        line = super().format(record)
        record.exc_text = seen_elsewhere
        return line

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name that logging calls
        """The first line of the message, with what stands before it."""
        return super().formatMessage(record).partition("\n")[0]

    def formatException(  # noqa: N802 - the name that logging calls
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        """Each exception, its cause below it, and the members of a group, with their frames from the outermost in."""
        return "\n".join(_places(ei[1]))


class JsonFormatter(logging.Formatter):
    """``{"time": "2026-01-31T12:00:00.123Z", "level": "INFO", "logger": ..., "event": "speech", "id": ..., ...}``.

    The fields are those that the template of a message names, as ``audio_s=%.3f`` does, with the types that they have;
    ``-`` is null. A message whose template names none is told as ``message``, its first line. Of exceptions there are
    the classes and the places, as in :class:`LineFormatter`, in ``error``.
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON in ASCII."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        values: dict[str, object] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
        }
        # what is always there is never overwritten
        values |= {name: value for name, value in _fields(record).items() if name not in values}
        if record.exc_info and record.exc_info[1] is not None:
            values["error"] = [place.strip() for place in _places(record.exc_info[1])]
        return json.dumps(values, ensure_ascii=True, default=str)


_FORMATTERS: Mapping[LogFormat, type[logging.Formatter]] = {"line": LineFormatter, "json": JsonFormatter}
_FIELD = re.compile(r"(?:(?P<name>[a-z]\w*)=)?(?P<spec>%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z])|%%")
_EVENT = re.compile(r"[a-z]\w*(?= |$)")


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """What a record says, by the names in its template; all of it as ``message`` if a part of it has no name."""
    template, arguments = str(record.msg), record.args
    places = [place for place in _FIELD.finditer(template) if place["spec"]]
    event = _EVENT.match(template)
    rest = _FIELD.sub("", template[event.end() :] if event else template)
    if not event or rest.strip() or not isinstance(arguments or (), tuple) or not all(p["name"] for p in places):
        return {"message": record.getMessage().partition("\n")[0]}
    values = zip(places, arguments or (), strict=True)
    return {"event": event[0]} | {place["name"]: _value(place["spec"], value) for place, value in values}


def _value(spec: str, value: Any) -> object:  # noqa: ANN401 - whatever is logged
    """A value as its template wants it, though not as text if it is a number."""
    if value is None or isinstance(value, bool | int):
        return value
    text: str = spec % (value,)
    if isinstance(value, float):
        return float(text) if spec[-1] in "fge" else value
    return None if text == "-" else text.partition("\n")[0]


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
