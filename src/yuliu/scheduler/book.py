"""What the policy keeps of each stream and job. Pure: every time is an argument."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.types import StreamClass

if TYPE_CHECKING:
    from yuliu.scheduler.events import Terms
    from yuliu.scheduler.tuning import Tuning

GUARD_S = 0.15
"""A stream without sound never goes before one whose listener runs dry within this time, seconds: a plan and a step of
somebody else may lie between."""
AGEING_S = 5.0
"""Bulk work is as urgent as a listener who runs dry in this time since it was last served, seconds."""
FRESH_S = 2.0
"""A stream whose text has not come yet counts as active for so long, seconds."""


@dataclass(slots=True)
class Job:
    """A segment on its way through planning and rendering."""

    stream_id: int
    engine: str
    ready_at_s: float
    cached_s: float | None = None
    """Length of its sound if that is at hand."""
    planned: bool = False
    busy: bool = False
    frames_left: int | None = None
    failures: int = 0
    """In a row."""
    failed_on: str | None = None
    """The lane it failed on last."""


@dataclass(slots=True)
class Stream:
    """A stream and its listener."""

    stream_id: int
    engines: tuple[str, ...]
    terms: Terms
    opened_at_s: float
    jobs: deque[int] = field(default_factory=deque)
    admitted: bool = False
    throughput: bool = False
    """Whether it is spoken in larger steps."""
    text_ended: bool = False
    made_s: float = 0.0
    """Sound made so far."""
    taken_s: float = 0.0
    """Sound handed to the transport so far."""
    dry_at_s: float = float("-inf")
    """When the listener has played all that was made."""
    underrun_s: float = 0.0
    """How long the listener stood silent while there was text to speak."""
    step_s: float = 0.0
    """Sound in its last step."""
    served_at_s: float = float("-inf")
    """When it was last given a lane."""

    def make(self, audio_s: float, now: float) -> None:
        """So much sound was made."""
        self.dry_at_s = max(self.dry_at_s, now) + audio_s
        self.made_s += audio_s
        self.step_s = audio_s or self.step_s

    def take(self, audio_s: float, now: float) -> None:
        """So much was handed to the transport; the listener starts with the first of it."""
        if audio_s and not self.taken_s:
            self.dry_at_s = now + self.made_s
        self.taken_s += audio_s

    def play_to(self, position_s: float, now: float) -> None:
        """The listener has heard so much."""
        self.dry_at_s = now + max(0.0, self.made_s - position_s)

    def is_active(self, now: float) -> bool:
        """Whether it needs a share of the lanes: it has something to say, or will have."""
        waits_for_text = not self.text_ended and (now < self.dry_at_s or now < self.opened_at_s + FRESH_S)
        return bool(self.jobs) or waits_for_text


def deadline_s(stream: Stream, job: Job, tuning: Tuning, now: float) -> float:
    """When it is too late to serve the job."""
    stream_class = stream.terms.stream_class
    if stream_class is StreamClass.BULK and stream.made_s:
        return max(stream.served_at_s, job.ready_at_s) + AGEING_S
    target_s = tuning.classes[stream_class].ttfp_target_s / stream.terms.weight
    if not stream.made_s or job.ready_at_s >= stream.dry_at_s:  # its listener waits in silence for this text
        return max(job.ready_at_s + target_s, now + GUARD_S)
    return stream.dry_at_s
