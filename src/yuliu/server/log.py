"""Log lines that cannot tell what was said."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType


class LineFormatter(logging.Formatter):
    """``2026-01-31T12:00:00 INFO yuliu.server.account speech id=... ``.

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
