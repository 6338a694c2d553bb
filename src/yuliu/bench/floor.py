"""What the engines alone can do, in this process, warm, one thread: the measure for everything around them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.audio.join import silences
from yuliu.engines.api import PlanOptions, StepRequest
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.segmenter import Segmenter, split_segment
from yuliu.types import SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.engines.api import Engine, Utterance
    from yuliu.types import Lang, Segment


@dataclass(frozen=True, slots=True)
class Alone:
    """One text by the engines alone."""

    floor_s: float
    """Plan and first step of the first segment."""
    offline_s: float
    """Plan and whole rendering of all segments."""
    offline_cpu_s: float
    """Its CPU time."""
    audio_s: float


@dataclass(frozen=True, slots=True)
class Whole:
    """One text rendered by the engines alone, segment by segment."""

    seconds: float
    cpu_s: float
    audio_s: float


def parts_of(text: str, languages: tuple[Lang, ...]) -> list[Segment]:
    """The segments that a stream makes of a whole text, split by language."""
    segmenter = Segmenter()
    segments = [*segmenter.push(text), *segmenter.flush()]
    return [part for segment in segments for part in split_segment(segment, languages) if part.lang]


def alone(engines: Mapping[Lang, Engine], text: str) -> Alone:
    """Speak a text without anything around the engines."""
    began = time.perf_counter()
    parts = parts_of(text, tuple(engines))
    _first_step(engines, parts)
    floor_s = time.perf_counter() - began
    took = _render(engines, parts)
    return Alone(floor_s, took.seconds, took.cpu_s, took.audio_s)


def whole(engines: Mapping[Lang, Engine], text: str) -> Whole:
    """Plan and render all segments of a text, each in one step."""
    return _render(engines, parts_of(text, tuple(engines)))


def _render(engines: Mapping[Lang, Engine], parts: list[Segment]) -> Whole:
    began, cpu_began = time.perf_counter(), time.process_time()
    audio_s = sum(_whole(engines[part.lang], part) for part in parts if part.lang)
    return Whole(time.perf_counter() - began, time.process_time() - cpu_began, audio_s)


def _first_step(engines: Mapping[Lang, Engine], parts: list[Segment]) -> None:
    for part in parts:
        assert part.lang is not None  # noqa: S101 - parts_of keeps only those
        engine = engines[part.lang]
        utterance = plan(engine, part)
        if not utterance.done:
            rate = engine.capabilities.format.sample_rate / engine.capabilities.hop_samples
            engine.step([StepRequest(utterance, round(Tuning().first_step_s * rate))])
            return


def plan(engine: Engine, part: Segment) -> Utterance:
    """Plan as a session does."""
    wanted = silences(part.boundary, 1.0)
    return engine.plan(part, PlanOptions(SpeakOptions(), wanted.lead_s, wanted.tail_s))


def _whole(engine: Engine, part: Segment) -> float:
    """Seconds of sound of a part rendered in one step."""
    utterance = plan(engine, part)
    if utterance.done or utterance.num_frames is None:
        return 0.0
    (result,) = engine.step([StepRequest(utterance, utterance.num_frames)])
    return len(result.samples) / engine.capabilities.format.sample_rate
