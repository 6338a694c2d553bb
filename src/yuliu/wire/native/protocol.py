"""Protocol of one connection: the messages that are in order, for each context. A table of states, as in h11.

Whatever bytes come, in whatever order, :meth:`ServerProtocol.receive` gives a message that is in order, an error to be
sent, or nothing; and the server cannot say what would be out of order, such as sound after ``cancelled``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import structs

from yuliu.errors import InvalidRequest
from yuliu.wire.native.decode import context_of, parse_message, parse_object
from yuliu.wire.native.encode import message_text, sound_bytes
from yuliu.wire.native.messages import (
    Cancel,
    CancelAck,
    Close,
    Config,
    Continued,
    Done,
    Draining,
    End,
    Failure,
    Flush,
    Ping,
    PlaybackPosition,
    Pong,
    Resume,
    Start,
    Started,
    TextDelta,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.wire.native.messages import ClientMessage, ServerMessage

MAX_CONTEXTS = 8
"""Contexts that may be open on one connection."""
MAX_OVER = 16
"""Contexts that are over and still known: what crosses their end on its way is not an error."""
MAX_REFUSED = 100
"""Messages that may be wrong before the connection is closed."""


class ContextState(Enum):
    """State of a context."""

    UNKNOWN = "unknown"
    OPEN = "open"
    """Text may come."""
    ENDED = "ended"
    """No more text may come; sound may."""
    OVER = "over"
    """``done`` was sent, or an error that ends it. The listener may still be hearing it."""


class _No(Enum):
    """Reasons why a message is out of order."""

    UNKNOWN = ("unknown_context", "no such context is open")
    IN_USE = ("context_in_use", "a context of this name is open already")
    ENDED = ("text_ended", "the text of this context was ended")
    CROSSED = ("", "")
    """It is in order to have sent it: the end of the context came across. Nothing is done about it."""


_FOR_TEXT = (TextDelta, Flush, Config, End)
_CLIENT: Mapping[ContextState, Mapping[type, ContextState | _No]] = {
    ContextState.UNKNOWN: {
        Start: ContextState.OPEN,
        Resume: ContextState.OPEN,
        **dict.fromkeys((*_FOR_TEXT, PlaybackPosition, Cancel), _No.UNKNOWN),
    },
    ContextState.OPEN: {
        **dict.fromkeys((TextDelta, Flush, Config, PlaybackPosition), ContextState.OPEN),
        End: ContextState.ENDED,
        Cancel: ContextState.UNKNOWN,
        **dict.fromkeys((Start, Resume), _No.IN_USE),
    },
    ContextState.ENDED: {
        PlaybackPosition: ContextState.ENDED,
        Cancel: ContextState.UNKNOWN,
        **dict.fromkeys(_FOR_TEXT, _No.ENDED),
        **dict.fromkeys((Start, Resume), _No.IN_USE),
    },
    ContextState.OVER: {
        Start: ContextState.OPEN,
        Resume: ContextState.OPEN,
        PlaybackPosition: ContextState.OVER,
        Cancel: ContextState.UNKNOWN,
        **dict.fromkeys(_FOR_TEXT, _No.CROSSED),
    },
}
"""Next state, or refusal, for a message from the client, by the state of its context."""


class OutOfOrder(RuntimeError):
    """The server was about to send a message that is out of order: a fault of the server."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Answer to a message that is out of order."""

    failure: Failure
    close: Close | None = None
    """Code with which the connection is closed after it, if at all."""


@dataclass(slots=True)
class _Context:
    state: ContextState
    tag: int
    cancelling: bool = False


