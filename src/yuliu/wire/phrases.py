"""Phrases that are spoken ahead, over HTTP (``/v1/phrases``) and in a file: what may stand in them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.types import MAX_SPEED, MIN_SPEED
from yuliu.wire.strict_json import MEDIA_TYPE, check_number, check_text, media_type, read_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_PHRASES = 1_000
"""In all, and in one request."""
MAX_PHRASE_CHARACTERS = 300
MAX_TOTAL_CHARACTERS = 20_000
"""Of all phrases together: about an hour of sound."""
MAX_BODY_BYTES = 262_144
_FIELDS = ("phrases", "voice", "speed")


@dataclass(frozen=True, slots=True)
class PhrasesRequest:
    """Texts to be spoken ahead."""

    phrases: tuple[str, ...]
    voice: str | None = None
    speed: float = 1.0


def parse_phrases(body: bytes, content_type: str | None) -> PhrasesRequest:
    """A request from its body.

    Raises:
        InvalidRequest: It is none; the message says why, and ``param`` names the field if one is to blame.
    """
    if media_type(content_type) != MEDIA_TYPE:
        raise InvalidRequest("send the phrases as JSON, with the header 'Content-Type: application/json'")
    value = read_object(body, what="the request body")
    if not set(value) <= set(_FIELDS):
        raise InvalidRequest(f"the body must be an object of {', '.join(_FIELDS)}, and nothing else")
    voice, speed = value.get("voice"), value.get("speed")
    return PhrasesRequest(
        _checked(value.get("phrases")),
        None if voice is None else check_text(voice, "voice") or None,
        1.0 if speed is None else check_number(speed, "speed", MIN_SPEED, MAX_SPEED),
    )


def parse_phrase_file(content: str, *, where: str) -> tuple[str, ...]:
    """The phrases in a file: one a line; empty lines and those that begin with ``#`` are none.

    Raises:
        InvalidRequest: There are too many, or one is too long; the message names the file and the line.
    """
    lines = {number: line.strip() for number, line in enumerate(content.removeprefix("\ufeff").splitlines(), 1)}
    found = {number: line for number, line in lines.items() if line and not line.startswith("#")}
    for number, line in found.items():
        if len(line) > MAX_PHRASE_CHARACTERS:
            message = f"{where}, line {number}: a phrase must have at most {MAX_PHRASE_CHARACTERS} characters"
            raise InvalidRequest(message, param="phrases")
    phrases = tuple(dict.fromkeys(found.values()))
    check_total(phrases)
    return phrases


def check_total(phrases: Iterable[str]) -> None:
    """Refuse more phrases than are kept.

    Raises:
        InvalidRequest: There are more, or they are longer.
    """
    lengths = [len(phrase) for phrase in phrases]
    if len(lengths) > MAX_PHRASES:
        raise InvalidRequest(f"at most {MAX_PHRASES:,} phrases are kept", param="phrases")
    if sum(lengths) > MAX_TOTAL_CHARACTERS:
        message = f"all phrases together must have at most {MAX_TOTAL_CHARACTERS:,} characters"
        raise InvalidRequest(message, param="phrases")


def phrases_body(by_voice: Mapping[str, Sequence[str]]) -> bytes:
    """The list of phrases: texts and voices."""
    listed = [{"text": text, "voice": voice} for voice, texts in by_voice.items() for text in texts]
    return json.dumps({"phrases": listed}, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _checked(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidRequest("'phrases' must be a list of texts", param="phrases")
    if len(value) > MAX_PHRASES:
        raise InvalidRequest(f"at most {MAX_PHRASES:,} phrases are kept", param="phrases")
    for index, phrase in enumerate(value):
        if not isinstance(phrase, str) or not 0 < len(phrase.strip()) <= len(phrase) <= MAX_PHRASE_CHARACTERS:
            message = f"'phrases[{index}]' must be a text of 1 to {MAX_PHRASE_CHARACTERS} characters"
            raise InvalidRequest(message, param="phrases")
        check_text(phrase, "phrases", where=f"phrases[{index}]")
    return tuple(dict.fromkeys(value))
