"""Log lines that cannot tell what was said."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class LineFormatter(logging.Formatter):
    """``2026-01-31T12:00:00 INFO yuliu.server.account speech id=... ``.

    Of exceptions it shows the classes and the places, not the messages: those of Python's own errors quote the value
    that was at fault, which may be the text to be spoken.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")

    def formatException(  # noqa: N802 - the name that logging calls
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        """Each exception of the chain with its frames, outermost first."""
        lines = []
        error = ei[1]
        while error is not None:
            frames = traceback.extract_tb(error.__traceback__)
            places = " > ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)
            lines.append(f"  {type(error).__name__} at {places or 'unknown'}")
            error = error.__cause__ or error.__context__
        return "\n".join(lines)
