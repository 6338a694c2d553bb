"""How much a server takes at once, and how long it waits for whom."""

from __future__ import annotations

from dataclasses import dataclass, field

from yuliu.wire.openai import SpeechLimits


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one server process."""

    speech: SpeechLimits = field(default_factory=SpeechLimits)
    """What one speech request may hold."""
    max_streams: int = 64
    """Streams spoken at a time; further ones get 429."""
    max_connections: int = 512
    """Open connections, idle ones counted; further ones get 503 and are closed."""
    max_head_bytes: int = 32_768
    """Request line and headers of one request."""
    request_s: float = 30.0
    """Within which a request must have arrived whole, from the opening of its connection or its first byte."""
    keep_alive_s: int = 75
    """How long a connection may stay open without a request; longer than the 60 s of common load balancers."""
    stall_s: float = 60.0
    """How long a reader may take nothing before its connection is cut."""
    shutdown_s: int = 30
    """How long streams may go on after SIGTERM."""
