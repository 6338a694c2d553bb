"""API keys: their permissions, their file, and the headers that carry them.

A key is 256 random bits, so its plain SHA-256 is enough to keep: there are no guesses that a slow hash would make dear.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from typing import TYPE_CHECKING

from msgspec import Struct, field

from yuliu.errors import InvalidRequest
from yuliu.types import StreamClass
from yuliu.wire.problems import Problem
from yuliu.wire.schema import Schema
from yuliu.wire.strict_json import BOM, read_json
from yuliu.wire.synthesis_options import MAX_WEIGHT, MIN_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCOPES = ("speak", "phrases", "lexicons", "metrics")
"""Scopes of keys: speaking, the paths under /v1/phrases and /v1/lexicons, and metrics."""
PREFIX = "yuliu_"
"""Prefix of all keys, by which scanners for leaked secrets recognise them."""
SUBPROTOCOL = "yuliu"
"""Subprotocol of browsers, which can send no headers, beside ``yuliu.key.KEY``."""
MAX_KEYS = 1000
MAX_PER_MINUTE, MAX_STREAMS, MAX_CHARACTERS = 1_000_000, 100_000, 10**12
CLASSES = tuple(each.value for each in (StreamClass.BULK, StreamClass.STANDARD, StreamClass.INTERACTIVE))
"""The classes, least urgent first."""

_SUBPROTOCOL_KEY = "yuliu.key."
_MAX_SHOWN = 256
_VERSION = 1
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_BEARER = re.compile(r"bearer +(\S+) *", re.ASCII | re.IGNORECASE)


class ApiKey(Struct, frozen=True, forbid_unknown_fields=True):
    """A key as it is stored: its permissions, and a digest to recognise it."""

    name: str
    """1 to 64 of ``a-z 0-9 _ -``."""
    digest: str = field(name="sha256")
    """SHA-256 of the key, in hexadecimal digits."""
    scopes: tuple[str, ...] = ("speak",)
    """Scopes of the key, from :data:`SCOPES`."""
    default_class: str | None = None
    """The class of streams whose request names neither a class nor a preset."""
    highest_class: str | None = None
    """The most urgent class that it gets; more urgent streams are treated as this one. None: any."""
    weight: float = 1.0
    """Weight of its streams among those of their class, 0.1 to 10; a request can only lower it."""
    per_minute: int | None = None
    """Maximum requests a minute, and in a burst."""
    streams: int | None = None
    """Maximum concurrent streams."""
    characters: int | None = None
    """Maximum characters a day, by UTC."""
    created: str = ""
    """Day of creation, as 2026-01-31."""

    def __post_init__(self) -> None:
        """Refuse what no key may be.

        Raises:
            InvalidRequest: A field is wrong; ``param`` names it.
        """
        if not _NAME.fullmatch(self.name):
            raise InvalidRequest("names of keys are 1 to 64 of a-z 0-9 _ -, a letter or digit first", param="name")
        _check("sha256", bool(_DIGEST.fullmatch(self.digest)), "64 hexadecimal digits")
        known = bool(self.scopes) and set(self.scopes) <= set(SCOPES)
        _check("scopes", known, f"some of {', '.join(SCOPES)}")
        for name, given in (("default_class", self.default_class), ("highest_class", self.highest_class)):
            _check(name, given is None or given in CLASSES, f"one of {', '.join(CLASSES)}")
        _check("weight", MIN_WEIGHT <= self.weight <= MAX_WEIGHT, f"from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}")
        _check_count("per_minute", self.per_minute, MAX_PER_MINUTE)
        _check_count("streams", self.streams, MAX_STREAMS)
        _check_count("characters", self.characters, MAX_CHARACTERS)


def digest_of(shown: str) -> str:
    """Return the digest of a key."""
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()


def find_key(keys: Iterable[ApiKey], shown: str) -> ApiKey | None:
    """Return the key that was shown; None if there is none.

    All keys are compared, each in constant time, so that the time reveals nothing.
    """
    digest = digest_of(shown)
    found = None
    for key in keys:
        if hmac.compare_digest(key.digest, digest):
            found = key
    return found


def shown_key(headers: Mapping[str, str]) -> str | None:
    """Return the key that a request shows: ``Authorization: Bearer``, ``X-API-Key``, or a subprotocol of a WebSocket.

    Args:
        headers: By lower-case name.

    Returns:
        None if there is none, or none that could be one.
    """
    bearer = _BEARER.fullmatch(headers.get("authorization", ""))
    shown = bearer[1] if bearer else headers.get("x-api-key", "").strip()
    if not shown:
        offered = subprotocols(headers)
        shown = next((each[len(_SUBPROTOCOL_KEY) :] for each in offered if each.startswith(_SUBPROTOCOL_KEY)), "")
    return shown if 0 < len(shown) <= _MAX_SHOWN else None


def subprotocols(headers: Mapping[str, str]) -> list[str]:
    """Return the subprotocols that a WebSocket handshake offers."""
    return [each.strip() for each in headers.get("sec-websocket-protocol", "").split(",")]


def key_missing(*, was_shown: bool) -> Problem:
    """Return 401: no key, or an unknown one."""
    message = (
        "this key is not known, or was revoked"
        if was_shown
        else "this server requires an API key: 'Authorization: Bearer KEY', or 'X-API-Key: KEY'"
    )
    challenge = 'Bearer realm="yuliu"' + (', error="invalid_token"' if was_shown else "")
    return Problem(401, "invalid_api_key", message, challenge=challenge)


def scope_missing(scope: str) -> Problem:
    """Return 403: the key is known, but lacks the scope."""
    challenge = f'Bearer realm="yuliu", error="insufficient_scope", scope="{scope}"'
    return Problem(403, "insufficient_scope", f"this key has no scope {scope!r}", challenge=challenge)


def write_keys(keys: Iterable[ApiKey]) -> str:
    """Return the file of keys: JSON, one key a line."""
    rows = ",\n".join(json.dumps(_values(key)) for key in keys)
    return f'{{"version": {_VERSION}, "keys": [\n{rows}\n]}}\n'


def parse_keys(data: bytes) -> tuple[ApiKey, ...]:
    """Return the keys of a file.

    Raises:
        InvalidRequest: It is not such a file; the message tells what is wrong, and of which key.
    """
    content = read_json(data.removeprefix(BOM), what="the file of keys")
    rows = content.get("keys") if isinstance(content, dict) and content.get("version") == _VERSION else None
    if not isinstance(rows, list) or len(rows) > MAX_KEYS:
        raise InvalidRequest(
            f"the file of keys must be of version {_VERSION}, with a list of at most {MAX_KEYS} 'keys'"
        )
    keys = tuple(_parse(index, row) for index, row in enumerate(rows))
    if len({key.name for key in keys}) < len(keys) or len({key.digest for key in keys}) < len(keys):
        raise InvalidRequest("the file of keys holds two of the same name, or twice the same key")
    return keys


def _values(key: ApiKey) -> dict[str, object]:
    names = zip(key.__struct_encode_fields__, key.__struct_fields__, strict=True)
    found = {name: getattr(key, field) for name, field in names}
    return {name: value for name, value in found.items() if value is not None}


def _parse(index: int, row: object) -> ApiKey:
    given = {name: value for name, value in row.items() if value is not None} if isinstance(row, dict) else row
    try:
        return _KEY.convert(given)
    except InvalidRequest as error:
        raise InvalidRequest(f"key {index + 1} of the file of keys: {error.message}", param=error.param) from None


_KEY: Schema[ApiKey] = Schema(ApiKey, what="it")
"""Unknown fields are refused: they may be bounds that a newer version has set."""


def _check(param: str, holds: bool, wanted: str) -> None:
    if not holds:
        raise InvalidRequest(f"{param!r} must be {wanted}", param=param)


def _check_count(param: str, value: int | None, most: int) -> None:
    _check(param, value is None or 1 <= value <= most, f"from 1 to {most}")
