"""Events of a delivery: frozen values, in the order in which they belong on the wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.audio.formats import Encoding
    from yuliu.errors import YuliuError
    from yuliu.types import Ending, Finished, Mark, Span, Timing


@dataclass(frozen=True, slots=True)
class DeliveryStarted:
    """The stream was admitted; always the first event."""

    voice: str
    encoding: Encoding
    degraded: bool = False
    """True if the text is spoken in whole sentences and larger steps, because of a backlog."""
    lead_in_ms: float = 0.0
    """Length of the silence at the head of the audio."""


@dataclass(frozen=True, slots=True)
class SegmentStarted:
    """The audio that follows speaks this part of the text."""

    source: Span
    start_s: float
    """Position in the audio."""
    spoken: str = field(default="", repr=False)
    """The words as they are pronounced."""
    timings: tuple[Timing, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class MarksReached:
    """Named places of the text, with their positions in the audio."""

    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class PlaybackStalled:
    """A listener that plays in real time has nothing left to play."""

    waits_for: str
    """``text`` or ``sound``."""


@dataclass(frozen=True, slots=True)
class PlaybackResumed:
    """Audio follows again after :class:`PlaybackStalled`."""

    start_s: float
    """Position in the audio."""


@dataclass(frozen=True, slots=True)
class AudioEncoded:
    """Encoded audio. ``data`` may be empty where the encoder holds its output back."""

    data: bytes = field(repr=False)
    until_s: float
    """Length of all audio up to the end of this piece."""
    ending: Finished | None = None
    """Ending of the stream, set on the piece that completes the container."""


@dataclass(frozen=True, slots=True)
class DeliveryFinished:
    """All text was spoken or skipped by a named rule, and all audio was sent."""

    ending: Finished
    num_characters: int
    has_sound: bool
    """False where the audio holds at most a lead-in."""


@dataclass(frozen=True, slots=True)
class DeliveryFailed:
    """The audio is not whole; no event follows."""

    error: YuliuError
    ending: Ending | None = None
    """Ending of the stream, if one was opened."""


DeliveryEvent = (
    DeliveryStarted | SegmentStarted | MarksReached | PlaybackResumed | AudioEncoded | DeliveryFinished | DeliveryFailed
)
