"""What client and server say to each other: frozen values. Messages with a ``context`` are about that one alone.

Places in the text count code points from the beginning of the context's text; times are milliseconds of its sound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

from yuliu.errors import InvalidRequest, Overloaded
from yuliu.types import Coverage, Span
from yuliu.wire.synthesis_options import SynthesisOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.errors import YuliuError
    from yuliu.text.lexicon import Entry
    from yuliu.types import Ending, Lang, Mark, Timing

DEFAULT_RESUME_S = 10.0
"""How long a stream waits for its client after a drop, where nothing else is asked for."""

NOWHERE = Span(0, 0)

Ends = Literal["nothing", "context", "connection"]
"""What an error is the end of."""


class Close(IntEnum):
    """Codes with which a connection ends (RFC 6455, 7.4)."""

    NORMAL = 1000
    """The client wanted it."""
    GOING_AWAY = 1001
    """The server stops; streams have been finished, or their time was up."""
    POLICY = 1008
    """Too many messages could not be understood."""
    TOO_BIG = 1009
    """A message was longer than is read."""
    FAULT = 1011
    """A fault of the server's, or no answer to its pings."""
    IDLE = 4000
    """No context was open, and nothing came for too long."""


# What clients say.


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """How sound is to be sent."""

    format: str = "pcm"
    sample_rate: int | None = None
    """Hz; None is the voice's, or the nearest that the format can carry."""
    channels: int = 1
    kbps: int | None = None
    """Thousands of bits a second; None is one at which speech sounds clean."""


@dataclass(frozen=True, slots=True)
class Start:
    """Open a context."""

    context: str
    voice: str | None = None
    sound: OutputFormat = OutputFormat()
    speed: float = 1.0
    manner: SynthesisOptions = field(default_factory=SynthesisOptions)
    lexicon: tuple[str, ...] = ()
    lexicon_entries: tuple[Entry, ...] = field(default=(), repr=False)
    timings: bool = True
    """Whether ``timing`` messages are wanted."""
    times: bool = False
    """Whether ``done`` is to tell when the first sound was made."""
    resume_s: float = DEFAULT_RESUME_S
    """How long the stream waits after a drop, seconds; 0 ends it at once."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with a stream whose connection was lost."""

    context: str
    """Its name on this connection."""
    stream: str
    """The id that ``started`` told."""
    offset: int
    """Bytes of sound that were received."""
    seq: int
    """Messages of the stream that were received: the number of the next one."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text, cut anywhere."""

    context: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Flush:
    """Speak what has come as it is, without waiting for what may follow."""

    context: str


@dataclass(frozen=True, slots=True)
class Config:
    """Cut or speak otherwise from now on."""

    context: str
    speed: float | None = None
    chunking: object = None
    """A plain value that is not checked yet; None leaves it as it is."""
    language: Lang | Literal["auto"] | None = None
    """Reads what follows as this language; ``auto`` decides by script, None leaves it as it is."""
    effects: Mapping[str, Any] = field(default_factory=dict)
    """Fields of :class:`yuliu.audio.chain.Effects` that are to change, and their new values."""


@dataclass(frozen=True, slots=True)
class PlaybackPosition:
    """How much the listener has heard."""

    context: str
    position_ms: float


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop at once."""

    context: str
    position_ms: float | None = None
    """How much the listener has heard, if that is known."""


@dataclass(frozen=True, slots=True)
class End:
    """No more text will come."""

    context: str


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks for the server's clock."""

    id: str | float | None = None
    """Comes back as it is."""


ForText = TextDelta | Flush | Config | End
"""What is about the text of a context."""
OfContext = ForText | PlaybackPosition | Cancel
ClientMessage = Start | Resume | OfContext | Ping


# What the server says. ``seq`` numbers the messages of one stream, sound not counted, from 0 on.


@dataclass(frozen=True, slots=True)
class Started:
    """The stream is carried. Its sound comes with this tag."""

    context: str = ""
    seq: int = 0
    stream: str = ""
    """For ``resume``, and for complaints."""
    tag: int = 0
    voice: str = ""
    format: str = "pcm"
    media_type: str = ""
    sample_rate: int = 0
    """Hz, as sent."""
    channels: int = 1
    mode: str = "normal"
    """``throughput`` if it is spoken in whole sentences and larger steps, since much was waiting."""
    resume_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Continued:
    """A stream goes on, on this connection, from where the client said. Has no ``seq``: it is not repeated."""

    context: str
    stream: str
    tag: int = 0
    offset: int = 0
    """Of the next byte of sound."""
    num_characters: int = 0
    """How much of the text had arrived: the rest of it is to be sent again."""
    text_ended: bool = False
    """Whether ``end`` had arrived."""


