"""What a real-time player lives through that starts at the first packet. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Arrival:
    """Some bytes of sound and when they came."""

    at_s: float
    """Seconds since the request was sent."""
    num_bytes: int


@dataclass(frozen=True, slots=True)
class Playback:
    """How the playing of some sound went."""

    ends_at_s: float
    """When the player has played all of it, seconds since the request was sent."""
    stalls: tuple[tuple[float, float], ...]
    """When it went on after standing still, and for how long it had: seconds."""

    @property
    def underrun_s(self) -> float:
        """How long it stood still in all."""
        return sum(still_s for _, still_s in self.stalls)


def play(arrivals: Iterable[Arrival], bytes_per_s: float) -> Playback:
    """Play sound as it arrives; the player starts at the first arrival and waits for nothing but sound."""
    ends_at_s: float | None = None
    stalls = []
    for arrival in arrivals:
        if ends_at_s is None:
            ends_at_s = arrival.at_s
        elif arrival.at_s > ends_at_s:
            stalls.append((arrival.at_s, arrival.at_s - ends_at_s))
            ends_at_s = arrival.at_s
        ends_at_s += arrival.num_bytes / bytes_per_s
    return Playback(ends_at_s or 0.0, tuple(stalls))
