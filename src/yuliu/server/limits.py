"""How much a server takes at once, and how long it waits for whom."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from yuliu.logger import event_logger
from yuliu.wire.openai import SpeechLimits

_log = event_logger(__name__)

OTHER_DESCRIPTORS = 64
"""Descriptors for what is no connection: libraries, models, the log, files that are read for a moment."""


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


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one server process."""

    speech: SpeechLimits = field(default_factory=SpeechLimits)
    """What one speech request may hold."""
    native: NativeLimits = field(default_factory=NativeLimits)
    """What one connection of the native stream may hold."""
    max_streams: int = 1024
    """Streams of all doors that are spoken or wait to be at a time; further ones get 429. What the machine can carry is
    measured, and usually refuses first."""
    max_body_bytes_held: int = 67_108_864
    """Bytes of the text of all doors that is received or spoken, and of the sound that is kept for answers that are not
    streamed; further ones get 429."""
    max_connections: int = 2048
    """Open connections, idle ones counted; further ones get 503 and are closed."""
    max_head_bytes: int = 32_768
    """Request line and headers of one request."""
    request_s: float = 30.0
    """Within which a request must have arrived whole, from the opening of its connection or its first byte."""
    keep_alive_s: int = 75
    """How long a connection may stay open without a request; longer than the 60 s of common load balancers."""
    stall_s: float = 60.0
    """How long a reader may take nothing before its connection is cut."""
    stream_s: float = 86_400.0
    """How long a stream may take in all: the longest text, played in real time, with room."""
    shutdown_s: int = 30
    """How long streams may go on after SIGTERM."""


def draining_for(limits: Limits, drain_s: int) -> Limits:
    """The limits with so many whole seconds, at least 1, that streams may go on after SIGTERM."""
    native = replace(limits.native, drain_s=drain_s - min(1.0, drain_s / 2))  # the last of it is for saying goodbye
    return replace(limits, shutdown_s=drain_s, native=native)


def within_descriptors(limits: Limits) -> Limits:
    """The limits with no more connections than the process may have descriptors.

    Raises the process's own bound as far as it may. Without this, connections would be refused by the kernel, without
    an answer, and files could not be opened.
    """
    available = _raised_bound(limits.max_connections + OTHER_DESCRIPTORS)
    if available is None or available >= limits.max_connections + OTHER_DESCRIPTORS:
        return limits
    num_connections = max(1, available - OTHER_DESCRIPTORS)
    _log.warning(
        "few_descriptors",
        limit=available,
        connections=num_connections,
        wanted=limits.max_connections,
        advice="raise 'ulimit -n' or LimitNOFILE",
    )
    return replace(limits, max_connections=num_connections)


def _raised_bound(wanted: int) -> int | None:
    """How many descriptors there may be, raised up to ``wanted`` if the system lets us; None where it has no bound."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return None if soft == resource.RLIM_INFINITY else soft
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (OSError, ValueError):  # macOS has a bound beside the one it tells
        return soft
    return raised
