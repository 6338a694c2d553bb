"""The command line with a weightless engine; run as a program by the tests, with the arguments of ``yuliu``.

$TONE_FAIL_STEP: number of the step that fails, as does its retry. $TONE_LANGUAGES: its languages, ``zh en`` by
default. $TONE_STEP_S: seconds of work for each frame of 10 ms.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, cast

from yuliu.cli import main
from yuliu.cli.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.metrics.metrics import Metrics
    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Lang


def open_synthesizer(
    voices: Sequence[str],
    *,
    workers: int | None = None,
    cache_bytes: int = 0,
    adaptive: bool = False,
    metrics: Metrics | None = None,
) -> Synthesizer:
    """Return a synthesizer with one voice, ``tone``."""
    from yuliu.engines.registry import local_spec
    from yuliu.engines.tone import ToneEngine, ToneScript
    from yuliu.scheduler.settings import Settings
    from yuliu.synthesizer import Synthesizer

    languages = cast("tuple[Lang, ...]", tuple(os.environ.get("TONE_LANGUAGES", "zh en").split()))
    failing = int(os.environ.get("TONE_FAIL_STEP", "-9"))
    script = ToneScript(
        fail_steps=frozenset({failing, failing + 1}),
        step_s_per_frame=float(os.environ.get("TONE_STEP_S", "0")),
    )
    engine = ToneEngine(script, sleep=time.sleep, languages=languages)
    return Synthesizer(
        [local_spec("tone", lambda: engine)],
        {"tone": dict.fromkeys(languages, "tone")},
        default="tone",
        settings=Settings(num_workers=workers or 1, cache_bytes=cache_bytes, adaptive=adaptive),
        metrics=metrics,
    )


if __name__ == "__main__":
    main(obj=Wiring(open_synthesizer=open_synthesizer))
