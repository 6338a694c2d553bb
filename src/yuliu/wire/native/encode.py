"""What the server says, as frames: messages as JSON in ASCII, sound as binary frames with a head of 16 bytes."""

from __future__ import annotations

import json
import struct
from dataclasses import fields
from typing import TYPE_CHECKING, NamedTuple

from yuliu.types import Coverage, Mark, Span, Timing
from yuliu.wire.native.messages import (
    CancelAck,
    Continued,
    Done,
    Draining,
    Failure,
    Marks,
    Pong,
    Resumed,
    SegmentBegun,
    Stalled,
    Started,
    Times,
    Timings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.wire.native.messages import ServerMessage

SOUND = 1
"""The kind of binary frame that carries sound: its first byte."""
_HEAD = struct.Struct("!BxxxIQ")
HEAD_NUM_BYTES = _HEAD.size
MAX_SOUND_BYTES = 16_384
"""Sound in one frame."""
TYPES: Mapping[type[ServerMessage], str] = {
    Started: "started",
    Continued: "continued",
    SegmentBegun: "segment",
    Timings: "timing",
    Marks: "marks",
    Stalled: "stalled",
    Resumed: "resumed",
    Done: "done",
    CancelAck: "cancelled",
    Failure: "error",
    Pong: "pong",
    Draining: "draining",
}
"""The ``type`` of each message."""


class SoundFrame(NamedTuple):
    """Sound of one context."""

    tag: int
    """That of the context's ``started`` or ``continued``."""
    offset: int
    """Place of its first byte in the sound of the stream."""
    data: bytes


def message_text(message: ServerMessage) -> str:
    """A message as it goes over the wire; what is None is left out."""
    values: dict[str, object] = {"type": TYPES[type(message)]}
    for each in fields(message):
        value = getattr(message, each.name)
        if value is not None:
            values |= _plain(each.name, value)
    return json.dumps(values, ensure_ascii=True, separators=(",", ":"))


def sound_bytes(tag: int, offset: int, data: bytes) -> bytes:
    """A frame of sound."""
    return _HEAD.pack(SOUND, tag, offset) + data


def parse_sound_frame(frame: bytes) -> SoundFrame:
    """The sound in a binary frame.

    Raises:
        ValueError: It is no frame of sound.
    """
    if len(frame) < HEAD_NUM_BYTES:
        raise ValueError(f"a frame of sound has at least {HEAD_NUM_BYTES} bytes, not {len(frame)}")
    kind, tag, offset = _HEAD.unpack_from(frame)
    if kind != SOUND:
        raise ValueError(f"there are no frames of kind {kind}")
    return SoundFrame(tag, offset, frame[HEAD_NUM_BYTES:])


def _plain(name: str, value: object) -> dict[str, object]:
    match value:
        case Coverage():
            return {
                "spoken": value.spoken,
                "skipped": [[*skip.source, skip.rule] for skip in value.skipped],
                "failed": value.failed,
            }
        case Span():
            return {"start": value.start, "end": value.end}
        case Times():
            return {name: {each.name: round(getattr(value, each.name), 3) for each in fields(value)}}
        case float() if name.endswith("_ms"):
            return {name: round(value, 3)}
        case tuple():
            return {name: [_item(each) for each in value]}
        case _:
            return {name: value}


def _item(value: object) -> object:
    match value:
        case Timing():
            times_ms = [round(1000 * value.start_s, 1), round(1000 * value.end_s, 1)]
            return [value.text, *times_ms, *value.source]
        case Mark():
            return [value.name, None if value.time_s is None else round(1000 * value.time_s, 1), value.offset]
        case _:
            return value
