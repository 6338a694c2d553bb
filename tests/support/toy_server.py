"""A server process for tests: ``python toy_server.py HOW``, where HOW is ``tone``, ``broken`` or ``crashing``."""

from __future__ import annotations

import sys
import time

from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.errors import VoiceNotReady
from yuliu.server import serve
from yuliu.speaker import Speaker


def load() -> Speaker:
    """What ``HOW`` says. Steps take a fifth of the time their sound lasts."""
    if sys.argv[1] == "broken":
        raise VoiceNotReady("run 'yuliu voices pull tone'")
    if sys.argv[1] == "crashing":
        raise ValueError("a private path")
    engine = ToneEngine(ToneScript(step_s_per_frame=0.002), sleep=time.sleep)
    return Speaker({"tone": lambda: engine}, {"tone": {"zh": "tone", "en": "tone"}}, default="tone", num_lanes=1)


if __name__ == "__main__":
    serve(load, port=0)
