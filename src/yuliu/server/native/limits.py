"""How much the native stream takes, and how long it waits for whom."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NativeLimits:
    """Bounds of one connection or stream."""

    max_characters: int = 200_000
    """Code points of the text of one context."""
    idle_s: float = 75.0
    """How long a connection without open contexts is kept that says nothing."""
    idle_text_s: float = 300.0
    """How long a context waits for text when all before is spoken, and a request for its body to begin."""
    ping_s: float = 20.0
    """How often clients are pinged, and how long they may take to answer."""
    kept_bytes: int = 524_288
    """Sound that is kept of a stream after it was sent, for a client that comes back: 11 s of PCM at 24 kHz."""
    kept_s: float = 60.0
    """How long it is kept at most."""
    kept_total_bytes: int = 67_108_864
    """Sound that is kept of all streams together. Beyond it, what was sent first is kept no longer: at first of streams
    that are over or wait for their client, then of all."""
    drain_s: float = 29.0
    """How long contexts may go on after SIGTERM; a little less than all that is waited for."""
