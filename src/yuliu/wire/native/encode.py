"""Messages of the server as frames: JSON in ASCII, and sound as binary frames with a head of 16 bytes."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, NamedTuple, get_args

from msgspec import Struct

from yuliu.wire.native.messages import ServerMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

SOUND = 1
"""First byte of binary frames that carry sound."""
_HEAD = struct.Struct("!BxxxIQ")
HEAD_NUM_BYTES = _HEAD.size
MAX_SOUND_BYTES = 16_384
"""Maximum bytes of sound in one frame."""
TYPES: Mapping[type[ServerMessage], str] = {each: str(each.__struct_config__.tag) for each in get_args(ServerMessage)}
"""The ``type`` of each message."""


class SoundFrame(NamedTuple):
    """Sound of one context."""

    tag: int
    """Tag from the context's ``started`` or ``continued``."""
    offset: int
    """Place of its first byte in the sound of the stream."""
    data: bytes


def message_text(message: ServerMessage) -> str:
    """Return a message as it goes over the wire, in ASCII; None is left out, milliseconds have three decimals."""
    values = {"type": TYPES[type(message)]} | _values(message)
    return json.dumps(values, ensure_ascii=True, separators=(",", ":"))


def _values(struct: Struct) -> dict[str, object]:
    found = zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True)
    pairs = ((name, getattr(struct, field)) for name, field in found)
    return {name: _plain(name, value) for name, value in pairs if value is not None}


def _plain(name: str, value: object) -> object:
    if isinstance(value, Struct):
        return _values(value)
    return round(value, 3) if isinstance(value, float) and name.endswith("_ms") else value


def sound_bytes(tag: int, offset: int, data: bytes) -> bytes:
    """Return a frame of sound."""
    return _HEAD.pack(SOUND, tag, offset) + data


def parse_sound_frame(frame: bytes) -> SoundFrame:
    """Return the sound in a binary frame.

    Raises:
        ValueError: It is no frame of sound.
    """
    if len(frame) < HEAD_NUM_BYTES:
        raise ValueError(f"a frame of sound has at least {HEAD_NUM_BYTES} bytes, not {len(frame)}")
    kind, tag, offset = _HEAD.unpack_from(frame)
    if kind != SOUND:
        raise ValueError(f"there are no frames of kind {kind}")
    return SoundFrame(tag, offset, frame[HEAD_NUM_BYTES:])
