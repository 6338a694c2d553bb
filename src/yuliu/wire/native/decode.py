"""Messages of clients, read: JSON objects with a ``type``. What is not known is refused, never guessed at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from yuliu.errors import InvalidRequest
from yuliu.wire.effects import EffectFields
from yuliu.wire.lexicons import entries_of, entry_names
from yuliu.wire.native.messages import (
    CONTEXT_PATTERN,
    DEFAULT_RESUME_S,
    MAX_RESUME_S,
    Cancel,
    Config,
    ContextName,
    End,
    Flush,
    OutputFormat,
    Ping,
    PlaybackPosition,
    Resume,
    Start,
    TextDelta,
)
from yuliu.wire.preset_fields import ChunkingField
from yuliu.wire.schema import Schema, field_names
from yuliu.wire.strict_json import read_json
from yuliu.wire.synthesis_options import LanguageField, SpeedField, SynthesisFields, parse_language

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.wire.native.messages import ClientMessage

MAX_MESSAGE_BYTES = 131_072
"""Maximum size of a message; a longer one ends the connection and is not read."""


class StartFields(
    SynthesisFields, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="start"
):
    """Open a context. A field that is left out or null has its usual value."""

    context: ContextName
    """Name of the context, which all its messages carry."""
    voice: str | None = None
    """Name of a voice; the default one if left out or empty."""
    format: str | None = None
    """Format of the sound; ``pcm`` if left out."""
    sample_rate: Annotated[int, Meta(ge=1, le=192_000)] | None = None
    """Sample rate, Hz; the voice's if left out, or the nearest that the format can carry."""
    channels: Annotated[int, Meta(ge=1, le=2)] | None = None
    """1, or 2 for the same sound on both sides."""
    kbps: Annotated[int, Meta(ge=1, le=1_000)] | None = None
    """Bit rate in thousands of bits a second; one at which speech sounds clean if left out."""
    speed: SpeedField | None = None
    """Pace; 1 is the voice's own."""
    timings: bool | None = None
    """``false`` if ``timing`` messages are not wanted."""
    times: bool | None = None
    """True if ``done`` is to report the parts of the time to the first sound."""
    resume_s: Annotated[float, Meta(ge=0, le=MAX_RESUME_S)] | None = None
    """Time for which the stream waits after a drop, seconds; 0 ends it at once."""

    def start(self) -> Start:
        """Return the message, with the usual values for what is left out.

        Raises:
            InvalidRequest: An entry of a lexicon is wrong; ``param`` names it.
        """
        return Start(
            self.context,
            self.voice or None,
            OutputFormat(self.format or "pcm", self.sample_rate, self.channels or 1, self.kbps),
            1.0 if self.speed is None else self.speed,
            self.manner({}),
            entry_names(self.lexicon),
            entries_of(self.lexicon_entries),
            self.timings is not False,
            self.times is True,
            DEFAULT_RESUME_S if self.resume_s is None else self.resume_s,
        )


class ConfigFields(EffectFields, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="config"):
    """Change chunking or speech settings from now on. A field that is omitted or null is unchanged."""

    context: ContextName
    """Name of the context."""
    speed: SpeedField | None = None
    """Pace; 1 is the voice's own."""
    chunking: ChunkingField | None = None
    """Rules for cutting text."""
    language: LanguageField | None = None
    """Language in which what follows is read; ``auto`` decides by script."""

    def config(self) -> Config:
        """Return the message.

        Raises:
            InvalidRequest: There is no such language.
        """
        return Config(self.context, self.speed, self.chunking, parse_language(self.language), self.changes())


ClientFields = StartFields | TextDelta | Flush | ConfigFields | PlaybackPosition | Cancel | End | Resume | Ping
"""Messages of clients as they go over the wire."""
KINDS: Mapping[str, tuple[str, ...]] = {
    str(each.__struct_config__.tag): field_names(each)[1:]
    for each in (StartFields, TextDelta, Flush, ConfigFields, PlaybackPosition, Cancel, End, Resume, Ping)
}
"""Fields of each message that clients may send."""
START_FIELDS = KINDS["start"]
_CONTEXT = re.compile(CONTEXT_PATTERN)
_MESSAGE: Schema[ClientFields] = Schema(ClientFields, what="the message")


def parse_message(data: str | bytes) -> ClientMessage:
    """Return the message in a frame.

    Raises:
        InvalidRequest: It is none; ``param`` names the field at fault.
    """
    return _value(_MESSAGE.decode(data))


def message_of(fields: Mapping[str, object]) -> ClientMessage:
    """Return the message that an object is.

    Raises:
        InvalidRequest: It is none; ``param`` names the field at fault.
    """
    return _value(_MESSAGE.convert(fields))


def parse_object(text: str) -> dict[str, object]:
    """Return the fields of a message, which are not checked yet.

    Raises:
        InvalidRequest: It is no JSON object, or one that two readers would read differently.
    """
    fields = read_json(text, what="the message")
    if not isinstance(fields, dict):
        raise InvalidRequest("the message must be a JSON object")
    return fields


def context_of(fields: Mapping[str, object]) -> str | None:
    """Return the context that a message is about, if it names one rightly."""
    context = fields.get("context")
    return context if isinstance(context, str) and _CONTEXT.search(context) else None


def _value(message: ClientFields) -> ClientMessage:
    match message:
        case StartFields():
            return message.start()
        case ConfigFields():
            return message.config()
    return message
