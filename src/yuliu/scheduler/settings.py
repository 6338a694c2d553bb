"""What is settled for the life of a scheduler."""

from __future__ import annotations

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
    """What is settled for the life of a scheduler."""

    num_workers: int | None = None
    """Threads that work; None takes one a core, four at most."""
    tuning: Tuning = field(default_factory=Tuning)
    """What holds at first."""
    hang_s: float = 10.0
    """A worker is given up when its task takes longer, or 20 times what such tasks took lately if that is more,
    seconds.
    """
    still_s: float = 10.0
    """A segment whose steps give no sound for so long has failed, seconds."""
    restart_s: float = 5.0
    """When the engines of a worker cannot be made it is tried again after so long, seconds."""
    close_s: float = 10.0
    """Closing waits so long for the workers, seconds."""
    record: Callable[[Mapping[str, EngineFacts], Tuning], Recorder] | None = None
    """Makes what is told every event, once it is known what the policy begins with."""
    cache_bytes: int = 0
    """Sound of segments spoken lately that is kept, to be served again; 0 keeps none."""
    phrase_bytes: int = 64_000_000
    """Sound of phrases that is kept."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of each engine's voice, where it is known: sound kept of another version is not served."""
    adaptive: bool = False
    """Whether the tuning follows, once a second, what is measured; see :mod:`yuliu.scheduler.policy.autotune`."""
