"""Joining of the utterances of a stream: resampling, effects, pauses, edges, and the times of words and marks.

Pure and incremental: the output depends on the utterances and their order, never on how they are cut into steps.

Each part has its own resampler, if its engine has another sample rate, and its own chain of effects. Both are drained
with the part's last step, inside the silence at its end, so that nothing waits for later text and a part sounds the
same after any other. Only levelling hears all of a stream; it holds nothing back.
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
    """Part of a segment in one language, on its way through the scheduler."""

    segment: Segment
    pause_s: float
    """Pause after it, unless another one is requested."""
    asked_s: float | None
    """Requested pause after it."""
    effects: Effects = NO_EFFECTS
    """Effects on its audio."""
    pace: float = 1.0
    """Factor by which its audio is sped up here; the utterance and its times are those of the engine."""
    engine_rate: int | None = None
    """Sample rate of what its engine makes, in Hz; None if it is the stream's."""
    marks_after: tuple[Mark, ...] = ()
    """Marks between it and the next part."""
    utterance: Utterance | None = None
    """Utterance, as planned and later as far as it is rendered."""
    begun: bool = False
    """True once some of its audio has been returned."""
    resampler: Resampler | None = None
    """Resampler to the rate of the stream, from its first audio on, if the rates differ."""
    chain: Chain | None = None
    """Chain of its effects, from its first audio on."""
    held: Samples = field(default_factory=lambda: NO_SAMPLES)
    """Audio that may be its last and is held back for the fade."""
    job_id: int = -1
    """Its id in the scheduler, once it is there."""
    ready_at_s: float = 0.0
    """Time at which its text was complete, on the clock of the owner; the audio does not depend on it."""

    @property
    def is_changed(self) -> bool:
        """True if a chain changes its audio."""
        return self.pace != 1.0 or self.effects != NO_EFFECTS

    @property
    def tail_s(self) -> float:
        """Silence at the end of its output, in seconds."""
        return self.utterance.tail_s / self.pace if self.utterance else 0.0

    def most_held_s(self, sample_rate: int) -> float:
        """Return the maximum of its output that is held back until the engine has made all of it, in seconds."""
        held_s = lag_s(sample_rate, self.effects, self.pace)
        held_s = (held_s + resampler_lag_s(self.engine_rate or sample_rate, sample_rate)) / self.pace
        return held_s + 2 * EDGE_S if held_s else 0.0

    def pass_over(self, asked_s: float | None, marks: tuple[Mark, ...]) -> None:
        """Add a pause and marks between this part and the next."""
        self.asked_s = _together(self.asked_s, asked_s)
        self.marks_after += marks


class Joiner:
    """Joined audio of one stream.

    Args:
        sample_rate: Sample rate of the output, in Hz.
    """

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._num_samples = 0
        self._levelling: Levelling | None = None
        self._last: SegmentPart | None = None
        self._asked_s: float | None = None  # pause requested since the last sound
        self._marks: tuple[Mark, ...] = ()  # marks passed since the last sound

    @property
    def audio_s(self) -> float:
        """Length of all chunks so far, in seconds."""
        return self._num_samples / self._sample_rate

    def pass_over(self, asked_s: float | None, marks: tuple[Mark, ...]) -> None:
        """Add a pause and marks before the next sound."""
        self._asked_s = _together(self._asked_s, asked_s)
        self._marks += marks

    def lead_in(self, length_s: float) -> Chunk:
        """Return silence before all other audio; to be called first only."""
        silence = padding(length_s, 0.0, 0.0, self._sample_rate)
        return replace(self._chunk(silence, Span(0, 0)), lead_in=True)

    def join(self, part: SegmentPart, samples: Samples, after: Utterance) -> tuple[list[Chunk], Chunk | None]:
        """Join the result of a step to the audio of the stream.

        Args:
            part: The part, which is updated.
            samples: Samples of the step.
            after: The utterance after the step.

        Returns:
            The pauses before the part, and a chunk of its audio, if there is enough. A finished utterance always gives
            a chunk, unless it has no audio. The first chunk of an utterance carries its timings and marks.
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
        """Return samples of a step at the rate of the stream, with peaks beyond full scale bent."""
        if part.engine_rate is None or part.engine_rate == self._sample_rate:
            return samples
        if part.resampler is None:
            part.resampler = Resampler(part.engine_rate, self._sample_rate)
        samples = part.resampler.push(samples)
        return bend(np.concatenate((samples, part.resampler.flush())) if done else samples)

    def _changed(self, part: SegmentPart, samples: Samples, *, done: bool) -> Samples:
        """Return samples of a step after levelling and the chain of the part."""
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
        if part.chain is None and part.utterance is not None:  # its first audio follows its pause
            self._levelling.begin()
            self._levelling.push(self._pause_before(part.utterance.lead_s / part.pace))
        return self._levelling.push(samples)

    def _without_tail(self, part: SegmentPart, samples: Samples, after: Utterance) -> Samples:
        """Return the samples that can be joined now. As long as the length is unknown, any of them may be the last."""
        if len(part.held):
            samples = np.concatenate([part.held, samples])
        num_edge = round(EDGE_S * self._sample_rate)
        lags = part.resampler is not None or (part.chain is not None and part.chain.lag_s > 0)
        if after.done or (after.num_frames is not None and not lags):
            num_ready = len(samples)
        elif part.begun:
            num_ready = max(0, len(samples) - num_edge)
        else:  # the first chunk contains its whole fade
            num_ready = len(samples) - num_edge if len(samples) >= 2 * num_edge else 0
        part.held = samples[num_ready:]
        return samples[:num_ready]

    def end(self, at: Span) -> Chunk | None:
        """Return the pause and marks after the last sound; None if there are none."""
        if not (self._asked_s or self._marks):
            return None
        silence = padding(self._asked_s or 0.0, self._last.tail_s if self._last else 0.0, 0.0, self._sample_rate)
        self._asked_s = None
        marks = self._passed(self.audio_s)
        return replace(self._chunk(silence, at), marks=marks)

    def _pauses_before(self, part: SegmentPart, utterance: Utterance) -> list[Chunk]:
        """Return the silence that model silence lacks of the pause before the part."""
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
        """Return the marks passed since the last sound, with this time."""
        marks, self._marks = self._marks, ()
        return tuple(replace(mark, time_s=now_s) for mark in marks)


def _together(one_s: float | None, other_s: float | None) -> float | None:
    """Return the sum of two pauses requested at one place, up to the maximum."""
    if one_s is None or other_s is None:
        return other_s if one_s is None else one_s
    return min(one_s + other_s, MAX_PAUSE_S)


def _placed(timing: Timing, pace: float, by_s: float) -> Timing:
    return replace(timing, start_s=timing.start_s / pace + by_s, end_s=timing.end_s / pace + by_s)


def _timed(mark: Mark, timings: tuple[Timing, ...], start_s: float) -> Mark:
    """Return the mark with its time: the start of the first unit after it."""
    behind = (timing.start_s for timing in timings if timing.source.end > mark.offset)
    end_s = timings[-1].end_s if timings else start_s
    return replace(mark, time_s=next(behind, end_s))
