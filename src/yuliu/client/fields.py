"""The names that ``stream``, ``speak`` and ``configure`` of a client take, as the wire has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class StartFields(TypedDict, total=False):
    """How a stream is to be spoken and sent. What is left out has the server's default."""

    voice: str | None
    """A voice of the server."""
    format: str
    """``pcm`` (the default), ``wav``, ``mp3``, ``opus``, ``aac``, ``flac``, ``webm``, ``mp4``, ``mulaw``, ``alaw``."""
    sample_rate: int | None
    """Hz; None is the voice's."""
    channels: int
    """2 is the same sound on both sides."""
    kbps: int | None
    """Thousands of bits a second."""
    speed: float
    """2 is twice as fast."""
    preset: str | None
    """Name of a preset; ``dialogue`` suits an assistant."""
    stream_class: str | None
    """``interactive``, ``standard`` or ``bulk``; else the preset's."""
    chunking: str | Mapping[str, object] | None
    """How text is cut; else the preset's."""
    max_lead_s: float | None
    """How far ahead of its listener sound is made, seconds; else the preset's."""
    weight: float
    """How much the stream counts among those of its class."""
    lead_in_ms: float
    """Silence that is sent at once, milliseconds."""
    seed: int
    """Fixes what a voice draws at random."""
    language: str | None
    """``zh`` or ``en`` reads all of the text as this language; else its script decides."""
    volume_db: float
    """Louder or softer, -60 to 20 dB; what is made louder goes through a limiter."""
    pitch_semitones: float
    """Higher or lower, -12 to 12."""
    effects: Mapping[str, object] | None
    """What else is done to the sound: ``level``, ``compress``, ``highpass``, ``denoise`` and ``limit``, each true or
    false; ``compress`` may be an object."""
    lexicon: str | Sequence[str] | None
    """Lexicons of the server."""
    lexicon_entries: Sequence[Mapping[str, object]] | None
    """Entries for this stream alone."""
    timings: bool
    """Whether times of words are wanted; they are by default."""
    times: bool
    """Whether the ending is to tell what the time to the first sound went into."""
    resume_s: float
    """How long the stream waits after a drop, seconds."""


class ConfigFields(TypedDict, total=False):
    """What can be changed while a stream is open. What is left out stays as it is."""

    chunking: str | Mapping[str, object] | None
    """How text is cut."""
    speed: float | None
    """2 is twice as fast."""
    language: str | None
    """``zh`` or ``en`` reads what follows as this language; ``auto`` lets its script decide."""
    volume_db: float | None
    """Louder or softer, -60 to 20 dB."""
    pitch_semitones: float | None
    """Higher or lower, -12 to 12."""
    effects: Mapping[str, object] | None
    """What else is done to the sound; names that are left out stay as they are."""


def wire_fields(given: StartFields) -> dict[str, object]:
    """The fields as the wire spells them: ``class`` cannot be a name of Python's."""
    return {"class" if name == "stream_class" else name: value for name, value in given.items()}
