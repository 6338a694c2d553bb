"""The values that flow through Yuliu: frozen, plain, with units in their names.

Offsets into text count Unicode code points (as ``len`` and slicing of ``str`` do), never bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]
    """Sound: float32, mono, shape ``(num_samples,)``, range [-1, 1], at the sample rate told beside it."""

Lang = Literal["zh", "en"]
"""A language as the front ends know it (BCP 47 primary tags)."""


class StreamClass(Enum):
    """How urgent a stream is."""

    INTERACTIVE = "interactive"
    """Somebody waits for the answer: first sound at once, little made ahead, since it may be interrupted."""
    STANDARD = "standard"
    """Somebody listens, and will hear all of it."""
    BULK = "bulk"
    """Nobody listens yet: a file is made from what the others leave."""


MAX_PAUSE_S = 10.0
"""Silence between two sounds is never longer, however many pauses were asked for."""


class Span(NamedTuple):
    """The half-open range ``[start, end)`` of code points in a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """How samples are to be read."""

    sample_rate: int
    """Samples per second, Hz."""
    num_channels: int = 1


class Boundary(Enum):
    """What ends a segment; decides the pause after it."""

    NONE = "none"
    """Cut inside a clause (language switch, length limit): no pause."""
    CLAUSE = "clause"
    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"


@dataclass(frozen=True, slots=True)
class Style:
    """How a stretch of text wants to be spoken, beside the options of the stream. Neutral by default."""

    rate: float = 1.0
    """Multiplies the stream's speed, which stays within its limits."""
    pitch_semitones: float = 0.0
    """Higher or lower, semitones; added to the stream's own, which stays within its limits."""
    volume_db: float = 0.0
    """Louder or softer, dB; added to the stream's own. What is made louder goes through a limiter."""
    lang: Lang | None = None
    """Reads all of the text as this language, where the voice speaks it; None decides by script."""
    voice: str | None = None
    """Name of another loaded voice; None is the stream's own."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What the writer said of how a place in the text is to be read. Never cut in two."""

    span: Span
    """Place in the text that carries it."""
    kind: Literal["phonemes", "say_as", "spoken"]
    """``phonemes``: say ``value``, in the alphabet ``detail`` (``pinyin``, ``ipa``, ``x-misaki``); ``say_as``: read the
    text as a ``value`` (``date``, ``time``, ``telephone``, ``characters``, ``digits``, ``cardinal``, ``ordinal``,
    ``unit``), ``detail`` being its format (``mdy``), if any; ``spoken``: read it as if ``value`` stood there."""
    value: str
    detail: str = ""


class Respelling(Protocol):
    """Words of spoken forms that are to be said otherwise."""

    def respell(self, spoken: str, lang: Lang) -> Sequence[tuple[Span, str]]:
        """Places in a spoken form in one language and the words to be said there, in order and without overlap."""
        ...


@dataclass(frozen=True, slots=True)
class Mark:
    """A named place in the text, set by its writer to learn when it is reached."""

    name: str
    offset: int
    """Place in the source, code points."""
    time_s: float | None = None
    """When it is reached, seconds from the start of the stream's audio; None while not spoken."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text to be spoken as one unit: a clause, a sentence, or one language's part of it."""

    text: str
    """The clean text. Character ``i`` stands at source offset ``origin[i]``."""
    source: Span
    """Its place in the text of the stream, in code points since the stream began. Segments do not overlap; what lies
    between two of them was skipped by a rule of the reader."""
    origin: tuple[int, ...]
    """Source offset of each character of ``text``; same length as ``text``, not decreasing."""
    boundary: Boundary
    lang: Lang | None = None
    """Set when the segment has been given to a front end; None while it may be mixed."""
    hints: tuple[Hint, ...] = ()
    """In order, without overlap; their spans count in ``text``."""
    style: Style = Style()
    pause_s: float | None = None
    """The pause after it that the writer asked for, seconds; None takes the boundary's."""
    marks: tuple[Mark, ...] = ()
    """Named places in it, in order."""
    respelling: Respelling | None = None
    """What of its spoken form is to be said otherwise."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A piece of the source that is not spoken, and the name of the rule that says so."""

    source: Span
    rule: str
    """Stable name, e.g. ``punctuation``, ``symbol``, ``language_not_spoken``, ``markdown``,
    ``code_block``."""


MIN_SPEED, MAX_SPEED = 0.25, 4.0
"""Pace that can be asked for; 1 is the voice's own."""


@dataclass(frozen=True, slots=True)
class SpeakOptions:
    """How a stream is to be spoken."""

    speed: float = 1.0
    """1.0 is the voice's own pace, 2.0 twice as fast; 0.25 to 4.0."""
    seed: int = 0
    """Fixes what an engine draws at random: the same text, voice, options and seed give the same samples."""


@dataclass(frozen=True, slots=True)
class Timing:
    """When a Mandarin character or an English word sounds."""

    source: Span
    """The source it speaks for; "$100" is one span however many words it becomes."""
    text: str
    """What is said: the character, or the word."""
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of audio, in order and without gaps between one chunk and the next."""

    samples: Samples
    sample_rate: int
    """Hz."""
    start_s: float
    """Place of its first sample in the audio of the stream, in seconds."""
    source: Span
    """Source of the segment that it speaks."""
    timings: tuple[Timing, ...] = ()
    """Timings of the segment, on its first chunk only; seconds count from the start of the stream's audio."""
    marks: tuple[Mark, ...] = ()
    """Named places in the segment, on its first chunk only. Marks after the last sound come on a chunk without samples.
    """
    lead_in: bool = False
    """Whether it is the silence before the first sound that ``lead_in_ms`` asks for; its ``source`` is empty."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of each source character: the three lists tile the source without gap or overlap."""

    spoken: tuple[Span, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    failed: tuple[Span, ...] = ()
    """Not spoken because the stream failed or was cancelled before."""


@dataclass(frozen=True, slots=True)
class Finished:
    """All text was spoken or skipped by a named rule."""

    coverage: Coverage
    audio_s: float
    warnings: tuple[str, ...] = ()
    """What of the markup could not be followed, each kind told once, without any of the text."""
    degraded: bool = False
    """Whether it was spoken in whole sentences and larger steps, since much was waiting when it was admitted."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The stream ended early through an error."""

    code: str
    message: str
    coverage: Coverage = field(default_factory=Coverage)
    audio_s: float = 0.0
    degraded: bool = False
    """As that of :class:`Finished`."""


@dataclass(frozen=True, slots=True)
class Heard:
    """How far the listener of a stream has come."""

    heard_s: float
    """Place in the audio of the stream, seconds; never more than was delivered."""
    source_end: int
    """Place in the text behind the last character or word that had begun to sound: ``text[:source_end]`` is what the
    listener knows of. In very long streams whose positions are not reported it may be some words earlier."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The caller ended the stream early."""

    coverage: Coverage = field(default_factory=Coverage)
    audio_s: float = 0.0
    """Length of what had been made, seconds."""
    delivered_s: float = 0.0
    """Length of what had been taken by the reader, seconds."""
    heard: Heard | None = None
    """How far the listener had come; None if no position was ever told."""
    degraded: bool = False
    """As that of :class:`Finished`."""


Ending = Finished | Failed | Cancelled
"""A stream ends in exactly one of these."""
