"""Joins the utterances of a stream into one sound: effects, pauses, edges, and when words and marks sound.

Pure and incremental: what it gives depends on the utterances and their order, never on how they were cut into steps.

Each part goes through a chain of its own, which is emptied with the part's last step, inside the silence at its end:
so nothing waits for text that may follow, and a part sounds the same whatever stands before it. Only levelling hears
all of a stream; it holds nothing back.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.chain import NO_EFFECTS, Chain, lag_s
from yuliu.audio.gain import bend
from yuliu.audio.join import EDGE_S, fade_edges, padding
from yuliu.audio.loudness import Levelling
from yuliu.audio.resample import Resampler, resampler_lag_s
from yuliu.types import MAX_PAUSE_S, Chunk, Span

if TYPE_CHECKING:
    from yuliu.audio.chain import Effects
    from yuliu.engines.api import Utterance
    from yuliu.types import Mark, Samples, Segment, Timing

NO_SAMPLES: Samples = np.zeros(0, np.float32)


@dataclass(slots=True)
class SegmentPart:
    """One language's part of a segment on its way through the scheduler."""

    segment: Segment
    pause_s: float
    """After it, if no other was asked for."""
    asked_s: float | None
    """The pause after it that the writer asked for."""
    effects: Effects = NO_EFFECTS
    """What is done to its sound."""
    pace: float = 1.0
    """Its sound is made so many times faster here; its utterance, with all times in it, is as the engine made it."""
    engine_rate: int | None = None
    """Sample rate of what its engine makes, in Hz; None if it is the stream's."""
    marks_after: tuple[Mark, ...] = ()
    """Between it and the next part."""
    utterance: Utterance | None = None
    """As planned, then as far as it is rendered."""
    begun: bool = False
    """Whether some of its sound was given."""
    resampler: Resampler | None = None
    """Takes its sound to the rate of the stream, once it has sound and if the rates differ."""
    chain: Chain | None = None
    """Its effects, once it has sound."""
    held: Samples = field(default_factory=lambda: NO_SAMPLES)
    """Sound that may turn out to be its last, and is not given yet."""
    job_id: int = -1
    """Its id in the scheduler, once it is there."""
    ready_at_s: float = 0.0
    """When its text was there, seconds on the clock of whoever keeps it; the sound does not depend on it."""

    @property
    def is_changed(self) -> bool:
        """Whether anything is done to its sound by a chain of its own."""
        return self.pace != 1.0 or self.effects != NO_EFFECTS

    @property
    def tail_s(self) -> float:
        """Silence at the end of its sound, as it is given, seconds."""
        return self.utterance.tail_s / self.pace if self.utterance else 0.0

    def most_held_s(self, sample_rate: int) -> float:
        """What of its sound may not be given before the engine has made all of it, seconds of what is given."""
        held_s = lag_s(sample_rate, self.effects, self.pace)
        held_s = (held_s + resampler_lag_s(self.engine_rate or sample_rate, sample_rate)) / self.pace
        return held_s + 2 * EDGE_S if held_s else 0.0

    def pass_over(self, asked_s: float | None, marks: tuple[Mark, ...]) -> None:
        """A pause and marks that stand between this part and the next."""
        self.asked_s = _together(self.asked_s, asked_s)
        self.marks_after += marks


