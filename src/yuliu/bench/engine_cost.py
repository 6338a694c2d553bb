"""Cost of the engines alone, without the server around them: the baseline of every other figure.

Run as a program, it reads ``[[voice, text], ...]`` from standard input and writes ``{"cpu_s", "audio_s", "requests"}``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.audio.join import silences
from yuliu.engines.api import PlanOptions, StepRequest
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.segmenter import Segmenter, split_segment
from yuliu.types import SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.bench.texts import LoadRequest
    from yuliu.engines.api import Engine, Utterance
    from yuliu.types import Lang, Segment

MAX_CPU_S = 3.0
"""CPU time after which a process of :func:`engine_cost` stops speaking texts."""


@dataclass(frozen=True, slots=True)
class EngineRendering:
    """One text rendered by the engines alone, segment by segment."""

    seconds: float
    cpu_s: float
    audio_s: float


@dataclass(frozen=True, slots=True)
class EngineFloor:
    """Latency of one text by the engines alone, warm."""

    first_step_s: float
    """Plan and first step of the first segment."""
    whole: EngineRendering
    """Plan and rendering of all segments."""


@dataclass(frozen=True, slots=True)
class EngineCost:
    """CPU seconds for each second of audio: the plan, and each segment rendered in one step."""

    alone: float
    """Measured by one process on the machine."""
    all_cores: float
    """Measured by one process for each core at once, in case they slow each other down."""
    audio_s_per_request: float
    """Mean length of the audio of a request."""


def measure_floor(engines: Mapping[Lang, Engine], text: str) -> EngineFloor:
    """Speak a text in this process with nothing around the engines."""
    began = time.perf_counter()
    segments = segments_of(text, tuple(engines))
    _first_step(engines, segments)
    first_step_s = time.perf_counter() - began
    return EngineFloor(first_step_s, _render(engines, segments))


def render(engines: Mapping[Lang, Engine], text: str) -> EngineRendering:
    """Plan and render all segments of a text, each in one step."""
    return _render(engines, segments_of(text, tuple(engines)))


def segments_of(text: str, languages: tuple[Lang, ...]) -> list[Segment]:
    """Return the segments that a stream makes of a whole text, split by language."""
    segmenter = Segmenter()
    segments = [*segmenter.push(text), *segmenter.flush()]
    return [part for segment in segments for part in split_segment(segment, languages) if part.lang]


def plan(engine: Engine, segment: Segment) -> Utterance:
    """Plan a segment as a stream does."""
    pauses = silences(segment.boundary, 1.0)
    return engine.plan(segment, PlanOptions(SpeakOptions(), pauses.lead_s, pauses.tail_s))


def engine_cost(requests: Sequence[LoadRequest]) -> EngineCost:
    """Measure the engines of the requested voices in processes of their own; takes about ten seconds.

    Raises:
        RuntimeError: A process failed, for example because a voice is not installed.
    """
    (alone,) = _measure_in_processes(requests, 1)
    together = _measure_in_processes(requests, os.cpu_count() or 1)
    return EngineCost(
        alone["cpu_s"] / alone["audio_s"],
        sum(each["cpu_s"] for each in together) / sum(each["audio_s"] for each in together),
        alone["audio_s"] / alone["requests"],
    )


def _render(engines: Mapping[Lang, Engine], segments: Sequence[Segment]) -> EngineRendering:
    began, cpu_began = time.perf_counter(), time.process_time()
    audio_s = sum(_render_segment(engines[segment.lang], segment) for segment in segments if segment.lang)
    return EngineRendering(time.perf_counter() - began, time.process_time() - cpu_began, audio_s)


def _first_step(engines: Mapping[Lang, Engine], segments: Sequence[Segment]) -> None:
    for segment in segments:
        assert segment.lang is not None  # noqa: S101 - segments_of keeps no others
        engine = engines[segment.lang]
        utterance = plan(engine, segment)
        if not utterance.done:
            rate = engine.capabilities.format.sample_rate / engine.capabilities.hop_samples
            engine.step([StepRequest(utterance, round(Tuning().first_step_s * rate))])
            return


def _render_segment(engine: Engine, segment: Segment) -> float:
    """Render a segment in one step and return the seconds of audio."""
    utterance = plan(engine, segment)
    if utterance.done or utterance.num_frames is None:
        return 0.0
    (result,) = engine.step([StepRequest(utterance, utterance.num_frames)])
    return len(result.samples) / engine.capabilities.format.sample_rate


def _measure_in_processes(requests: Sequence[LoadRequest], num_processes: int) -> list[dict[str, float]]:
    command = [sys.executable, "-m", __name__]
    texts = json.dumps([[request.voice, request.text] for request in requests])
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(num_processes)
    ]
    for process in processes:
        assert process.stdin is not None  # noqa: S101 - a pipe was requested
        process.stdin.write(texts)
        process.stdin.close()
    outputs = []
    for process in processes:
        assert process.stdout is not None  # noqa: S101 - a pipe was requested
        with process.stdout:
            outputs.append(process.stdout.read())
        if process.wait():
            raise RuntimeError("the engines could not be measured; run: yuliu doctor")
    return [json.loads(output) for output in outputs]


def main() -> None:
    """Measure the engines in this process."""
    from yuliu.synthesizer import load_voice
    from yuliu.voices import VoiceStore

    texts: list[tuple[str, str]] = json.load(sys.stdin)
    last = dict(texts)
    engines = {voice: load_voice(VoiceStore(), voice) for voice in last}
    for voice, text in last.items():
        render(engines[voice], text)  # warm up
    cpu_s, audio_s, num_requests = 0.0, 0.0, 0
    for voice, text in texts:
        rendering = render(engines[voice], text)
        cpu_s, audio_s, num_requests = cpu_s + rendering.cpu_s, audio_s + rendering.audio_s, num_requests + 1
        if cpu_s > MAX_CPU_S:
            break
    json.dump({"cpu_s": cpu_s, "audio_s": audio_s, "requests": num_requests}, sys.stdout)


if __name__ == "__main__":
    main()
