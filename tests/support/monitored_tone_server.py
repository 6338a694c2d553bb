"""The monitored server of the bench suite with a weightless engine; run as a program by the tests."""

from __future__ import annotations

import sys
from pathlib import Path

from tone_cli import open_synthesizer

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from bench.endpoints.loop_lag import main

    main(lambda metrics: open_synthesizer((), metrics=metrics))
