"""Bodies of JSON responses, declared once: written by their protocols, described by the API reference."""

from __future__ import annotations

import json
from typing import Literal

import msgspec
from msgspec import Struct

from yuliu.text.lexicon import Entry
from yuliu.wire.preset_fields import ChunkingFields, ClassField


class ModelEntry(Struct, frozen=True):
    """A name that requests may give as their model."""

    id: str
    """The name."""
    object: Literal["model"] = "model"
    """Kind of the object, as OpenAI tells it."""
    created: int = 0
    """Always 0."""
    owned_by: str = "yuliu"
    """Always ``yuliu``."""


class ModelList(Struct, frozen=True, kw_only=True):
    """OpenAI's list of models: names that stand for any voice, and each voice."""

    object: Literal["list"] = "list"
    """Kind of the object, as OpenAI tells it."""
    data: tuple[ModelEntry, ...]
    """The models."""


class ListedVoice(Struct, frozen=True):
    """A loaded voice."""

    id: str
    """Name of the voice."""
    name: str
    """The same."""
    languages: tuple[str, ...]
    """Languages that the voice speaks, as BCP 47 tags."""
    sample_rate: int
    """Sample rate of the voice, Hz."""
    default: bool = False
    """True for the voice that speaks where none is named."""


class VoiceList(Struct, frozen=True):
    """The loaded voices; bare names where the query asks for them."""

    voices: tuple[ListedVoice | str, ...]
    """The voices."""


class ListedPreset(Struct, frozen=True):
    """A preset, with the fields that a request may override."""

    name: str
    """Name of the preset."""
    description: str
    """Description for people."""
    first_packet_ms: float
    """Wanted time to the first sound, milliseconds."""
    stream_class: ClassField = msgspec.field(name="class")
    """Urgency of the streams."""
    chunking: ChunkingFields
    """Rules by which the text is cut."""
    workers: tuple[int, int] | Literal["all"]
    """Minimum and maximum of segments that are in work at a time."""
    queue: tuple[int, int] | Literal["memory"]
    """Minimum and maximum of segments that wait for that."""
    max_lead_s: float | None
    """Sound that is made ahead of the listener, seconds; null sets no bound."""


class PresetList(Struct, frozen=True):
    """The presets that requests may name."""

    presets: tuple[ListedPreset, ...]
    """The presets."""


class ListedPhrase(Struct, frozen=True):
    """A phrase that is rendered ahead of time."""

    text: str
    """The phrase."""
    voice: str
    """Name of the voice that speaks it."""


class PhraseList(Struct, frozen=True):
    """The phrases that are rendered ahead of time."""

    phrases: tuple[ListedPhrase, ...]
    """The phrases, by voice."""


class ListedLexicon(Struct, frozen=True):
    """A lexicon without its entries."""

    name: str
    """Name of the lexicon."""
    version: int
    """Version, which each change raises."""
    entries: int
    """Number of entries."""


class LexiconList(Struct, frozen=True):
    """The lexicons of the server."""

    lexicons: tuple[ListedLexicon, ...]
    """The lexicons."""


class LexiconBody(Struct, frozen=True):
    """A lexicon."""

    name: str
    """Name of the lexicon."""
    version: int
    """Version, which each change raises; also the ``ETag``."""
    entries: tuple[Entry, ...]
    """The entries; fields that have their usual value are left out."""


class FeedbackCounted(Struct, frozen=True):
    """The answer to feedback."""

    status: Literal["counted"] = "counted"
    """Always ``counted``."""


class ProbeStatus(Struct, frozen=True):
    """The answer to a probe."""

    status: Literal["alive", "ready"]
    """State of the server."""


ErrorKind = Literal["invalid_request_error", "rate_limit_error", "server_error"]


class ErrorDetail(Struct, frozen=True):
    """Description of an error, in OpenAI's shape."""

    message: str
    """Fault and remedy, for people. Never holds text to be spoken."""
    type: ErrorKind
    """Kind of the error, as OpenAI names it."""
    param: str | None
    """The field at fault."""
    code: str
    """Stable code, for programs."""


class ErrorBody(Struct, frozen=True):
    """The body of every error."""

    error: ErrorDetail
    """The error."""


def json_body(body: Struct) -> bytes:
    """Return a body as compact JSON in ASCII."""
    return json.dumps(msgspec.to_builtins(body), ensure_ascii=True, separators=(",", ":")).encode("ascii")
