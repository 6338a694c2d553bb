"""Playback as a real-time player experiences it when it starts at the first packet. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class ChunkArrival:
    """Size of a piece of audio and the time at which it arrived."""

    at_s: float
    """Seconds since the request was sent."""
    num_bytes: int


@dataclass(frozen=True, slots=True)
class SimulatedPlayback:
    """The course of a playback."""

    ends_at_s: float
    """Time at which the player has played everything, seconds since the request was sent."""
    stalls: tuple[tuple[float, float], ...]
    """Each stall as the time at which it ended and its length, seconds."""

    @property
    def underrun_s(self) -> float:
        """Total length of the stalls."""
        return sum(length_s for _, length_s in self.stalls)


def simulate_playback(arrivals: Iterable[ChunkArrival], bytes_per_s: float) -> SimulatedPlayback:
    """Play audio as it arrives, starting at the first arrival."""
    ends_at_s: float | None = None
    stalls = []
    for arrival in arrivals:
        if ends_at_s is None:
            ends_at_s = arrival.at_s
        elif arrival.at_s > ends_at_s:
            stalls.append((arrival.at_s, arrival.at_s - ends_at_s))
            ends_at_s = arrival.at_s
        ends_at_s += arrival.num_bytes / bytes_per_s
    return SimulatedPlayback(ends_at_s or 0.0, tuple(stalls))
