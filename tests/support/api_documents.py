"""The OpenAPI document of some operations, with every body that there is."""

from __future__ import annotations

from yuliu.wire.openapi import BODIES, Operation, openapi_document

OPERATIONS = (
    Operation("/v1/audio/speech", "post", "Speak a text", "speak", "SpeechRequest", "Sound"),
    Operation("/v1/stream", "post", "Speak a body while it is written", "speak", "TextStream", "Sound"),
    Operation("/v1/lexicons/{name}/entries/{text:path}", "delete", "Remove entries", "lexicons", None, "Lexicon"),
    Operation("/v1/phrases/{text:path}", "delete", "Remove a phrase", "phrases"),
    Operation("/v1/models", "get", "List the models", "", None, "ModelList"),
    Operation("/health", "get", "Liveness probe", None, None, "ProbeStatus"),
    *(Operation(f"/{name}", "post", name, "", name, name) for name in BODIES),
)
OPENAPI = openapi_document(OPERATIONS, version="1.2.3")
