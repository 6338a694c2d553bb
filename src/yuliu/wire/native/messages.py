"""Messages of client and server: frozen values. Messages with a ``context`` are about that one alone.

Places in the text count code points from the beginning of the context's text; times are milliseconds of its sound.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, Struct, field

from yuliu.errors import InvalidRequest, Overloaded
from yuliu.text.lexicon import Entry
from yuliu.types import Coverage, Lang, Mark, Skipped, Span, Timing
from yuliu.wire.faults import must
from yuliu.wire.synthesis_options import SynthesisOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yuliu.errors import YuliuError
    from yuliu.types import Ending

DEFAULT_RESUME_S = 10.0
"""Time for which a stream waits for its client after a drop, where nothing else is asked for."""

MAX_RESUME_S = 60.0
MAX_PING_ID_CHARACTERS = 64
MAX_WHOLE = 2**53
"""Larger numbers are not whole in every JSON reader."""
MAX_MS = 1e9

CONTEXT_PATTERN, _STREAM_PATTERN = (rf"^[A-Za-z0-9._:-]{{1,{length}}}$(?!\n)" for length in (64, 128))
"""``(?!\\n)``, since Python's ``$`` matches before a newline at the end, too."""
ContextName = Annotated[str, must("1 to 64 of A-Z a-z 0-9 . _ : -", pattern=CONTEXT_PATTERN)]
"""Name of a context, chosen by the client."""
StreamName = Annotated[str, must("the id that 'started' told", pattern=_STREAM_PATTERN)]
Position = Annotated[float, Meta(ge=0, le=MAX_MS)]
"""Place in the sound of a context, milliseconds."""
Count = Annotated[int, Meta(ge=0, le=MAX_WHOLE)]
_NUMBER_ID = Meta(ge=-MAX_WHOLE, le=MAX_WHOLE)
PingId = Annotated[
    Annotated[str, Meta(max_length=MAX_PING_ID_CHARACTERS)]
    | Annotated[int, _NUMBER_ID]
    | Annotated[float, _NUMBER_ID]
    | None,
    must(f"a number or a string of at most {MAX_PING_ID_CHARACTERS}"),
]
Ends = Literal["nothing", "context", "connection"]
"""Scope that an error ends."""


class Close(IntEnum):
    """Codes with which a connection ends (RFC 6455, 7.4)."""

    NORMAL = 1000
    """The client closed the connection."""
    GOING_AWAY = 1001
    """The server stops; streams have been finished, or their time was up."""
    POLICY = 1008
    """Too many messages could not be understood."""
    TOO_BIG = 1009
    """A message was too long."""
    FAULT = 1011
    """A fault of the server, or no answer to its pings."""
    IDLE = 4000
    """No context was open, and nothing came for too long."""


# What clients say.


