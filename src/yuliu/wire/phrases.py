"""Phrases that are spoken ahead, over HTTP (``/v1/phrases``) and in a file: what may stand in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from yuliu.errors import InvalidRequest
from yuliu.types import MAX_SPEED, MIN_SPEED
from yuliu.wire.faults import must
from yuliu.wire.response_bodies import ListedPhrase, PhraseList, json_body
from yuliu.wire.schema import Schema
from yuliu.wire.strict_json import MEDIA_TYPE, media_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_PHRASES = 1_000
"""In all, and in one request."""
MAX_PHRASE_CHARACTERS = 300
MAX_TOTAL_CHARACTERS = 20_000
"""Of all phrases together: about an hour of sound."""
MAX_BODY_BYTES = 262_144


Phrase = Annotated[
    str, must(f"a text of 1 to {MAX_PHRASE_CHARACTERS} characters", pattern=r"\S", max_length=MAX_PHRASE_CHARACTERS)
]
_LIST = must(f"a list of 1 to {MAX_PHRASES:,} texts")


class PhrasesRequest(Struct, frozen=True):
    """Texts to be spoken ahead, without duplicates."""

    phrases: tuple[str, ...]
    voice: str | None = None
    speed: float = 1.0


class PhrasesBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request to speak texts ahead."""

    phrases: Annotated[tuple[Phrase, ...], Meta(min_length=1, max_length=MAX_PHRASES)]
    """The texts."""
    voice: str | None = None
    """The voice that speaks them; the default one if left out, null or empty."""
    speed: Annotated[float, Meta(ge=MIN_SPEED, le=MAX_SPEED)] | None = None
    """Pace; 1 is the voice's own."""


_BODY: Schema[PhrasesBody] = Schema(PhrasesBody, what="the request body")


def parse_phrases(body: bytes, content_type: str | None) -> PhrasesRequest:
    """Return a request from its body, in which no phrase stands twice.

    Raises:
        InvalidRequest: It is none; the message says why, and ``param`` names the field if one is to blame.
    """
    if media_type(content_type) != MEDIA_TYPE:
        raise InvalidRequest("send the phrases as JSON, with the header 'Content-Type: application/json'")
    asked = _BODY.decode(body)
    return PhrasesRequest(tuple(dict.fromkeys(asked.phrases)), asked.voice or None, asked.speed or 1.0)


def parse_phrase_file(content: str, *, where: str) -> tuple[str, ...]:
    """Return the phrases in a file: one a line; empty lines and those that begin with ``#`` are none.

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
    """Return the list of phrases: texts and voices."""
    listed = (ListedPhrase(text, voice) for voice, texts in by_voice.items() for text in texts)
    return json_body(PhraseList(tuple(listed)))
