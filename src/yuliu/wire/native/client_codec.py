"""The client's half of the wire: its messages as JSON, and those of the server, read back."""

from __future__ import annotations

import json

import msgspec

from yuliu.errors import InvalidRequest
from yuliu.wire.native.decode import KINDS
from yuliu.wire.native.encode import TYPES
from yuliu.wire.native.messages import ServerMessage

_REPLY: msgspec.json.Decoder[ServerMessage] = msgspec.json.Decoder(ServerMessage)
_TYPES = frozenset(TYPES.values())


class _Typed(msgspec.Struct):
    """The one field of a message that says what it is."""

    type: object = None


_TYPE = msgspec.json.Decoder(_Typed)


def request_text(kind: str, context: str | None = None, **values: object) -> str:
    """Return a message of a client as it goes over the wire; None is left out.

    Raises:
        InvalidRequest: The message has no such field, or a value is none of JSON's.
    """
    given = {"context": context, **values}
    found = {name: value for name, value in given.items() if value is not None}
    unknown = [name for name in found if name not in KINDS[kind]]
    if unknown:
        raise InvalidRequest(f"{kind!r} has no field {unknown[0]!r}; it has {', '.join(KINDS[kind])}", param=unknown[0])
    try:
        return json.dumps({"type": kind, **found}, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidRequest(f"a value of {kind!r} cannot be written as JSON") from None


def parse_reply(text: str) -> ServerMessage | None:
    """Return a message of the server; None if this version does not know it. Fields that it does not know are left.

    Raises:
        ValueError: It is no message.
    """
    try:
        return _REPLY.decode(text)
    except msgspec.ValidationError as error:
        kind = _TYPE.decode(text).type
        if isinstance(kind, str) and kind in _TYPES:
            raise ValueError(f"{kind!r} is not as it should be: {error}") from None
        return None
    except RecursionError:
        raise ValueError("nested too deeply") from None
