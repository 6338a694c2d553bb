"""Offset of a server's clock from the local one, estimated from round trips. Pure.

A round trip whose one-way times are unknown bounds the offset to within half its length. The shortest one is the most
precise (the minimum filter of NTP); an older one is less precise, since the clocks have drifted in the meantime.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DRIFT = 1e-4
"""Maximum drift between two clocks, seconds per second. Cheap quartz stays within half of it in each direction."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """Times of one request and its answer, seconds; the middle two by the server's clock."""

    sent_s: float
    server_received_s: float
    server_sent_s: float
    received_s: float

    @property
    def travel_s(self) -> float:
        """Time on the network, both ways together, without the server's own time, seconds."""
        return max(0.0, (self.received_s - self.sent_s) - (self.server_sent_s - self.server_received_s))

    @property
    def offset_s(self) -> float:
        """Server's clock minus local clock if both ways took the same time, seconds."""
        return ((self.server_received_s - self.sent_s) + (self.server_sent_s - self.received_s)) / 2


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """Estimated offset of the server's clock."""

    offset_s: float
    """Server's clock minus local clock, seconds."""
    uncertainty_s: float
    """Maximum error of the offset at the time of the last round trip, however unequal the two ways were, seconds."""
    round_trip_s: float
    """Travel time of the round trip that gave the estimate, seconds."""
    num_round_trips: int
    """Number of round trips made."""

    def to_client_s(self, server_s: float) -> float:
        """Convert a time of the server's clock to the local clock."""
        return server_s - self.offset_s


def clock_offset(round_trips: Sequence[RoundTrip], *, max_drift: float = MAX_DRIFT) -> ClockOffset:
    """Estimate the offset of the server's clock.

    Args:
        round_trips: At least one, in any order.
        max_drift: Maximum drift between the clocks, seconds per second.
    """
    now_s = max(each.received_s for each in round_trips)

    def uncertainty_s(each: RoundTrip) -> float:
        return each.travel_s / 2 + max_drift * (now_s - each.sent_s)

    best = min(round_trips, key=uncertainty_s)
    return ClockOffset(best.offset_s, uncertainty_s(best), best.travel_s, len(round_trips))
