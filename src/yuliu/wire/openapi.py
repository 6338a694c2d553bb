"""OpenAPI 3.1 document of the server's HTTP paths, from operations and the structs of their bodies.

An operation is a value that a route can be turned into; bodies are known here by the names that routes give them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from yuliu.audio.formats import SOUND_FORMATS
from yuliu.types import StreamClass
from yuliu.wire.feedback import Feedback
from yuliu.wire.json_schema import REF_TEMPLATE, schemas_of
from yuliu.wire.keys import SCOPES
from yuliu.wire.lexicons import MEDIA_TYPES as LEXICON_MEDIA_TYPES
from yuliu.wire.native.body_codec import LINES, QUERY_FIELDS, TEXT
from yuliu.wire.native.decode import StartFields
from yuliu.wire.openai import SpeechBody
from yuliu.wire.openai_events import MEDIA_TYPE as EVENTS
from yuliu.wire.phrases import PhrasesBody
from yuliu.wire.response_bodies import (
    ErrorBody,
    FeedbackCounted,
    LexiconBody,
    LexiconList,
    ModelEntry,
    ModelList,
    PhraseList,
    PresetList,
    ProbeStatus,
    VoiceList,
)
from yuliu.wire.synthesis_options import CLASS_HEADER, MAX_WEIGHT, MIN_WEIGHT, WEIGHT_HEADER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import msgspec

    JsonObject = dict[str, Any]
    Content = Mapping[str, JsonObject]
    """Schemas by media type."""

JSON = "application/json"
_PATH_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_ANY: JsonObject = {}
_STRING: JsonObject = {"type": "string"}


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    path: str
    """As in a route, such as ``/v1/models/{name}``."""
    method: str
    """In lower case."""
    summary: str
    """One line for people."""
    access: str | None
    """Scope that a key needs; empty if any key will do, None if none is needed."""
    request: str | None = None
    """Name of the request's body, among :data:`BODIES`."""
    response: str | None = None
    """Name of the response's body; None for an empty one."""

    @property
    def key(self) -> str:
        """Method and path, such as ``post /v1/stream``."""
        return f"{self.method} {self.path}"


def _struct(struct: type[msgspec.Struct]) -> Content:
    return {JSON: {"$ref": REF_TEMPLATE.format(name=struct.__name__)}}


_SOUND: Content = {each.media_type.partition(";")[0]: _ANY for each in SOUND_FORMATS.values()}
_ENTRIES: JsonObject = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "entries": {
                    "type": "array",
                    "items": {"$ref": "#/components/schemas/Entry"},
                    "description": "The entries.",
                }
            },
            "required": ["entries"],
        },
        {"type": "array", "items": {"$ref": "#/components/schemas/Entry"}},
        {"$ref": "#/components/schemas/Entry"},
    ]
}
_OTHER_LEXICON_FORMS = {
    media_type.partition(";")[0]: _STRING for form, media_type in LEXICON_MEDIA_TYPES.items() if form != "json"
}
BODIES: Mapping[str, Content] = {
    "SpeechRequest": _struct(SpeechBody),
    "Phrases": _struct(PhrasesBody),
    "Feedback": _struct(Feedback),
    "LexiconEntries": {JSON: _ENTRIES, **_OTHER_LEXICON_FORMS},
    "TextStream": {TEXT: _STRING, LINES: _STRING},
    "Sound": {**_SOUND, EVENTS: _STRING},
    "VoiceList": _struct(VoiceList),
    "PresetList": _struct(PresetList),
    "ModelList": _struct(ModelList),
    "Model": _struct(ModelEntry),
    "PhraseList": _struct(PhraseList),
    "LexiconList": _struct(LexiconList),
    "Lexicon": {**_struct(LexiconBody), **_OTHER_LEXICON_FORMS},
    "Stats": {JSON: {"type": "object", "description": "Statistics of the last minute."}},
    "FeedbackCounted": _struct(FeedbackCounted),
    "ProbeStatus": _struct(ProbeStatus),
    "Metrics": {"text/plain": _STRING, "application/openmetrics-text": _STRING},
    "ApiDocument": {JSON: {"type": "object"}},
    "Page": {"text/html": _STRING},
}
"""Bodies of requests and responses, by name."""
_STRUCTS = (
    *(SpeechBody, PhrasesBody, Feedback, VoiceList, PresetList, ModelList, ModelEntry, PhraseList, LexiconList),
    *(LexiconBody, FeedbackCounted, ProbeStatus, ErrorBody, StartFields),
)
_PATH_SCHEMAS: Mapping[tuple[str | None, str], JsonObject] = {
    ("lexicons", "name"): {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,63}$"}
}
"""Schemas of parameters in paths that are no plain text, by scope and name."""
_REQUEST_ID = {
    "name": "X-Request-Id",
    "in": "header",
    "description": "Id of the request, 1 to 128 of A-Z a-z 0-9 . _ : -; a new one if left out.",
    "schema": _STRING,
}


