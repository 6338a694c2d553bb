"""Reports of streams, as a scheduler and a server would give them."""

from __future__ import annotations

from typing import Any

from yuliu.metrics.report import Moments, StreamReport
from yuliu.types import StreamClass

SPOKEN = Moments(
    first_text_s=0.0,
    admitted_s=0.001,
    segment_s=0.002,
    plan_began_s=0.003,
    planned_s=0.043,
    made_s=0.06,
    sent_s=0.062,
    last_sent_s=1.5,
    ended_s=1.6,
)


def report(**fields: Any) -> StreamReport:
    """A stream that finished, but for what is given."""
    usual: dict[str, Any] = {
        "stream_id": "turn-7",
        "stream_class": StreamClass.INTERACTIVE,
        "voice": "tone",
        "door": "speech",
        "outcome": "finished",
        "began_at_s": 1_769_860_800.0,
        "moments": SPOKEN,
        "front_end_s": 0.01,
        "audio_s": 3.0,
        "num_characters": 12,
        "num_bytes": 144_000,
        "num_segments": 2,
    }
    return StreamReport(**usual | fields)