class ClientStruct(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """A message of a client as it goes over the wire. Unknown fields are refused."""


class OutputFormat(Struct, frozen=True):
    """Format of the sound."""

    format: str = "pcm"
    sample_rate: int | None = None
    """Hz; None is the voice's, or the nearest that the format can carry."""
    channels: int = 1
    kbps: int | None = None
    """Bit rate in thousands of bits a second; None is one at which speech sounds clean."""


class Start(Struct, frozen=True):
    """Open a context."""

    context: str
    voice: str | None = None
    sound: OutputFormat = OutputFormat()
    speed: float = 1.0
    manner: SynthesisOptions = SynthesisOptions()
    lexicon: tuple[str, ...] = ()
    lexicon_entries: tuple[Entry, ...] = ()
    timings: bool = True
    """True if ``timing`` messages are wanted."""
    times: bool = False
    """True if ``done`` is to report the time to the first sound."""
    resume_s: float = DEFAULT_RESUME_S
    """Time for which the stream waits after a drop, seconds; 0 ends it at once."""

    def __repr__(self) -> str:
        """Return the message without its entries, which are text of the user."""
        return f"Start(context={self.context!r}, voice={self.voice!r}, sound={self.sound!r})"


class Resume(ClientStruct, frozen=True, tag="resume"):
    """Go on with a stream whose connection was lost."""

    context: ContextName
    """Name of the context on this connection."""
    stream: StreamName
    """Id from ``started``."""
    offset: Count
    """Bytes of sound that were received."""
    seq: Count
    """Messages of the stream that were received: the number of the next one."""


class TextDelta(ClientStruct, frozen=True, tag="text"):
    """More text, cut anywhere."""

    context: ContextName
    """Name of the context."""
    text: str
    """The text."""

    def __repr__(self) -> str:
        """Return the message without its text."""
        return f"TextDelta(context={self.context!r})"


class Flush(ClientStruct, frozen=True, tag="flush"):
    """Speak the pending text now, without waiting for more."""

    context: ContextName
    """Name of the context."""


class Config(Struct, frozen=True):
    """Change chunking or speech settings from now on."""

    context: str
    speed: float | None = None
    chunking: object = None
    """Input of :func:`yuliu.presets.parse_chunking`; None leaves it as it is."""
    language: Lang | Literal["auto"] | None = None
    """Language in which what follows is read; ``auto`` decides by script, None leaves it as it is."""
    effects: dict[str, Any] = {}
    """Fields of :class:`yuliu.audio.chain.Effects` that are to change, and their new values."""


class PlaybackPosition(ClientStruct, frozen=True, tag="playback"):
    """Report the playback position of the listener."""

    context: ContextName
    """Name of the context."""
    position_ms: Position
    """Playback position, milliseconds."""


class Cancel(ClientStruct, frozen=True, tag="cancel"):
    """Stop at once."""

    context: ContextName
    """Name of the context."""
    position_ms: Position | None = None
    """Playback position, milliseconds, if known."""


class End(ClientStruct, frozen=True, tag="end"):
    """No more text will come."""

    context: ContextName
    """Name of the context."""


class Ping(ClientStruct, frozen=True, tag="ping"):
    """Ask for the server's clock."""

    id: PingId = None
    """Comes back as it is."""


ForText = TextDelta | Flush | Config | End
"""Messages about the text of a context."""
OfContext = ForText | PlaybackPosition | Cancel
ClientMessage = Start | Resume | OfContext | Ping


# Messages of the server. ``seq`` numbers the messages of one stream, sound not counted, from 0 on.


class ServerStruct(Struct, frozen=True, tag_field="type"):
    """A message of the server as it goes over the wire."""


class Started(ServerStruct, frozen=True, tag="started"):
    """The stream was accepted. Its audio carries this tag."""

    context: str = ""
    """Name of the context."""
    seq: int = 0
    """Number of the message."""
    stream: str = ""
    """Id of the stream, for ``resume`` and for feedback."""
    tag: int = 0
    """Number that the frames of its sound carry on this connection."""
    voice: str = ""
    """Name of the voice."""
    format: str = "pcm"
    """Format of the sound."""
    media_type: str = ""
    """Media type of the sound."""
    sample_rate: int = 0
    """Sample rate as sent, Hz."""
    channels: int = 1
    """Number of channels as sent."""
    mode: str = "normal"
    """``throughput`` if it is spoken in whole sentences and larger steps, because many streams were waiting."""
    resume_s: float = 0.0
    """Time for which the stream waits after a drop, seconds."""


class Continued(ServerStruct, frozen=True, tag="continued"):
    """A stream goes on, on this connection, from where the client said. Has no ``seq``: it is not repeated."""

    context: str
    """Name of the context on this connection."""
    stream: str
    """Id of the stream."""
    tag: int = 0
    """Number that the frames of its sound carry on this connection."""
    offset: int = 0
    """Place of the next byte of sound."""
    num_characters: int = 0
    """Number of characters that had arrived: the rest of the text is to be sent again."""
    text_ended: bool = False
    """True if ``end`` had arrived."""


class SegmentBegun(ServerStruct, frozen=True, tag="segment"):
    """The sound that follows speaks this part of the text."""

    context: str = ""
    """Name of the context."""
    seq: int = 0
    """Number of the message."""
    start: int = 0
    """Place of the part in the text."""
    end: int = 0
    """Place behind the part."""
    at_ms: float = 0.0
    """Place in the sound where it begins, milliseconds."""
    spoken: str = ""
    """The words that are said."""

    @property
    def source(self) -> Span:
        """Place of the part in the text."""
        return Span(self.start, self.end)

    def __repr__(self) -> str:
        """Return the message without its words."""
        return f"SegmentBegun(context={self.context!r}, seq={self.seq}, source={self.source}, at_ms={self.at_ms})"


TimingRow = tuple[str, float, float, int, int]
"""The character or word, its start and end in milliseconds, and its place in the text."""


class Timings(ServerStruct, frozen=True, tag="timing"):
    """Times at which the characters or words of the segment sound."""

    context: str = ""
    """Name of the context."""
    seq: int = 0
    """Number of the message."""
    rows: tuple[TimingRow, ...] = field(default=(), name="timings")
    """The character or word, its start and end in milliseconds, and the start and end of its place in the text."""

    @property
    def timings(self) -> tuple[Timing, ...]:
        """The times, in seconds."""
        return tuple(
            Timing(Span(start, end), text, from_ms / 1000, to_ms / 1000)
            for text, from_ms, to_ms, start, end in self.rows
        )

    def __repr__(self) -> str:
        """Return the message without its words."""
        return f"Timings(context={self.context!r}, seq={self.seq}, {len(self.rows)} rows)"


def timing_rows(timings: Iterable[Timing]) -> tuple[TimingRow, ...]:
    """Return times as they go over the wire, to a tenth of a millisecond."""
    return tuple(
        (each.text, round(1000 * each.start_s, 1), round(1000 * each.end_s, 1), *each.source) for each in timings
    )


MarkRow = tuple[str, float | None, int]
"""Name, time in milliseconds if the mark is reached, and place in the text."""


class Marks(ServerStruct, frozen=True, tag="marks"):
    """Times at which named places of the text are reached."""

    context: str = ""
    """Name of the context."""
    seq: int = 0
    """Number of the message."""
    rows: tuple[MarkRow, ...] = field(default=(), name="marks")
    """Name of the place, its time in milliseconds or null, and its offset in the text."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The places, with times in seconds."""
        return tuple(Mark(name, at, None if at_ms is None else at_ms / 1000) for name, at_ms, at in self.rows)


def mark_rows(marks: Iterable[Mark]) -> tuple[MarkRow, ...]:
    """Return marks as they go over the wire, to a tenth of a millisecond."""
    return tuple(
        (each.name, None if each.time_s is None else round(1000 * each.time_s, 1), each.offset) for each in marks
    )


class Stalled(ServerStruct, frozen=True, tag="stalled"):
    """A listener that plays in real time hears nothing from now on, until ``resumed``."""

    context: str = ""
    """Name of the context."""
    seq: int = 0
    """Number of the message."""
    audio_ms: float = 0.0
    """Length of the sound so far, milliseconds."""
    waits_for: str = "text"
    """``text``: the writer has not sent enough to go on; ``sound``: the server is behind."""


class Resumed(ServerStruct, frozen=True, tag="resumed"):
    """There is sound again."""

    context: str = ""
    """Name of the context."""
    seq: int = 0
    """Number of the message."""
    audio_ms: float = 0.0
    """Length of the sound so far, milliseconds."""


class Times(Struct, frozen=True):
    """Parts of the time to the first sound, milliseconds. The first two are moments on the clock of ``pong``."""

    opened_ms: float
    """Moment at which the stream was opened."""
    encoded_ms: float
    """Moment at which the first sound was ready to be sent."""
    wait_for_text_ms: float
    """Time until there was enough text."""
    queue_ms: float
    """Time until a worker took the segment."""
    front_end_ms: float
    """Time for reading the text."""
    plan_ms: float
    """Time for planning the segment."""
    first_step_ms: float
    """Time of the first step."""
    transport_ms: float
    """Time until the sound was taken to be encoded."""
    encode_ms: float
    """Time for encoding. The seven parts add up to the time between the two moments."""


SkippedRow = tuple[int, int, str]
"""Start and end of a place in the text, and the rule by which it was not spoken."""


def skipped_rows(coverage: Coverage) -> tuple[SkippedRow, ...]:
    """Return the skipped places as they go over the wire."""
    return tuple((*each.source, each.rule) for each in coverage.skipped)


def _coverage(spoken: tuple[Span, ...], skipped: tuple[SkippedRow, ...], failed: tuple[Span, ...]) -> Coverage:
    return Coverage(spoken, tuple(Skipped(Span(start, end), rule) for start, end, rule in skipped), failed)


class Done(ServerStruct, frozen=True, tag="done"):
    """All text was spoken or skipped by a named rule, all sound was sent."""

    context: str = ""
    """Name of the context."""
    seq: int = 0
    """Number of the message."""
    spoken: tuple[Span, ...] = ()
    """Places of the text that were spoken."""
    skipped: tuple[SkippedRow, ...] = ()
    """Places that were not spoken, with the rules that say so."""
    failed: tuple[Span, ...] = ()
    """Places that could not be spoken."""
    audio_ms: float = 0.0
    """Length of the sound, milliseconds."""
    num_bytes: int = 0
    """Number of bytes of sound, as sent."""
    num_characters: int = 0
    """Number of characters of the text."""
    degraded: bool = False
    """True if it was spoken in whole sentences and larger steps, because many streams were waiting."""
    warnings: tuple[str, ...] = ()
    """Kinds of markup that could not be followed."""
    times: Times | None = None
    """Parts of the time to the first sound, where ``start`` asked for them and there was sound."""

    @property
    def coverage(self) -> Coverage:
        """The three lists of places."""
        return _coverage(self.spoken, self.skipped, self.failed)


class CancelAck(ServerStruct, frozen=True, tag="cancelled"):
    """The answer to ``cancel``: nothing is sent for the context after it."""

    context: str = ""
    """Name of the context."""
    seq: int = 0
    """Number of the message."""
    spoken: tuple[Span, ...] = ()
    """Places of the text that were spoken."""
    skipped: tuple[SkippedRow, ...] = ()
    """Places that were not spoken, with the rules that say so."""
    failed: tuple[Span, ...] = ()
    """Places that were not spoken because of the cancel."""
    audio_ms: float = 0.0
    """Length of the sound that had been made, milliseconds."""
    delivered_ms: float = 0.0
    """Length of the sound that had been sent, milliseconds."""
    num_bytes: int = 0
    """Number of bytes of sound, as sent."""
    heard_ms: float | None = None
    """Place in the sound that the listener had heard; left out if no position was reported."""
    heard_source_end: int | None = None
    """Place in the text: ``text[:heard_source_end]`` is what the listener knows of."""

    @property
    def coverage(self) -> Coverage:
        """The three lists of places."""
        return _coverage(self.spoken, self.skipped, self.failed)


class Failure(ServerStruct, frozen=True, tag="error"):
    """Something was refused or failed. The message never holds text."""

    code: str
    """Stable code of the error."""
    message: str
    """Fault and remedy, for people."""
    ends: Ends = "nothing"
    """Scope that the error ends."""
    context: str | None = None
    """Name of the context, if the error is about one."""
    seq: int | None = None
    """Number of the message, given where it is the end of a stream."""
    param: str | None = None
    """The field at fault."""
    retry_after_s: float | None = None
    """Delay after which a retry is likely to succeed, seconds."""
    spoken: tuple[Span, ...] | None = None
    """Places of the text that were spoken, where a stream failed."""
    skipped: tuple[SkippedRow, ...] | None = None
    """Places that were not spoken, with the rules that say so."""
    failed: tuple[Span, ...] | None = None
    """Places that could not be spoken."""
    audio_ms: float | None = None
    """Length of the sound that was made, milliseconds."""

    @property
    def coverage(self) -> Coverage | None:
        """The three lists of places, where a stream failed."""
        return None if self.skipped is None else _coverage(self.spoken or (), self.skipped, self.failed or ())


class Pong(ServerStruct, frozen=True, tag="pong"):
    """The server's clock, milliseconds, monotonic."""

    id: str | int | float | None
    """The id of the ``ping``."""
    t_receive_ms: float
    """Moment at which the ping was received."""
    t_send_ms: float
    """Moment at which this was sent."""


class Draining(ServerStruct, frozen=True, tag="draining"):
    """The server stops: no further context is opened, and those that are open should end their text."""

    time_s: float
    """Time that they may take, seconds."""


Told = Started | SegmentBegun | Timings | Marks | Stalled | Resumed | Done | Failure
"""Messages that are kept for a client that comes back."""
ServerMessage = Told | Continued | CancelAck | Pong | Draining


def failure_of(
    error: YuliuError, *, ends: Ends = "nothing", context: str | None = None, ending: Ending | None = None
) -> Failure:
    """Return the message about an error.

    Args:
        error: The error.
        ends: Scope that it ends.
        context: Context that it is about.
        ending: End of the stream, if there was one.
    """
    return Failure(
        error.code,
        error.message,
        ends,
        context,
        param=error.param if isinstance(error, InvalidRequest) else None,
        retry_after_s=error.retry_after_s if isinstance(error, Overloaded) else None,
        spoken=ending.coverage.spoken if ending else None,
        skipped=skipped_rows(ending.coverage) if ending else None,
        failed=ending.coverage.failed if ending else None,
        audio_ms=1000 * ending.audio_s if ending else None,
    )