def openapi_document(operations: Iterable[Operation], *, version: str) -> JsonObject:
    """Return the OpenAPI document.

    Args:
        operations: All that the server serves.
        version: Of the server.
    """
    schemas = schemas_of(_STRUCTS)
    start = schemas.pop("StartFields")["properties"]
    paths: JsonObject = {}
    for each in operations:
        path = _PATH_PARAMETER.sub(r"{\1}", each.path)
        paths.setdefault(path, {})[each.method] = _operation(each, start)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Yuliu",
            "version": version,
            "summary": "Streaming text-to-speech",
            "description": "The WebSocket of `/v1/stream` is described by `/asyncapi.json`.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }


def _operation(operation: Operation, start: Mapping[str, JsonObject]) -> JsonObject:
    described: JsonObject = {
        "summary": operation.summary,
        "operationId": "_".join(re.findall(r"[A-Za-z0-9]+", operation.key)),
        "parameters": _parameters(operation, start),
        "responses": {
            _status(operation): _response(operation.response),
            "default": {
                "description": "An error.",
                "content": {JSON: {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
            },
        },
    }
    if operation.request is not None:
        described["requestBody"] = {"required": True, "content": _content(operation.request)}
    if operation.access is None:
        described["security"] = []
    else:
        scopes = [operation.access] if operation.access in SCOPES else []
        described["security"] = [{}, {"bearer": scopes}, {"header": scopes}]
    return described


def _status(operation: Operation) -> str:
    return "200" if operation.response else "204"


def _response(name: str | None) -> JsonObject:
    return {"description": "Success."} | ({"content": _content(name)} if name else {})


def _content(name: str) -> JsonObject:
    return {media_type: {"schema": schema} for media_type, schema in BODIES[name].items()}


def _parameters(operation: Operation, start: Mapping[str, JsonObject]) -> list[JsonObject]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": _PATH_SCHEMAS.get((operation.access, name), _STRING)}
        for name in _PATH_PARAMETER.findall(operation.path)
    ]
    return [*in_path, *_EXTRA.get(operation.key, ()), *_query(operation, start), _REQUEST_ID]


def _query(operation: Operation, start: Mapping[str, JsonObject]) -> list[JsonObject]:
    """Return the fields of a ``start`` that stand in the query of a body that is spoken while it comes."""
    if operation.request != "TextStream":
        return []
    return [
        {"name": name, "in": "query", "description": start[name]["description"], "schema": _in_query(start[name])}
        for name in QUERY_FIELDS
    ]


def _in_query(schema: JsonObject) -> JsonObject:
    """Return the schema of a field where it stands in a query: a number, or a text; never null."""
    options = [each for each in schema.get("anyOf", [schema]) if each.get("type") in ("number", "integer")]
    return options[0] if options else _STRING


def _header(name: str, description: str, schema: JsonObject = _STRING) -> JsonObject:
    return {"name": name, "in": "header", "description": description, "schema": schema}


_IF_MATCH = _header(
    "If-Match",
    "Version that is to be changed, in quotes; left out, or `*`, for any.",
    {"type": "string", "pattern": r'^((W/)?"[0-9]{1,15}"|[0-9]{1,15}|\*)$'},
)
_EXTRA: Mapping[str, tuple[JsonObject, ...]] = {
    "post /v1/audio/speech": (
        _header(CLASS_HEADER, "Stands in for the field `class`.", {"enum": [each.value for each in StreamClass]}),
        _header(
            WEIGHT_HEADER,
            "Stands in for the field `weight`.",
            {"type": "number", "minimum": MIN_WEIGHT, "maximum": MAX_WEIGHT},
        ),
    ),
    "get /v1/audio/voices": (
        {
            "name": "format",
            "in": "query",
            "description": "`names` returns bare names.",
            "schema": _STRING,
        },
    ),
    "put /v1/lexicons/{name}": (_IF_MATCH,),
    "delete /v1/lexicons/{name}": (_IF_MATCH,),
    "post /v1/lexicons/{name}/entries": (_IF_MATCH,),
    "delete /v1/lexicons/{name}/entries/{text:path}": (_IF_MATCH,),
}
