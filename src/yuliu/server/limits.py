"""Limits of a server: sizes, numbers and times."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from yuliu.logger import event_logger
from yuliu.wire.openai import SpeechLimits

_log = event_logger(__name__)

OTHER_DESCRIPTORS = 64
"""Descriptors for everything but connections: libraries, models, the log, files that are read."""


@dataclass(frozen=True, slots=True)
class NativeLimits:
    """Limits of one connection or stream of the native protocol."""

    max_characters: int = 200_000
    """Maximum length of the text of one context, code points."""
    idle_s: float = 75.0
    """Maximum time that a connection without open contexts is kept while its client sends nothing."""
    idle_text_s: float = 300.0
    """Maximum time that a context waits for text after everything was spoken, and a request for its body to begin."""
    ping_s: float = 20.0
    """Interval at which clients are pinged, and the time they have to answer."""
    kept_bytes: int = 524_288
    """Audio of a stream that is kept after it was sent, for a client that reconnects: 11 s of PCM at 24 kHz."""
    kept_s: float = 60.0
    """Maximum time that it is kept."""
    kept_total_bytes: int = 67_108_864
    """Audio that is kept of all streams together. Beyond it the oldest is dropped: first of streams that are over or
    wait for their client, then of all."""
    drain_s: float = 29.0
    """Time that contexts may go on after SIGTERM; a little less than ``shutdown_s``."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one server process."""

    speech: SpeechLimits = field(default_factory=SpeechLimits)
    """Limits of one speech request."""
    native: NativeLimits = field(default_factory=NativeLimits)
    """Limits of the native protocol."""
    max_streams: int = 1024
    """Maximum number of streams of all protocols that are spoken or wait to be; further ones get 429. Admission by
    measured load usually refuses first."""
    max_body_bytes_held: int = 67_108_864
    """Maximum size of all text that is received or spoken, and of the audio that is held for answers that are not
    streamed; further requests get 429."""
    max_connections: int = 2048
    """Maximum number of open connections, idle ones included; further ones get 503 and are closed."""
    max_head_bytes: int = 32_768
    """Maximum size of request line and headers of one request."""
    request_s: float = 30.0
    """Time within which a request must arrive, from the opening of its connection or its first byte."""
    keep_alive_s: int = 75
    """Time that a connection may stay open without a request; longer than the 60 s of common load balancers."""
    stall_s: float = 60.0
    """Time that a client may read nothing before its connection is cut."""
    stream_s: float = 86_400.0
    """Maximum time of a stream: the longest text, played in real time, with a margin."""
    shutdown_s: int = 30
    """Time that streams may go on after SIGTERM."""


def draining_for(limits: Limits, drain_s: int) -> Limits:
    """Return the limits with another time that streams may go on after SIGTERM, whole seconds, at least 1."""
    native = replace(limits.native, drain_s=drain_s - min(1.0, drain_s / 2))  # the rest is for the last messages
    return replace(limits, shutdown_s=drain_s, native=native)


def within_descriptors(limits: Limits) -> Limits:
    """Return the limits with no more connections than the process may have descriptors.

    Raises the limit of the process as far as allowed. Without this the kernel would refuse connections without an
    answer, and files could not be opened.
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
    """Return the number of descriptors allowed, raised up to ``wanted`` if possible; None if there is no limit."""
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
    except (OSError, ValueError):  # macOS has another limit than the one it reports
        return soft
    return raised
