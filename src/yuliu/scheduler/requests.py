"""A segment on its way through planning and rendering, as the scheduler keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.engines.api import PlanOptions, Utterance
    from yuliu.scheduler.cache import CacheEntry
    from yuliu.types import Samples, Segment


@dataclass(frozen=True, slots=True)
class After:
    """Processing of a segment's audio after the engine, as far as it changes when the audio is needed."""

    pace: float = 1.0
    """Playback rate: engine seconds per listener second."""
    held_s: float = 0.0
    """Maximum audio held back until the last step, seconds of the listener's."""


NOTHING_AFTER = After()


@dataclass(slots=True)
class Request:
    """State of one segment. It stays in the scheduler; workers get jobs made of it."""

    job_id: int
    stream_id: int
    engine: str
    segment: Segment
    options: PlanOptions
    utterance: Utterance | None = None
    """The utterance as far as it is rendered."""
    planned: Utterance | None = None
    """The utterance as planned."""
    home: str | None = None
    """Worker that holds the utterance's state, if the engine's state is local."""
    num_retries: int = 0
    """Number of failures so far."""
    failed_on: str | None = None
    """Worker that failed last, if nothing has succeeded since."""
    num_made: int = 0
    """Samples rendered since the segment was last planned."""
    num_out: int = 0
    """Samples handed to the stream."""
    still_since_s: float | None = None
    """Time since which steps give nothing; None while they give audio."""
    num_stills: int = 0
    """Number of times its steps gave nothing for too long."""
    keeping: CacheEntry | None = None
    """Its entry in the audio cache; None if it has none."""
    after: After = NOTHING_AFTER
    """Processing of its audio on the way to the listener."""
    made_s: float = 0.0
    """Audio handed on so far, seconds."""
    told_s: float = 0.0
    """Part of it that the listener is known to get, seconds of the listener's."""

    @property
    def has_sound(self) -> bool:
        """True if any of its audio is out."""
        return self.num_out > 0

    def unheard(self, samples: Samples) -> Samples:
        """Return the part of a step's samples that is not out yet, and count it as out.

        After a lost worker a segment may be rendered from its beginning again; no audio is handed out twice.
        """
        start, self.num_made = self.num_made, self.num_made + len(samples)
        unheard = samples if start >= self.num_out else samples[self.num_out - start :]
        self.num_out = max(self.num_out, self.num_made)
        return unheard

    def heard_s(self, audio_s: float, *, done: bool) -> float | None:
        """Return the listener's gain by further audio, in listener seconds; None if it equals ``audio_s``."""
        if self.after == NOTHING_AFTER:
            return None
        self.made_s += audio_s
        before_s = self.told_s
        self.told_s = max(before_s, self.made_s / self.after.pace - (0.0 if done else self.after.held_s))
        return self.told_s - before_s

    def forget_plan(self) -> None:
        """Start again: the state is lost, or suspect after a failure."""
        self.utterance = self.planned = self.home = None
        self.num_made = 0
