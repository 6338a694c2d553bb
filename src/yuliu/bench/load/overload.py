"""Twice as many listeners as can be carried, who come whether others are served or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.bench.load.capacity import line_of
from yuliu.bench.load.figures import ratio
from yuliu.bench.load.point import Timing, measure_point

if TYPE_CHECKING:
    from yuliu.bench.load.setting import Setting

FACTOR = 2.0
WARM_UP_S = 12.0
"""Until as many are there as are to be."""


def measure_overload(setting: Setting, voice: str, capacity: int, best_goodput: float | None) -> dict[str, Any]:
    """Arrivals at a rate at which, each served at once, twice the capacity would listen at a time (Little's law).

    Args:
        setting: Sizes.
        voice: The voice.
        capacity: Streams that are carried.
        best_goodput: Audio seconds of smooth streams a second at capacity; None where it was not measured.
    """
    cost = setting.cost(voice)
    rate_per_s = FACTOR * capacity / cost.audio_s_per_request
    timing = Timing(setting.timing.seconds, WARM_UP_S)
    with setting.server() as server:
        point = measure_point(server, setting.shape(voice, rate_per_s=rate_per_s), timing, cost)
    setting.progress(f"overload, {voice}: {rate_per_s:.1f} a second; {line_of(point)}")
    share = ratio(point["goodput"], best_goodput, digits=3)
    return {"voice": voice, "capacity": capacity, "point": point, "goodput_share": share}
