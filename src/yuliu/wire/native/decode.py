"""What a client sent, read: JSON objects with a ``type``. Strict: what is not known is refused, never guessed at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.types import MAX_SPEED, MIN_SPEED
from yuliu.wire.effects import EFFECT_FIELDS, parse_effects
from yuliu.wire.lexicons import parse_entries, parse_names
from yuliu.wire.native.messages import (
    DEFAULT_RESUME_S,
    Cancel,
    Config,
    End,
    Flush,
    OutputFormat,
    Ping,
    PlaybackPosition,
    Resume,
    Start,
    TextDelta,
)
from yuliu.wire.strict_json import check_flag, check_number, check_text, check_whole, read_object
from yuliu.wire.synthesis_options import FIELDS as SYNTHESIS_FIELDS
from yuliu.wire.synthesis_options import parse_language, parse_synthesis_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.wire.native.messages import ClientMessage

    Fields = Mapping[str, object]

MAX_MESSAGE_BYTES = 131_072
"""A longer message ends the connection: it is not read."""
MAX_RESUME_S = 60.0
MAX_PING_ID_CHARACTERS = 64
_MAX_WHOLE = 2**53
"""Larger numbers are not whole in every JSON reader."""
_MAX_MS = 1e9
_CONTEXT = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)
_STREAM = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)


def parse_object(text: str) -> dict[str, object]:
    """The JSON object in a message.

    Raises:
        InvalidRequest: It is none, or one that two readers would read differently.
    """
    return read_object(text, what="the message")


def context_of(fields: Fields) -> str | None:
    """The context that a message is about, if it says so rightly."""
    context = fields.get("context")
    return context if isinstance(context, str) and _CONTEXT.fullmatch(context) else None


def parse_message(fields: Fields) -> ClientMessage:
    """The message that an object is.

    Raises:
        InvalidRequest: It is none; ``param`` names the field at fault.
    """
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in _READERS:
        raise InvalidRequest(f"'type' must be one of {', '.join(_READERS)}", param="type")
    known, read = _READERS[kind]
    if not {"type", *known} >= set(fields):
        raise InvalidRequest(f"{kind!r} has fields that are not known; known are {', '.join(known)}")
    return read(fields)


def _context(fields: Fields) -> str:
    context = context_of(fields)
    if context is None:
        raise InvalidRequest("'context' must be 1 to 64 of A-Z a-z 0-9 . _ : -", param="context")
    return context


def _start(fields: Fields) -> Start:
    return Start(
        context=_context(fields),
        voice=_name(fields, "voice"),
        sound=parse_sound(fields),
        speed=_number(fields, "speed", MIN_SPEED, MAX_SPEED, default=1.0),
        manner=parse_synthesis_options(fields, {}),
        lexicon=parse_names(fields.get("lexicon")),
        lexicon_entries=parse_entries(fields.get("lexicon_entries")),
        timings=_flag(fields, "timings", default=True),
        times=_flag(fields, "times", default=False),
        resume_s=_number(fields, "resume_s", 0, MAX_RESUME_S, default=DEFAULT_RESUME_S),
    )


def parse_sound(fields: Fields) -> OutputFormat:
    """How sound is to be sent; whether the format exists and can be had so is for the encoders to say.

    Raises:
        InvalidRequest: A field is not of its kind.
    """
    return OutputFormat(
        format=_name(fields, "format") or "pcm",
        sample_rate=_whole(fields, "sample_rate", 1, 192_000) if fields.get("sample_rate") is not None else None,
        channels=_whole(fields, "channels", 1, 2) if fields.get("channels") is not None else 1,
        kbps=_whole(fields, "kbps", 1, 1_000) if fields.get("kbps") is not None else None,
    )


def _resume(fields: Fields) -> Resume:
    stream = fields.get("stream")
    if not isinstance(stream, str) or not _STREAM.fullmatch(stream):
        raise InvalidRequest("'stream' must be the id that 'started' told", param="stream")
    offset, seq = _whole(fields, "offset", 0, _MAX_WHOLE), _whole(fields, "seq", 0, _MAX_WHOLE)
    return Resume(_context(fields), stream, offset, seq)


def _text(fields: Fields) -> TextDelta:
    return TextDelta(_context(fields), _string(fields, "text"))


def _config(fields: Fields) -> Config:
    speed = fields.get("speed")
    wanted = None if speed is None else _number(fields, "speed", MIN_SPEED, MAX_SPEED, default=1.0)
    cut, language, effects = fields.get("chunking"), parse_language(fields), parse_effects(fields)
    return Config(_context(fields), wanted, cut, language, effects)


def _playback(fields: Fields) -> PlaybackPosition:
    if fields.get("position_ms") is None:
        raise InvalidRequest("'position_ms' is missing", param="position_ms")
    return PlaybackPosition(_context(fields), _number(fields, "position_ms", 0, _MAX_MS, default=0.0))


def _cancel(fields: Fields) -> Cancel:
    known = fields.get("position_ms") is not None
    return Cancel(_context(fields), _number(fields, "position_ms", 0, _MAX_MS, default=0.0) if known else None)


def _ping(fields: Fields) -> Ping:
    given = fields.get("id")
    if isinstance(given, str) and len(given) <= MAX_PING_ID_CHARACTERS:
        return Ping(check_text(given, "id"))
    if given is None or (isinstance(given, int | float) and not isinstance(given, bool) and abs(given) <= _MAX_WHOLE):
        return Ping(given)
    raise InvalidRequest(f"'id' must be a number or a string of at most {MAX_PING_ID_CHARACTERS}", param="id")


def _string(fields: Fields, param: str) -> str:
    return check_text(fields.get(param), param)


def _name(fields: Fields, param: str) -> str | None:
    """A string; None if it is left out, null or empty."""
    return None if fields.get(param) is None else _string(fields, param) or None


def _number(fields: Fields, param: str, low: float, high: float, *, default: float) -> float:
    value = fields.get(param)
    return default if value is None else check_number(value, param, low, high)


def _whole(fields: Fields, param: str, low: int, high: int) -> int:
    return check_whole(fields.get(param), param, low, high)


def _flag(fields: Fields, param: str, *, default: bool) -> bool:
    value = fields.get(param)
    return default if value is None else check_flag(value, param)


SOUND_FIELDS = ("format", "sample_rate", "channels", "kbps")
START_FIELDS = (
    *("context", "voice", *SOUND_FIELDS, "speed", *SYNTHESIS_FIELDS),
    *("lexicon", "lexicon_entries", "timings", "times", "resume_s"),
)
_READERS: Mapping[str, tuple[tuple[str, ...], Callable[[Fields], ClientMessage]]] = {
    "start": (START_FIELDS, _start),
    "text": (("context", "text"), _text),
    "flush": (("context",), lambda fields: Flush(_context(fields))),
    "config": (("context", "speed", "chunking", "language", *EFFECT_FIELDS), _config),
    "playback": (("context", "position_ms"), _playback),
    "cancel": (("context", "position_ms"), _cancel),
    "end": (("context",), lambda fields: End(_context(fields))),
    "resume": (("context", "stream", "offset", "seq"), _resume),
    "ping": (("id",), _ping),
}
"""Fields and reader of each message that clients may send."""
KINDS: Mapping[str, tuple[str, ...]] = {kind: known for kind, (known, _) in _READERS.items()}
"""Fields of each message that clients may send."""
