"""ToneEngine: a weightless engine for tests, docs and benches. It proves nothing about speech.

Each segment becomes one sine whose frequency tells its text, so that a test can hear whether samples are lost, doubled
or swapped between streams. Delays and failures are scripted, and it can behave in each manner that engines have
(:mod:`yuliu.engines.api`). However it behaves, a segment has the same samples.
"""

from __future__ import annotations

import re
import threading
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from yuliu.engines.alignment import source_of
from yuliu.engines.api import ALL_PACES, Capabilities, PlanOptions, StepRequest, StepResult, Utterance
from yuliu.errors import SynthesisFailed
from yuliu.text.languages import BUILT_IN
from yuliu.types import AudioFormat, Skipped, Span, Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.types import Lang, Samples, Segment

ToneManner = Literal["frames", "autoregressive", "remote"]
"""How an engine behaves: it knows its length; it learns it at the end; its sound comes when it comes."""

_UNIT = re.compile(r"[^\W\d_a-zA-Z]|\w[\w'’]*")
"""What is "spoken": a CJK character, or a word."""
_LEAD_FRAMES = 2
BLOCK_FRAMES = 25
"""Frames that the autoregressive manner makes at a time."""
PACKET_FRAMES = 7
"""Frames that come at a time in the remote manner."""


@dataclass(frozen=True, slots=True)
class ToneScript:
    """What shall go wrong, counted over the life of the engine from 0."""

    fail_plans: frozenset[int] = frozenset()
    """Numbers of the ``plan`` calls that raise."""
    fail_steps: frozenset[int] = frozenset()
    """Numbers of the ``step`` calls that raise."""
    error: type[BaseException] = SynthesisFailed
    hang_plans: frozenset[int] = frozenset()
    """Numbers of the ``plan`` calls that do not return before :attr:`ToneEngine.released` is set."""
    hang_steps: frozenset[int] = frozenset()
    """Numbers of the ``step`` calls that do not return before then."""
    spoil_steps: frozenset[int] = frozenset()
    """Numbers of the ``step`` calls whose results are spoilt: see ``spoil``."""
    spoil: Literal["none", "short", "long", "lost", "still"] = "none"
    """Half of the samples are missing; there are twice as many; a result is missing; nothing moves on."""
    plan_s: float = 0.0
    """How long a plan takes, told to ``sleep``."""
    step_s_per_frame: float = 0.0
    """How long a step takes for each frame, told to ``sleep``."""
    num_still_polls: int = 2
    """In the remote manner, steps without sound before each packet."""


@dataclass(frozen=True, slots=True)
class ToneUtterance(Utterance):
    """One whose end its engine knows, though it may not say so."""

    num_frames_in_all: int
    num_polls: int = 0
    """Steps since the last packet."""


