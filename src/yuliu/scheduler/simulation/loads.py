"""Load and result of a simulation. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import deque

    from yuliu.types import StreamClass

UNDERRUN_S = 0.001
"""Silence that is shorter is not counted, seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Offered load of a simulation."""

    num_streams: int = 0
    """Listeners in a closed loop: each asks again when it has heard everything."""
    rate_per_s: float = 0.0
    """Further streams that come by chance (Poisson), a second on average."""
    num_bulk: int = 0
    """Readers of bulk work without end."""
    seconds: float = 60.0
    """Time during which new streams arrive, seconds."""
    audio_s: float = 8.0
    """Sound of a stream, seconds on average; between half and one and a half times that."""
    think_s: float = 1.0
    """Mean time before a listener asks again, seconds."""
    segment_s: float = 3.0
    """Sound of a segment, seconds; the first one is half as long."""
    interactive: float = 0.5
    """Share of streams of class interactive; the others but bulk are standard."""
    max_lead_s: float | None = 3.0
    """Sound that is made ahead of a listener, seconds."""
    jitter: float = 0.1
    """Work takes longer or shorter by chance, up to this share."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a simulation."""

    num_streams: int
    """Streams that requested admission."""
    num_admitted: int
    num_rejected: int
    num_completed: int
    """Streams made to their end, bulk ones not counted."""
    ttfp_s: tuple[float, ...]
    """Time to first audio of each stream that had some, bulk excepted, sorted, seconds."""
    underrun_s: tuple[float, ...]
    """Of each stream with one."""
    retry_after_s: tuple[float, ...]
    """Retry times given to rejected streams."""
    audio_s: float
    """Sound made for listeners, seconds."""
    bulk_s: float
    """Sound made for bulk streams, seconds."""
    load: float
    """Share of their time that workers worked."""
    seconds: float
    """Time until the last listener was served, on the virtual clock."""
    num_tunings: int = 0
    """Times that the controller changed something."""

    def ttfp_ms(self, share: float) -> float:
        """Return this quantile of the times to first packet, milliseconds; 0 without any."""
        if not self.ttfp_s:
            return 0.0
        return 1000 * self.ttfp_s[min(len(self.ttfp_s) - 1, int(share * len(self.ttfp_s)))]


@dataclass(slots=True)
class SimulatedListener:
    """A listener that plays a stream in real time."""

    stream_id: int
    engine: str
    stream_class: StreamClass
    segments_s: deque[float]
    asked_at_s: float
    again: bool
    """True if it asks again afterwards."""
    first_at_s: float | None = None
    dry_at_s: float = 0.0
    underrun_s: float = 0.0
    closed: bool = False

    def hear(self, audio_s: float, now: float) -> None:
        """Sound arrives; it plays from the first on."""
        if self.first_at_s is None:
            self.first_at_s = now
        elif now - self.dry_at_s > UNDERRUN_S:
            self.underrun_s += now - self.dry_at_s
        self.dry_at_s = max(self.dry_at_s, now) + audio_s
