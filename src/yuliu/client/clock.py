"""How far a server's clock is from this one's, from round trips. Pure.

A round trip of which nobody knows how long each way took places the server's clock within half of its length. The
shortest one says most (the minimum filter of NTP); an older one says less, since clocks drift apart meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DRIFT = 1e-4
"""How fast two clocks may drift apart, seconds a second: cheap quartz keeps within half of it, both ways."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One question and its answer, seconds; the middle two on the server's clock."""

    sent_s: float
    server_received_s: float
    server_sent_s: float
    received_s: float

    @property
    def travel_s(self) -> float:
        """How long both ways took together, the server's own time left out."""
        return max(0.0, (self.received_s - self.sent_s) - (self.server_sent_s - self.server_received_s))

    @property
    def offset_s(self) -> float:
        """The server's clock minus this one's, if both ways took the same time."""
        return ((self.server_received_s - self.sent_s) + (self.server_sent_s - self.received_s)) / 2


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """The server's clock minus this one's."""

    offset_s: float
    uncertainty_s: float
    """It is at most so much more or less, however unequal the two ways were, at the time of the last round trip."""
    round_trip_s: float
    """The travel time of the round trip that says most."""
    num_round_trips: int

    def to_client_s(self, server_s: float) -> float:
        """A moment on the server's clock, on this one's."""
        return server_s - self.offset_s


def clock_offset(round_trips: Sequence[RoundTrip], *, max_drift: float = MAX_DRIFT) -> ClockOffset:
    """What round trips say of the clocks.

    Args:
        round_trips: At least one, in any order.
        max_drift: How fast the clocks may drift apart, seconds a second.
    """
    now_s = max(each.received_s for each in round_trips)

    def uncertainty_s(each: RoundTrip) -> float:
        return each.travel_s / 2 + max_drift * (now_s - each.sent_s)

    best = min(round_trips, key=uncertainty_s)
    return ClockOffset(best.offset_s, uncertainty_s(best), best.travel_s, len(round_trips))
