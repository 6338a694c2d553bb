"""A server process for tests: ``python tone_server.py HOW``, where HOW is ``tone``, ``broken`` or ``crashing``."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.errors import VoiceNotReady
from yuliu.server import ServerConfig, serve
from yuliu.synthesizer import Synthesizer

if TYPE_CHECKING:
    from yuliu.metrics.metrics import Metrics
    from yuliu.types import Lang


def load(metrics: Metrics) -> Synthesizer:
    """Return a synthesizer or fail as ``HOW`` says. Steps take a fifth of the duration of their audio."""
    if sys.argv[1] == "broken":
        raise VoiceNotReady("run 'yuliu voices pull tone'")
    if sys.argv[1] == "crashing":
        raise ValueError("a private path")
    engine = ToneEngine(ToneScript(step_s_per_frame=0.002), sleep=time.sleep)
    tone: dict[Lang, str] = {"zh": "tone", "en": "tone"}
    return Synthesizer(
        [local_spec("tone", lambda: engine)], {"tone": tone}, default="tone", num_workers=1, metrics=metrics
    )


if __name__ == "__main__":
    serve(load, ServerConfig(port=0))