class ServerProtocol:
    """State of one connection, as far as it decides which messages are in order."""

    def __init__(self) -> None:
        self._contexts: dict[str, _Context] = {}
        self._num_tags = 0
        self._num_refused = 0

    @property
    def num_open(self) -> int:
        """Contexts that are not over."""
        return sum(each.state is not ContextState.OVER for each in self._contexts.values())

    def state(self, context: str) -> ContextState:
        """Return the state of a context."""
        known = self._contexts.get(context)
        return ContextState.UNKNOWN if known is None or known.cancelling else known.state

    def receive(self, frame: str | bytes) -> ClientMessage | Refused | None:
        """Return the message or the refusal of a frame; None if nothing is to be done.

        After a :class:`~yuliu.wire.native.messages.Cancel` was returned, ``CancelAck`` has to be the next that is sent
        of its context, before anything else is received.
        """
        if isinstance(frame, bytes):
            return self._refused("invalid_message", "only the server sends binary frames")
        try:
            message = parse_message(frame)
        except InvalidRequest as error:
            return self._refused(error.code, error.message, param=error.param, fields=_fields_of(frame))
        return message if isinstance(message, Ping) else self._of_context(message)

    def send(self, message: ServerMessage) -> str:
        """Return the frame of a message.

        Raises:
            OutOfOrder: It may not be said now.
        """
        match message:
            case Pong() | Draining():
                return message_text(message)
            case Failure() if message.context is None or message.ends == "nothing":
                return message_text(message)
            case Failure(context=str(name)) if self.state(name) in _NOT_OPEN:  # it was refused before it was a context
                return message_text(message)
        assert message.context is not None  # noqa: S101 - sorted out above
        context = self._speaking(message.context, message)
        match message:
            case Started() | Continued():
                message = structs.replace(message, tag=context.tag)
                if isinstance(message, Continued) and message.text_ended:
                    context.state = ContextState.ENDED
            case CancelAck():
                del self._contexts[message.context]
            case Done() | Failure():
                context.state = ContextState.OVER
                self._forget_old()
        return message_text(message)

    def all_was_sent(self, context: str) -> None:
        """Note that a resumed stream is over and completely received: only the answer to a cancel may follow."""
        self._contexts[context].state = ContextState.OVER
        self._forget_old()

    def send_sound(self, context: str, offset: int, data: bytes) -> bytes:
        """Return the frame of a piece of sound.

        Raises:
            OutOfOrder: The context is over, or was cancelled.
        """
        return sound_bytes(self._speaking(context, None).tag, offset, data)

    def _speaking(self, name: str, message: ServerMessage | None) -> _Context:
        """Return a context for which messages are in order."""
        context = self._contexts.get(name)
        cancelled = isinstance(message, CancelAck)
        if context is None or context.cancelling != cancelled or (context.state is ContextState.OVER and not cancelled):
            raise OutOfOrder(f"{type(message).__name__} of a context that is {self.state(name).value}")
        return context

    def _of_context(self, message: ClientMessage) -> ClientMessage | Refused | None:
        assert not isinstance(message, Ping)  # noqa: S101 - it has none
        name = message.context
        to = _CLIENT[self.state(name)][type(message)]
        if to is _No.CROSSED:
            return None
        if isinstance(to, _No):
            code, reason = to.value
            return self._refused(code, reason, fields={"context": name}, ends=to is _No.UNKNOWN)
        if isinstance(message, Start | Resume):
            if self.num_open >= MAX_CONTEXTS:
                reason = f"{MAX_CONTEXTS} contexts are open, which is the limit; end one, or open another connection"
                return self._refused("too_many_contexts", reason, fields={"context": name}, ends=True)
            self._num_tags += 1
            self._contexts.pop(name, None)
            self._contexts[name] = _Context(ContextState.OPEN, self._num_tags)
        elif isinstance(message, Cancel):
            self._contexts[name].cancelling = True
        else:
            assert isinstance(to, ContextState)  # noqa: S101 - as the table says
            self._contexts[name].state = to
        return message

    def _refused(
        self,
        code: str,
        reason: str,
        *,
        param: str | None = None,
        fields: Mapping[str, object] | None = None,
        ends: bool = False,
    ) -> Refused:
        """Return the answer to a message that is out of order. A wrong ``start`` opens nothing."""
        fields = fields or {}
        context = context_of(fields)
        never_was = fields.get("type") in ("start", "resume") and self.state(context or "") in _NOT_OPEN
        ends = context is not None and (ends or never_was)
        self._num_refused += 1
        close = Close.POLICY if self._num_refused > MAX_REFUSED else None
        what: dict[str, object] = {"ends": "connection" if close else "context" if ends else "nothing"}
        failure = Failure(code, reason, context=context, param=param)
        return Refused(structs.replace(failure, **what), close)

    def _forget_old(self) -> None:
        over = [name for name, context in self._contexts.items() if context.state is ContextState.OVER]
        for name in over[:-MAX_OVER]:
            del self._contexts[name]


_NOT_OPEN = (ContextState.UNKNOWN, ContextState.OVER)


def _fields_of(frame: str) -> Mapping[str, object]:
    """Return the fields of a message that was refused; none if it is no JSON."""
    try:
        return parse_object(frame)
    except InvalidRequest:
        return {}
