"""Progress of a pull."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

PullStage = Literal["wait", "fetch", "verify", "derive"]
"""``wait``: another program is pulling; ``fetch``: bytes arrive; ``verify``: a file is hashed and put in its place;
``derive``: a file is being made from others."""


@dataclass(frozen=True, slots=True)
class PullProgress:
    """Progress of one file. For each file and stage ``bytes_done`` does not go down, except when a server makes a
    download start again."""

    voice: str
    file: str
    """Name of the wheel or file; of the outputs, joined by commas, while deriving; empty while waiting."""
    stage: PullStage
    bytes_done: int
    bytes_total: int | None
    """None where it is not known before the end."""


OnProgress = Callable[[PullProgress], None]
"""Called from the pulling thread, often; what it raises ends the pull."""

OnBytes = Callable[[int], None]
"""Callback with the number of bytes that are done."""


def ignore(progress: PullProgress) -> None:
    """Do nothing with it."""