@dataclass(frozen=True, slots=True)
class SegmentBegun:
    """The sound that follows speaks this part of the text."""

    context: str = ""
    seq: int = 0
    source: Span = NOWHERE
    at_ms: float = 0.0
    """Where it begins."""
    spoken: str = field(default="", repr=False)
    """What is said, in words."""


@dataclass(frozen=True, slots=True)
class Timings:
    """When the characters or words of the segment sound."""

    context: str = ""
    seq: int = 0
    timings: tuple[Timing, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Marks:
    """When named places of the text are reached."""

    context: str = ""
    seq: int = 0
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Stalled:
    """A listener who plays in real time hears nothing from now on, until ``resumed``."""

    context: str = ""
    seq: int = 0
    audio_ms: float = 0.0
    """How much sound there was."""
    waits_for: str = "text"
    """``text``: the writer has not sent enough to go on; ``sound``: the server is behind."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """There is sound again."""

    context: str = ""
    seq: int = 0
    audio_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Times:
    """What the time to the first sound went into, milliseconds. The first two are moments on the clock of ``pong``."""

    opened_ms: float
    """The stream was opened."""
    encoded_ms: float
    """The first sound was ready to be sent."""
    wait_for_text_ms: float
    queue_ms: float
    front_end_ms: float
    plan_ms: float
    first_step_ms: float
    transport_ms: float
    """Until the sound was taken to be encoded."""
    encode_ms: float
    """The seven parts add up to the time between the two moments."""


@dataclass(frozen=True, slots=True)
class Done:
    """All text was spoken or skipped by a named rule, all sound was sent."""

    context: str = ""
    seq: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    audio_ms: float = 0.0
    num_bytes: int = 0
    """Of sound, as sent."""
    num_characters: int = 0
    degraded: bool = False
    warnings: tuple[str, ...] = ()
    times: Times | None = None
    """Where ``start`` asked for it, and there was sound."""


@dataclass(frozen=True, slots=True)
class CancelAck:
    """The answer to ``cancel``: nothing comes of the context after it."""

    context: str = ""
    seq: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    audio_ms: float = 0.0
    """How much had been made."""
    delivered_ms: float = 0.0
    """How much had been sent."""
    num_bytes: int = 0
    """Of sound, as sent."""
    heard_ms: float | None = None
    """How much the listener had heard; None if no position was ever told."""
    heard_source_end: int | None = None
    """``text[:heard_source_end]`` is what the listener knows of."""


@dataclass(frozen=True, slots=True)
class Failure:
    """``error``: something was refused or failed. Its message never holds text."""

    code: str
    message: str
    ends: Ends = "nothing"
    context: str | None = None
    seq: int | None = None
    """Given where it is the end of a stream, so that it is told once."""
    param: str | None = None
    """The field at fault."""
    retry_after_s: float | None = None
    coverage: Coverage | None = None
    """What became of the text, where a stream failed."""
    audio_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Pong:
    """The server's clock, milliseconds, monotonic."""

    id: str | float | None
    t_receive_ms: float
    """When the ping was received."""
    t_send_ms: float
    """When this was sent."""


@dataclass(frozen=True, slots=True)
class Draining:
    """The server stops: no further context is opened, and those that are open should end their text."""

    time_s: float
    """How long they may take."""


Told = Started | SegmentBegun | Timings | Marks | Stalled | Resumed | Done | Failure
"""What is kept for a client that comes back."""
ServerMessage = Told | Continued | CancelAck | Pong | Draining


def failure_of(
    error: YuliuError, *, ends: Ends = "nothing", context: str | None = None, ending: Ending | None = None
) -> Failure:
    """What a client is told of an error.

    Args:
        error: The error.
        ends: What it is the end of.
        context: What it is about.
        ending: How the stream ended by it, if there was one.
    """
    return Failure(
        error.code,
        error.message,
        ends,
        context,
        param=error.param if isinstance(error, InvalidRequest) else None,
        retry_after_s=error.retry_after_s if isinstance(error, Overloaded) else None,
        coverage=ending.coverage if ending else None,
        audio_ms=1000 * ending.audio_s if ending else None,
    )
