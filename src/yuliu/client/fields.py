"""Keyword arguments of a client's ``stream``, ``speak`` and ``configure``, named as on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.audio.formats import FormatName


class StreamFields(TypedDict, total=False):
    """Options of a new stream. A missing option takes the server's default."""

    voice: str | None
    """Name of a voice on the server."""
    format: FormatName
    """Audio format; ``pcm`` by default."""
    sample_rate: int | None
    """Sample rate, Hz; None takes the voice's rate."""
    channels: int
    """Number of channels; 2 sends the same audio on both."""
    kbps: int | None
    """Bit rate, kbit/s."""
    speed: float
    """Speaking rate; 2 is twice as fast."""
    preset: str | None
    """Name of a preset; ``dialogue`` suits an assistant."""
    stream_class: str | None
    """``interactive``, ``standard`` or ``bulk``; else the preset's."""
    chunking: str | Mapping[str, object] | None
    """Segmentation of the text; None takes the preset's."""
    max_lead_s: float | None
    """Maximum lead of synthesis over playback, seconds; None takes the preset's."""
    weight: float
    """Scheduling weight of the stream within its class."""
    lead_in_ms: float
    """Silence that is sent immediately, milliseconds."""
    seed: int
    """Seed of the voice's random variation."""
    language: str | None
    """Language of the whole text, as a BCP 47 tag such as ``en-US``; None decides by script."""
    volume_db: float
    """Volume change, -60 to 20 dB; a limiter keeps louder audio from clipping."""
    pitch_semitones: float
    """Pitch shift, -12 to 12 semitones."""
    effects: Mapping[str, object] | None
    """Further effects: ``level``, ``compress``, ``highpass``, ``denoise`` and ``limit``, each true or false;
    ``compress`` may also be an object."""
    lexicon: str | Sequence[str] | None
    """Names of lexicons on the server."""
    lexicon_entries: Sequence[Mapping[str, object]] | None
    """Lexicon entries for this stream alone."""
    timings: bool
    """True if the server sends word timings; true by default."""
    times: bool
    """True if the ``done`` message breaks down the time to the first sound."""
    resume_s: float
    """Time that the server keeps the stream for resuming after a lost connection, seconds."""


class ConfigureFields(TypedDict, total=False):
    """Options that can change while a stream is open. A missing option stays as it is."""

    chunking: str | Mapping[str, object] | None
    """Segmentation of the text."""
    speed: float | None
    """Speaking rate; 2 is twice as fast."""
    language: str | None
    """Language of the text that follows, as a BCP 47 tag such as ``en-US``; ``auto`` decides by script."""
    volume_db: float | None
    """Volume change, -60 to 20 dB."""
    pitch_semitones: float | None
    """Pitch shift, -12 to 12 semitones."""
    effects: Mapping[str, object] | None
    """Further effects; missing names stay as they are."""


def wire_fields(given: StreamFields) -> dict[str, object]:
    """Return the fields as spelled on the wire: ``class`` is a keyword in Python."""
    return {"class" if name == "stream_class" else name: value for name, value in given.items()}
