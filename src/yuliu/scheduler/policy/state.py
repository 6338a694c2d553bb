"""State that the policy keeps of each stream and job. Pure: every time is an argument."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.types import StreamClass

if TYPE_CHECKING:
    from yuliu.scheduler.policy.events import Terms

MAX_UNREAD_S = 4.0
"""Sound that may wait for its reader before the stream is paused, seconds (384 kB at 24 kHz)."""
MIN_LEAD_S = 0.5
"""Minimum lead below which no stream is held, seconds, even if it asks for less."""
NOTHING_S = 0.02
"""Time before a step that gave nothing is repeated, or the time that it took if that is longer, seconds."""
FRESH_S = 2.0
"""Time after its last audio for which a stream that waits for text counts as active, seconds."""
MAX_PACE = 1.05
"""No listener plays faster, sound by time, whatever position is reported: clocks differ a little, liars much."""
_KEPT = 0.95
"""Weight of the earlier cost of a stream's steps after a further one."""
_PRIOR_S = 2.0
"""Audio for which its engines' cost counts beside the cost of its own steps, seconds."""


@dataclass(slots=True)
class JobState:
    """A segment on its way through planning and rendering."""

    job_id: int
    stream_id: int
    engine: str
    ready_at_s: float
    cached_s: float | None = None
    """Length of its sound if that is at hand."""
    planned: bool = False
    busy: bool = False
    frames_left: int | None = None
    failures: int = 0
    """Number of consecutive failures."""
    not_before_s: float = float("-inf")
    """Time before which an empty step is not repeated."""
    runnable_at_s: float | None = None
    """Time since which its next step could have started; None while it cannot."""
    planned_anew: bool = False
    """True if its plan was lost or dropped, and no step has succeeded since."""

    def begin_anew(self) -> None:
        """Forget the plan: its state is lost, or suspect after a failure."""
        self.planned, self.planned_anew, self.frames_left = False, True, None
        self.not_before_s, self.runnable_at_s = float("-inf"), None


@dataclass(slots=True)
class StreamState:
    """A stream and its listener."""

    stream_id: int
    engines: tuple[str, ...]
    terms: Terms
    opened_at_s: float
    jobs: deque[int] = field(default_factory=deque)
    offered: tuple[int, ...] = ()
    """Its jobs that a worker could do now."""
    admitted: bool = False
    since_s: float = float("-inf")
    """Time of its admission."""
    throughput: bool = False
    """True if it is spoken in larger steps."""
    text_ended: bool = False
    made_s: float = 0.0
    """Sound made so far."""
    taken_s: float = 0.0
    """Sound handed to the transport so far."""
    dry_at_s: float = float("-inf")
    """Time at which the listener has played all audio made so far."""
    soonest_dry_at_s: float = float("-inf")
    """The same for the fastest possible listener."""
    step_s: float = 0.0
    """Sound in its last step."""
    turn: float = 0.0
    """Compute time it got, seconds by weight, relative to other streams: the smallest is next in bulk work."""
    cost_s: float = 0.0
    """Its recent cost, seconds."""
    cost_audio_s: float = 0.0
    """Sound that it got for that."""

    @property
    def is_bulk(self) -> bool:
        """True if it only takes capacity that other streams leave."""
        return self.terms.stream_class is StreamClass.BULK

    def let_in(self, now: float, *, throughput: bool) -> None:
        """Admit the stream."""
        self.admitted, self.since_s, self.throughput = True, now, throughput

    @property
    def unread_s(self) -> float:
        """Sound made and not yet handed to the transport."""
        return self.made_s - self.taken_s

    def lead_s(self, now: float) -> float:
        """Audio that its listener has still to play; audio not handed out cannot have been played."""
        return max(0.0, self.dry_at_s - now, self.unread_s) if self.made_s else 0.0

    def make(self, audio_s: float, now: float) -> None:
        """Add audio that was made."""
        self.dry_at_s = max(self.dry_at_s, now) + audio_s
        self.soonest_dry_at_s = max(self.soonest_dry_at_s, now) + audio_s / MAX_PACE
        self.made_s += audio_s
        self.step_s = audio_s or self.step_s

    def spend(self, took_s: float, audio_s: float) -> None:
        """Add compute time, and the audio that it gave."""
        if audio_s:
            self.cost_s *= _KEPT
            self.cost_audio_s *= _KEPT
        self.cost_s += took_s
        self.cost_audio_s += audio_s
        self.turn += took_s / self.terms.weight

    def take(self, audio_s: float, now: float) -> None:
        """Add audio handed to the transport; the listener starts with the first of it."""
        if audio_s and not self.taken_s:
            self.dry_at_s = now + self.made_s
            self.soonest_dry_at_s = now + self.made_s / MAX_PACE
        self.taken_s += audio_s

    def play_to(self, position_s: float, now: float) -> None:
        """Note the position that the listener reports; an impossible one gains no priority."""
        left_s = min(max(0.0, self.made_s - position_s), self.made_s)
        self.dry_at_s = max(now + left_s, self.soonest_dry_at_s)

    def is_active(self, now: float) -> bool:
        """True if it needs a share of the workers: it has something to make, or will have soon.

        A stream whose reader has stopped needs none, or a few such streams would keep out all others.
        """
        is_recent = now < max(self.dry_at_s, self.since_s) + FRESH_S
        if self.jobs:
            return is_recent or self.held_until_s(now) < float("inf")
        return is_recent and not self.text_ended

    def is_silent(self, job: JobState) -> bool:
        """Return whether its listener waits in silence for a job whose text was not there before."""
        return not self.made_s or job.ready_at_s >= self.dry_at_s

    def rtf(self, engine_rtf: float) -> float:
        """Share of a worker that it needs while its listener plays, from its measured cost.

        Args:
            engine_rtf: That of the slowest of its engines, which counts as long as little was made.
        """
        return (engine_rtf * _PRIOR_S + self.cost_s) / (_PRIOR_S + self.cost_audio_s)

    def held_until_s(self, now: float) -> float:
        """Return the time from which more audio may be made; infinity until its reader reads."""
        if not self.made_s:
            return now
        unread_s, lead_s = self.unread_s, self.terms.max_lead_s
        if unread_s > MAX_UNREAD_S:
            return float("inf")
        if lead_s is None:
            return now
        lead_s = max(lead_s, MIN_LEAD_S)
        return float("inf") if unread_s >= lead_s else self.dry_at_s - lead_s
