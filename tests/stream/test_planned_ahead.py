"""Tests of planning ahead, on a clock that only work moves: the next segment is planned while one is played."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.scheduler.settings import Settings
from yuliu.stream import options_of
from yuliu.synthesizer import Synthesizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.engines.api import PlanOptions, StepRequest, StepResult, Utterance
    from yuliu.types import Lang, Segment

SENTENCES = [f"Sentence {number} has ten words and takes a good second. " for number in ("one", "two", "three", "four")]


class Clock:
    """Clock of the work done, in seconds."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


class Noting(ToneEngine):
    """Engine at half of real time with 0.1 s per plan, which records the times of its calls."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(ToneScript(plan_s=0.1, step_s_per_frame=0.005), sleep=clock.sleep)
        self._clock = clock
        self.planned_at_s: list[float] = []
        self.first_sound_at_s: float | None = None

    def plan(self, segment: Segment, options: PlanOptions) -> Utterance:
        self.planned_at_s.append(self._clock.now_s)
        return super().plan(segment, options)

    def step(self, requests: Sequence[StepRequest]) -> list[StepResult]:
        results = super().step(requests)
        self.first_sound_at_s = self.first_sound_at_s or self._clock.now_s
        return results


PRESETS = {name: options_of(name, num_workers=1) for name in ("default", "dialogue", "audiobook")}
VOICES: dict[str, dict[Lang, str]] = {"tone": {"zh": "tone", "en": "tone"}}


@pytest.mark.parametrize("preset", PRESETS)
async def test_the_next_segment_is_planned_while_one_is_played(preset: str) -> None:
    """The plan is ready long before the player needs it, even with a single worker."""
    clock = Clock()
    engine = Noting(clock)
    with Synthesizer(
        [local_spec("tone", lambda: engine)], VOICES, default="tone", settings=Settings(num_workers=1)
    ) as synthesizer:
        synthesizer._scheduler.clock = clock
        ends_s: dict[int, float] = {}
        async with synthesizer.stream(options=PRESETS[preset]) as stream:
            for sentence in SENTENCES:
                await stream.push(sentence)
            await stream.end()
            async for chunk in stream:
                ends_s[chunk.source.start] = end_s = chunk.start_s + len(chunk.samples) / chunk.sample_rate
                stream.played(end_s)  # else it would wait for a clock that stands still
    assert len(ends_s) == len(engine.planned_at_s) == len(SENTENCES)
    assert engine.first_sound_at_s is not None
    for end_s, planned_at_s in zip(ends_s.values(), engine.planned_at_s[1:], strict=False):
        assert planned_at_s < engine.first_sound_at_s + end_s - 0.3
