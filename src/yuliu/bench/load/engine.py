"""What the engines alone take for some texts, in processes of their own: the measure for the server around them.

Run as a program it reads ``[[voice, text], ...]`` from its standard input and writes ``{"cpu_s", "audio_s"}``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.bench.load.texts import Ask

ENOUGH_CPU_S = 3.0
"""Texts are spoken until so much CPU time was taken."""


@dataclass(frozen=True, slots=True)
class EngineCost:
    """CPU seconds for each second of sound: plan, and each segment rendered in one step."""

    alone: float
    """One process on the machine."""
    all_cores: float
    """As many processes at once as there are cores: where they slow each other down it is more."""
    audio_s_per_request: float
    """Mean length of what is spoken for a request."""


def engine_cost(asks: Sequence[Ask]) -> EngineCost:
    """Speak texts by their voices' engines, without a server. Takes about ten seconds.

    Raises:
        RuntimeError: A process failed, as where a voice is not on disk.
    """
    (alone,) = _measure(asks, 1)
    together = _measure(asks, os.cpu_count() or 1)
    return EngineCost(
        alone["cpu_s"] / alone["audio_s"],
        sum(each["cpu_s"] for each in together) / sum(each["audio_s"] for each in together),
        alone["audio_s"] / alone["requests"],
    )


def _measure(asks: Sequence[Ask], num_processes: int) -> list[dict[str, float]]:
    command = [sys.executable, "-m", __name__]
    wanted = json.dumps([[ask.voice, ask.text] for ask in asks])
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(num_processes)
    ]
    for process in processes:
        assert process.stdin is not None  # noqa: S101 - asked for
        process.stdin.write(wanted)
        process.stdin.close()
    outputs = []
    for process in processes:
        assert process.stdout is not None  # noqa: S101 - asked for
        with process.stdout:
            outputs.append(process.stdout.read())
        if process.wait():
            raise RuntimeError("the engines could not be measured; run: yuliu doctor")
    return [json.loads(output) for output in outputs]


def main() -> None:
    """Measure in this process."""
    from yuliu.bench.floor import whole
    from yuliu.synthesizer import load_voice
    from yuliu.voices import VoiceStore

    wanted: list[tuple[str, str]] = json.load(sys.stdin)
    last = dict(wanted)
    engines = {voice: load_voice(VoiceStore(), voice) for voice in last}
    for voice, text in last.items():
        whole(engines[voice], text)  # warm up
    cpu_s, audio_s, requests = 0.0, 0.0, 0
    for voice, text in wanted:
        took = whole(engines[voice], text)
        cpu_s, audio_s, requests = cpu_s + took.cpu_s, audio_s + took.audio_s, requests + 1
        if cpu_s > ENOUGH_CPU_S:
            break
    json.dump({"cpu_s": cpu_s, "audio_s": audio_s, "requests": requests}, sys.stdout)


if __name__ == "__main__":
    main()
