"""Values that flow through Yuliu: frozen, plain, with units in their names.

Offsets into text count Unicode code points (as ``len`` and slicing of ``str`` do), never bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]
    """Audio: float32, mono, shape ``(num_samples,)``, range [-1, 1], at the sample rate stated beside it."""

__all__ = (
    "MAX_PAUSE_S",
    "MAX_SPEED",
    "MIN_SPEED",
    "AudioFormat",
    "Boundary",
    "Cancelled",
    "Chunk",
    "Coverage",
    "Ending",
    "Failed",
    "Finished",
    "Heard",
    "Hint",
    "Lang",
    "Mark",
    "Respelling",
    "Segment",
    "Skipped",
    "Span",
    "SpeakOptions",
    "StreamClass",
    "Style",
    "Timing",
)

Lang: TypeAlias = str
"""Own tag of a registered language (``zh``). :func:`yuliu.text.languages.parse_language` finds it by any BCP 47 tag."""


class StreamClass(Enum):
    """Urgency of a stream."""

    INTERACTIVE = "interactive"
    """A person waits for the answer: first audio at once and a short lead, since it may be interrupted."""
    STANDARD = "standard"
    """A person listens to all of it."""
    BULK = "bulk"
    """Nobody listens yet: a file is made with the capacity that other streams leave."""


MAX_PAUSE_S = 10.0
"""Maximum silence between two sounds, for any number of requested pauses."""


class Span(NamedTuple):
    """The half-open range ``[start, end)`` of code points in a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """Layout of samples."""

    sample_rate: int
    """Samples per second, in Hz."""
    num_channels: int = 1


class Boundary(Enum):
    """End of a segment; determines the pause after it."""

    NONE = "none"
    """Cut inside a clause (language switch, length limit), without a pause."""
    CLAUSE = "clause"
    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"


@dataclass(frozen=True, slots=True)
class Style:
    """Prosody of a stretch of text, in addition to the options of the stream. Neutral by default."""

    rate: float = 1.0
    """Factor on the speed of the stream; the product stays within its limits."""
    pitch_semitones: float = 0.0
    """Change of pitch, in semitones, added to that of the stream; the sum stays within its limits."""
    volume_db: float = 0.0
    """Gain, in dB, added to that of the stream. A positive gain is followed by a limiter."""
    lang: Lang | None = None
    """Language of all of the text, if the voice speaks it; None decides by script."""
    voice: str | None = None
    """Name of another loaded voice; None is the voice of the stream."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Instruction on how to read a place in the text; never cut in two."""

    span: Span
    """Place in the text that it applies to."""
    kind: Literal["phonemes", "say_as", "spoken"]
    """``phonemes``: say ``value``, in the alphabet ``detail`` (``pinyin``, ``ipa``, ``x-misaki``); ``say_as``: read the
    text as a ``value`` (``date``, ``time``, ``telephone``, ``characters``, ``digits``, ``cardinal``, ``ordinal``,
    ``unit``) in the format ``detail`` (``mdy``), if any; ``spoken``: read ``value`` instead of the text."""
    value: str
    detail: str = ""


class Respelling(Protocol):
    """Replacement of words in spoken forms."""

    def respell(self, spoken: str, lang: Lang) -> Sequence[tuple[Span, str]]:
        """Return places in a spoken form of one language and the words to say there, in order, without overlap."""
        ...


