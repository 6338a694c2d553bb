"""ToneEngine: a weightless engine for tests, docs and benches. It proves nothing about speech.

Each segment becomes one sine whose frequency tells where in the source it stands, so that a test can hear
whether samples are lost, doubled or swapped between streams. Delays and failures are scripted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from yuliu.engines.api import Capabilities, PlanOptions, StepRequest, StepResult, Utterance
from yuliu.engines.places import source_of
from yuliu.errors import SynthesisFailed
from yuliu.types import AudioFormat, Skipped, Span, Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.types import Lang, Samples, Segment

_UNIT = re.compile(r"[^\W\d_a-zA-Z]|\w[\w'’]*")
"""What is "spoken": a CJK character, or a word."""
_LEAD_FRAMES = 2


@dataclass(frozen=True, slots=True)
class ToneScript:
    """What shall go wrong, counted over the life of the engine from 0."""

    fail_plans: frozenset[int] = frozenset()
    """Numbers of the ``plan`` calls that raise."""
    fail_steps: frozenset[int] = frozenset()
    """Numbers of the ``step`` calls that raise."""
    error: type[Exception] = SynthesisFailed
    plan_s: float = 0.0
    """How long a plan takes, told to ``sleep``."""
    step_s_per_frame: float = 0.0
    """How long a step takes for each frame, told to ``sleep``."""


class ToneEngine:
    """A deterministic tone per segment.

    Args:
        script: Delays and failures; none by default.
        sleep: Called with seconds where the script has a delay: ``time.sleep``, or a fake clock's.
        languages: What it claims to speak.
    """

    HOP = 240
    FRAMES_PER_UNIT = 10

    def __init__(
        self,
        script: ToneScript | None = None,
        *,
        sleep: Callable[[float], None] | None = None,
        languages: tuple[Lang, ...] = ("zh", "en"),
    ) -> None:
        self._script = script or ToneScript()
        self._sleep = sleep or (lambda _: None)
        self.capabilities = Capabilities(AudioFormat(24_000), languages, True, self.HOP, 0, max_batch=4)
        self.num_plans = 0
        """Calls of ``plan`` so far."""
        self.num_steps = 0
        """Calls of ``step`` so far."""
        self.closed = False

    def plan(self, segment: Segment, options: PlanOptions) -> Utterance:
        """One tone of 0.1 s at speed 1 for each character or word, with exactly the silence asked for."""
        number, self.num_plans = self.num_plans, self.num_plans + 1
        self._sleep(self._script.plan_s)
        if number in self._script.fail_plans:
            raise self._script.error(f"plan {number} was told to fail")
        frames_per_unit = max(1, round(self.FRAMES_PER_UNIT / options.speak.speed))
        units = list(_UNIT.finditer(segment.text))
        per_second = self.capabilities.format.sample_rate / self.HOP
        at_s = [(_LEAD_FRAMES + i * frames_per_unit) / per_second for i in range(len(units) + 1)]
        timings = tuple(
            Timing(source_of(segment, Span(*unit.span())), unit.group(), at_s[i], at_s[i + 1])
            for i, unit in enumerate(units)
        )
        return Utterance(
            segment=segment,
            phonemes=tuple(unit.group() for unit in units),
            timings=timings,
            skipped=() if units else (Skipped(segment.source, "punctuation"),),
            num_frames=_LEAD_FRAMES + frames_per_unit * len(units) if units else 0,
            lead_s=_LEAD_FRAMES / per_second,
            tail_s=0.0,
            next_frame=0,
            done=not units,
        )

    def step(self, requests: Sequence[StepRequest]) -> list[StepResult]:
        """The frames asked for."""
        number, self.num_steps = self.num_steps, self.num_steps + 1
        self._sleep(self._script.step_s_per_frame * sum(request.num_frames for request in requests))
        if number in self._script.fail_steps:
            raise self._script.error(f"step {number} was told to fail")
        return [self._render(request) for request in requests]

    def _render(self, request: StepRequest) -> StepResult:
        utterance = request.utterance
        assert utterance.num_frames is not None  # noqa: S101 - set by plan
        end = min(utterance.next_frame + request.num_frames, utterance.num_frames)
        samples = tone(utterance.segment, self.HOP * utterance.next_frame, self.HOP * end)
        return StepResult(samples, replace(utterance, next_frame=end, done=end == utterance.num_frames))

    def close(self) -> None:
        """Nothing to release."""
        self.closed = True


def tone(segment: Segment, start: int, end: int) -> Samples:
    """Samples ``start`` to ``end`` of a segment's tone: silence for the lead, then 200 Hz + 10 Hz x source offset."""
    at = np.arange(start, end)
    frequency_hz = 200 + 10 * (segment.source.start % 100)
    wave = 0.3 * np.sin(2 * np.pi * frequency_hz * at / 24_000)
    return np.where(at < _LEAD_FRAMES * ToneEngine.HOP, 0.0, wave).astype(np.float32)