class Joiner:
    """The sound of one stream so far.

    Args:
        sample_rate: Hz, of all that is given.
    """

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._num_samples = 0
        self._levelling: Levelling | None = None
        self._last: SegmentPart | None = None
        self._asked_s: float | None = None  # the pause asked for since the last sound
        self._marks: tuple[Mark, ...] = ()  # passed since the last sound

    @property
    def audio_s(self) -> float:
        """Length of all chunks given so far, seconds."""
        return self._num_samples / self._sample_rate

    def pass_over(self, asked_s: float | None, marks: tuple[Mark, ...]) -> None:
        """A pause and marks that come before the next sound."""
        self._asked_s = _together(self._asked_s, asked_s)
        self._marks += marks

    def lead_in(self, length_s: float) -> Chunk:
        """Silence before all sound; only to be asked for first."""
        silence = padding(length_s, 0.0, 0.0, self._sample_rate)
        return replace(self._chunk(silence, Span(0, 0)), lead_in=True)

    def join(self, part: SegmentPart, samples: Samples, after: Utterance) -> tuple[list[Chunk], Chunk | None]:
        """What a step made of a part.

        Args:
            part: The part; it is brought up to date.
            samples: What the step gave.
            after: The utterance after the step.

        Returns:
            The pauses before it, and the sound, if there is enough of it; if the utterance is done there is always
            a chunk, but for utterances without any sound. On an utterance's first chunk are its timings and marks.
        """
        part.utterance = after
        samples = self._changed(part, self._resampled(part, samples, done=after.done), done=after.done)
        samples = self._without_tail(part, samples, after)
        if not (len(samples) or (after.done and part.begun)):
            return [], None
        first, part.begun = not part.begun, True
        pauses = self._pauses_before(part, after) if first else []
        faded = fade_edges(samples, self._sample_rate, first=first, last=after.done)
        chunk = self._chunk(faded, part.segment.source)
        if first:
            timings = tuple(_placed(timing, part.pace, chunk.start_s) for timing in after.timings)
            own = (_timed(mark, timings, chunk.start_s) for mark in part.segment.marks)
            chunk = replace(chunk, timings=timings, marks=(*self._passed(chunk.start_s), *own))
        if after.done:
            part.resampler, part.chain, self._last = None, None, part
            self.pass_over(part.asked_s, part.marks_after)
        return pauses, chunk

    def _resampled(self, part: SegmentPart, samples: Samples, *, done: bool) -> Samples:
        """Return what a step gave at the rate of the stream, with peaks beyond full scale bent."""
        if part.engine_rate is None or part.engine_rate == self._sample_rate:
            return samples
        if part.resampler is None:
            part.resampler = Resampler(part.engine_rate, self._sample_rate)
        samples = part.resampler.push(samples)
        return bend(np.concatenate((samples, part.resampler.flush())) if done else samples)

    def _changed(self, part: SegmentPart, samples: Samples, *, done: bool) -> Samples:
        """What a step gave, levelled, through the part's chain."""
        if not part.is_changed or not (len(samples) or part.chain or done):
            return samples
        if part.effects.level and len(samples):
            samples = self._levelled(part, samples)
        if part.chain is None:
            part.chain = Chain(self._sample_rate, part.effects, part.pace)
        samples = part.chain.push(samples)
        return np.concatenate((samples, part.chain.flush())) if done else samples

    def _levelled(self, part: SegmentPart, samples: Samples) -> Samples:
        if self._levelling is None:
            self._levelling = Levelling(self._sample_rate)
        if part.chain is None and part.utterance is not None:  # its first sound: the pause before it comes first
            self._levelling.begin()
            self._levelling.push(self._pause_before(part.utterance.lead_s / part.pace))
        return self._levelling.push(samples)

    def _without_tail(self, part: SegmentPart, samples: Samples, after: Utterance) -> Samples:
        """What can be joined now. While it is not known how long an utterance is, any sound may be its last."""
        if len(part.held):
            samples = np.concatenate([part.held, samples])
        num_edge = round(EDGE_S * self._sample_rate)
        lags = part.resampler is not None or (part.chain is not None and part.chain.lag_s > 0)
        if after.done or (after.num_frames is not None and not lags):
            num_ready = len(samples)
        elif part.begun:
            num_ready = max(0, len(samples) - num_edge)
        else:  # the first chunk holds the whole of its fade
            num_ready = len(samples) - num_edge if len(samples) >= 2 * num_edge else 0
        part.held = samples[num_ready:]
        return samples[:num_ready]

    def end(self, at: Span) -> Chunk | None:
        """What was asked for after the last sound, a pause or marks; None if nothing was."""
        if not (self._asked_s or self._marks):
            return None
        silence = padding(self._asked_s or 0.0, self._last.tail_s if self._last else 0.0, 0.0, self._sample_rate)
        self._asked_s = None
        marks = self._passed(self.audio_s)
        return replace(self._chunk(silence, at), marks=marks)

    def _pauses_before(self, part: SegmentPart, utterance: Utterance) -> list[Chunk]:
        """Fill the pause since the utterance before with what model silence lacks of it."""
        silence = self._pause_before(utterance.lead_s / part.pace)
        self._asked_s = None
        return [self._chunk(silence, part.segment.source)] if len(silence) else []

    def _pause_before(self, lead_s: float) -> Samples:
        usual_s = self._last.pause_s if self._last and self._last.utterance else 0.0
        pause_s = usual_s if self._asked_s is None else self._asked_s
        return padding(pause_s, self._last.tail_s if self._last else 0.0, lead_s, self._sample_rate)

    def _chunk(self, samples: Samples, source: Span) -> Chunk:
        start_s = self.audio_s
        self._num_samples += len(samples)
        return Chunk(samples, self._sample_rate, start_s, source)

    def _passed(self, now_s: float) -> tuple[Mark, ...]:
        """The marks passed since the last sound; now is their time."""
        marks, self._marks = self._marks, ()
        return tuple(replace(mark, time_s=now_s) for mark in marks)


def _together(one_s: float | None, other_s: float | None) -> float | None:
    """Two pauses asked for at one place."""
    if one_s is None or other_s is None:
        return other_s if one_s is None else one_s
    return min(one_s + other_s, MAX_PAUSE_S)


def _placed(timing: Timing, pace: float, by_s: float) -> Timing:
    return replace(timing, start_s=timing.start_s / pace + by_s, end_s=timing.end_s / pace + by_s)


def _timed(mark: Mark, timings: tuple[Timing, ...], start_s: float) -> Mark:
    """The mark with its time: where the first unit behind it begins."""
    behind = (timing.start_s for timing in timings if timing.source.end > mark.offset)
    end_s = timings[-1].end_s if timings else start_s
    return replace(mark, time_s=next(behind, end_s))