class ToneEngine:
    """A deterministic tone per segment.

    Args:
        script: Delays and failures; none by default.
        sleep: Called with seconds where the script has a delay: ``time.sleep``, or a fake clock's.
        languages: What it claims to speak.
        manner: How it behaves.
        exact: Whether it claims that a repeated step gives the same samples.
        paces: The slowest and the fastest that it speaks; it refuses to be asked for another.
        sample_rate: Of its tones, in Hz. Their frequency is the same at any rate; a frame has always ``HOP`` samples.
    """

    HOP = 240
    FRAMES_PER_UNIT = 10

    def __init__(  # noqa: PLR0913 - all that can be scripted
        self,
        script: ToneScript | None = None,
        *,
        sleep: Callable[[float], None] | None = None,
        languages: tuple[Lang, ...] = BUILT_IN,
        manner: ToneManner = "frames",
        exact: bool = True,
        paces: tuple[float, float] = ALL_PACES,
        sample_rate: int = 24_000,
    ) -> None:
        self._script = script or ToneScript()
        self._sleep = sleep or (lambda _: None)
        self._manner = manner
        self.capabilities = Capabilities(
            AudioFormat(sample_rate), languages, exact, self.HOP, context_frames=0, max_batch=4, paces=paces
        )
        self.num_plans = 0
        """Calls of ``plan`` so far."""
        self.num_steps = 0
        """Calls of ``step`` so far."""
        self.hung = threading.Event()
        """Set when a call hangs."""
        self.released = threading.Event()
        """To be set to let calls that hang return."""
        self.closed = False

    def plan(self, segment: Segment, options: PlanOptions) -> Utterance:
        """One tone of 0.1 s at speed 1 for each character or word, with exactly the silence asked for."""
        number, self.num_plans = self.num_plans, self.num_plans + 1
        self._sleep(self._script.plan_s)
        if number in self._script.fail_plans:
            raise self._script.error(f"plan {number} was told to fail")
        self._hang(number in self._script.hang_plans)
        slowest, fastest = self.capabilities.paces
        if not slowest <= options.speak.speed <= fastest:
            raise SynthesisFailed(f"this engine speaks at {slowest:g} to {fastest:g} times its pace")
        frames_per_unit = max(1, round(self.FRAMES_PER_UNIT / options.speak.speed))
        units = list(_UNIT.finditer(segment.text))
        per_second = self.capabilities.format.sample_rate / self.HOP
        at_s = [(_LEAD_FRAMES + i * frames_per_unit) / per_second for i in range(len(units) + 1)]
        num_frames = _LEAD_FRAMES + frames_per_unit * len(units) if units else 0
        return ToneUtterance(
            segment=segment,
            phonemes=tuple(unit.group() for unit in units),
            timings=tuple(
                Timing(source_of(segment, Span(*unit.span())), unit.group(), at_s[i], at_s[i + 1])
                for i, unit in enumerate(units)
            ),
            skipped=() if units else (Skipped(segment.source, "punctuation"),),
            num_frames=num_frames if self._manner == "frames" or not units else None,
            lead_s=_LEAD_FRAMES / per_second,
            tail_s=0.0,
            next_frame=0,
            done=not units,
            num_frames_in_all=num_frames,
        )

    def step(self, requests: Sequence[StepRequest]) -> list[StepResult]:
        """The frames asked for, or what the engine's manner makes of that."""
        number, self.num_steps = self.num_steps, self.num_steps + 1
        self._sleep(self._script.step_s_per_frame * sum(request.num_frames for request in requests))
        if number in self._script.fail_steps:
            raise self._script.error(f"step {number} was told to fail")
        self._hang(number in self._script.hang_steps)
        results = [self._render(request) for request in requests]
        return self._spoilt(requests, results) if number in self._script.spoil_steps else results

    def close(self) -> None:
        """Nothing to release."""
        self.closed = True

    def _hang(self, told_to: bool) -> None:
        if told_to:
            self.hung.set()
            self.released.wait()

    def _render(self, request: StepRequest) -> StepResult:
        utterance = request.utterance
        assert isinstance(utterance, ToneUtterance)  # noqa: S101 - this engine's
        start, last = utterance.next_frame, utterance.num_frames_in_all
        match self._manner:
            case "frames":
                end = min(start + request.num_frames, last)
            case "autoregressive":
                end = min(start + -(-request.num_frames // BLOCK_FRAMES) * BLOCK_FRAMES, last)
            case "remote":
                return self._poll(utterance)
        after = replace(
            utterance, next_frame=end, done=end == last, num_frames=last if end == last else utterance.num_frames
        )
        return StepResult(self._tone(utterance, start, end), after)

    def _poll(self, utterance: ToneUtterance) -> StepResult:
        """Nothing most of the time, then a packet; that it was the last one is only told afterwards."""
        start, last = utterance.next_frame, utterance.num_frames_in_all
        if utterance.num_polls < self._script.num_still_polls:
            return StepResult(_NOTHING, replace(utterance, num_polls=utterance.num_polls + 1))
        if start == last:
            return StepResult(_NOTHING, replace(utterance, num_frames=last, done=True))
        end = min(start + PACKET_FRAMES, last)
        samples = self._tone(utterance, start, end)
        return StepResult(samples, replace(utterance, next_frame=end, num_polls=0))

    def _tone(self, utterance: Utterance, start: int, end: int) -> Samples:
        sample_rate = self.capabilities.format.sample_rate
        return tone(utterance.segment, self.HOP * start, self.HOP * end, sample_rate)

    def _spoilt(self, requests: Sequence[StepRequest], results: list[StepResult]) -> list[StepResult]:
        match self._script.spoil:
            case "short":
                return [replace(result, samples=result.samples[::2]) for result in results]
            case "long":
                return [replace(result, samples=np.tile(result.samples, 2)) for result in results]
            case "lost":
                return results[:-1]
            case "still":
                return [StepResult(_NOTHING, request.utterance) for request in requests]
            case "none":
                return results


_NOTHING = np.zeros(0, np.float32)


def tone(segment: Segment, start: int, end: int, sample_rate: int = 24_000) -> Samples:
    """Samples ``start`` to ``end`` of a segment's tone: silence for the lead, then 200 to 1199 Hz as its text says."""
    at = np.arange(start, end)
    frequency_hz = 200 + zlib.crc32(segment.text.encode("utf-8", "surrogatepass")) % 1000
    wave = 0.3 * np.sin(2 * np.pi * frequency_hz * at / sample_rate)
    return np.where(at < _LEAD_FRAMES * ToneEngine.HOP, 0.0, wave).astype(np.float32)
