"""The watched server of the bench on a weightless engine: run as a program by the tests."""

from __future__ import annotations

from tone_yuliu import open_synthesizer

from yuliu.bench.doors.ticking import main

if __name__ == "__main__":
    main(lambda metrics: open_synthesizer((), metrics=metrics))
