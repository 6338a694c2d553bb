"""Settings for the life of a scheduler."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.scheduler.policy.tuning import Tuning

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from yuliu.scheduler.policy.costs import EngineFacts
    from yuliu.scheduler.policy.events import Action, Event

    Recorder = Callable[[float, Event, Sequence[Action]], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings for the life of a scheduler."""

    num_workers: int | None = None
    """Number of worker threads for the engines that compute; None takes one per core, at most four."""
    tuning: Tuning = field(default_factory=Tuning)
    """Tuning in force at first."""
    hang_s: float = 10.0
    """Maximum time of a task, seconds, or 20 times the usual time of its kind if that is more; then the task, or its
    worker, is given up."""
    still_s: float = 10.0
    """Maximum time that the steps of a segment may give no audio, seconds."""
    restart_s: float = 5.0
    """Time after which a worker whose engines could not be built is tried again, seconds."""
    close_s: float = 10.0
    """Maximum time that closing waits for the workers, seconds."""
    record: Callable[[Mapping[str, EngineFacts], Tuning], Recorder] | None = None
    """Makes the recorder of events, given the initial engines and tuning of the policy."""
    cache_bytes: int = 0
    """Audio of recent segments kept to be served again, bytes; 0 keeps none."""
    phrase_bytes: int = 64_000_000
    """Maximum audio of phrases kept, bytes."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Version of each engine's voice, where it is known: audio of another version is not served."""
    adaptive: bool = False
    """True if the tuning follows measurements once a second; see :mod:`yuliu.scheduler.policy.autotune`."""

    @property
    def num_threads(self) -> int:
        """Number of worker threads."""
        return self.num_workers or min(4, os.cpu_count() or 1)