@dataclass(frozen=True, slots=True)
class Mark:
    """Named place in the text, set by the writer to learn when it is reached."""

    name: str
    offset: int
    """Place in the source, in code points."""
    time_s: float | None = None
    """Time at which it is reached, in seconds from the start of the stream's audio; None until it is spoken."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Piece of text that is spoken as one unit: a clause, a sentence, or the part of it in one language."""

    text: str
    """Clean text. Character ``i`` stands at source offset ``origin[i]``."""
    source: Span
    """Place in the text of the stream, in code points since its beginning. Segments do not overlap; text between two of
    them was skipped by a rule of the reader."""
    origin: tuple[int, ...]
    """Source offset of each character of ``text``: as long as ``text``, not decreasing."""
    boundary: Boundary
    lang: Lang | None = None
    """Language, once the segment has been passed to a front end; None while it may be mixed."""
    hints: tuple[Hint, ...] = ()
    """Hints in order, without overlap; their spans count in ``text``."""
    style: Style = Style()
    pause_s: float | None = None
    """Requested pause after the segment, in seconds; None takes that of the boundary."""
    marks: tuple[Mark, ...] = ()
    """Named places in the segment, in order."""
    respelling: Respelling | None = None
    """Replacements in the spoken form of the segment."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Piece of the source that is not spoken, and the rule for it."""

    source: Span
    rule: str
    """Stable name of the rule, e.g. ``punctuation``, ``symbol``, ``language_not_spoken``, ``markdown``,
    ``code_block``."""


MIN_SPEED, MAX_SPEED = 0.25, 4.0
"""Range of the pace; 1 is that of the voice."""


@dataclass(frozen=True, slots=True)
class SpeakOptions:
    """Options of an engine for a stream."""

    speed: float = 1.0
    """1.0 is the pace of the voice, 2.0 is twice as fast; 0.25 to 4.0."""
    seed: int = 0
    """Seed of random draws in an engine: the same text, voice, options and seed give the same samples."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Time of a Mandarin character or an English word in the audio."""

    source: Span
    """Source of the word; "$100" is one span for several words."""
    text: str
    """Spoken character or word."""
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Chunk:
    """Piece of audio. Chunks come in order, without gaps."""

    samples: Samples
    sample_rate: int
    """In Hz, the same for all chunks of a stream."""
    start_s: float
    """Position of its first sample in the audio of the stream, in seconds."""
    source: Span
    """Source of its segment."""
    timings: tuple[Timing, ...] = ()
    """Timings of the segment, on its first chunk only, in seconds from the start of the stream's audio."""
    marks: tuple[Mark, ...] = ()
    """Marks of the segment, on its first chunk only. Marks after the last sound come on a chunk without samples."""
    lead_in: bool = False
    """True if the chunk is the silence that ``lead_in_ms`` requests before the first sound; its ``source`` is empty."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Outcome of each source character: the three lists tile the source without gap or overlap."""

    spoken: tuple[Span, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    failed: tuple[Span, ...] = ()
    """Spans not spoken because the stream failed or was cancelled."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Ending of a stream whose text was all spoken or skipped by a named rule."""

    coverage: Coverage
    audio_s: float
    warnings: tuple[str, ...] = ()
    """Kinds of markup that could not be followed, each reported once, without any of the text."""
    degraded: bool = False
    """True if the stream was spoken in whole sentences and larger steps, because of the backlog at its admission."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Ending of a stream that an error ended early."""

    code: str
    message: str
    coverage: Coverage = field(default_factory=Coverage)
    audio_s: float = 0.0
    degraded: bool = False
    """As in :class:`Finished`."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Position of the listener of a stream."""

    heard_s: float
    """Position in the audio of the stream, in seconds; never more than was delivered."""
    source_end: int
    """End of the last character or word that had begun to sound: the listener knows of ``text[:source_end]``. In a very
    long stream whose positions are not reported it may be some words too early."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Ending of a stream that the caller ended early."""

    coverage: Coverage = field(default_factory=Coverage)
    audio_s: float = 0.0
    """Length of the audio that had been made, in seconds."""
    delivered_s: float = 0.0
    """Length of the audio that the reader had taken, in seconds."""
    heard: Heard | None = None
    """Position of the listener; None if it was never reported."""
    degraded: bool = False
    """As in :class:`Finished`."""


Ending = Finished | Failed | Cancelled
"""Ending of a stream, exactly one of three."""
