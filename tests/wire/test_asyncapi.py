"""The AsyncAPI document is valid and agrees with the messages on the wire."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from recorded_cases import CASES

from yuliu.wire.asyncapi import asyncapi_document, draft_7
from yuliu.wire.native.client_codec import parse_reply
from yuliu.wire.native.decode import KINDS
from yuliu.wire.native.encode import TYPES, message_text

DOCUMENT = asyncapi_document(version="1.2.3")
SPECIFICATION = json.loads(
    gzip.decompress(Path(__file__).with_name("data").joinpath("asyncapi-3.0.0.json.gz").read_bytes())
)
"""JSON Schema of AsyncAPI 3.0.0 documents, from the package @asyncapi/specs 6.11.1 (Apache-2.0)."""


def errors(kind: str, message: object) -> list[str]:
    schema = {**DOCUMENT["components"]["messages"][kind]["payload"], "components": DOCUMENT["components"]}
    return [error.message for error in Draft7Validator(schema).iter_errors(message)]


def faults(document: dict[str, Any]) -> list[str]:
    return [error.message for error in Draft7Validator(SPECIFICATION).iter_errors(document)]


def test_the_document_is_valid() -> None:
    """The schema published by AsyncAPI accepts it."""
    assert faults(DOCUMENT) == []


def test_an_invalid_document_is_rejected() -> None:
    """The schema does not accept every document."""
    assert faults({**DOCUMENT, "operations": {"send": {"action": "shout"}}})
    assert faults({**DOCUMENT, "channels": 5})


def test_every_message_is_described() -> None:
    """Messages of the client, of the server, and of audio are all listed."""
    messages = DOCUMENT["components"]["messages"]
    assert set(messages) == {*KINDS, *TYPES.values(), "sound"}
    assert all(each["summary"] for each in messages.values())
    sent, received = (DOCUMENT["operations"][name]["messages"] for name in ("send", "receive"))
    assert len(received) == len(KINDS)
    assert len(sent) == len(TYPES) + 1


def test_references_resolve() -> None:
    """Messages refer to schemas, and operations to messages of the channel."""
    found: list[str] = []

    def collect(value: object) -> None:
        if isinstance(value, dict):
            found.extend([value["$ref"]] if "$ref" in value else [])
            for each in value.values():
                collect(each)
        elif isinstance(value, list):
            for each in value:
                collect(each)

    collect(DOCUMENT)
    assert found
    for reference in found:
        place: Any = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
        assert place


@pytest.mark.parametrize("kind", KINDS)
def test_accepted_messages_fit_the_schema(kind: str) -> None:
    """The schema allows each recorded message that the server accepts."""
    for each, text, expected in CASES:
        if each == "message" and expected is None and json.loads(text)["type"] == kind:
            assert errors(kind, json.loads(text)) == [], text


def test_server_messages_fit_the_schema() -> None:
    """Recorded messages are encoded again and compared with their schemas."""
    for each, text, expected in CASES:
        if each == "reply" and expected is None and (message := parse_reply(text)) is not None:
            written = json.loads(message_text(message))
            assert errors(written["type"], written) == [], written


@pytest.mark.parametrize(
    "message",
    [
        {"type": "text", "context": "a"},
        {"type": "text", "context": "a b", "text": "x"},
        {"type": "text", "context": "a", "text": "x", "more": 1},
        {"type": "playback", "context": "a", "position_ms": -1},
        {"type": "start", "context": "a", "channels": 3},
        {"type": "ping", "id": [1]},
    ],
)
def test_refused_messages_do_not_fit_the_schema(message: dict[str, Any]) -> None:
    """The schema states types, choices and bounds as well."""
    assert errors(message["type"], message)


def test_tuple_elements_use_draft_7_keywords() -> None:
    """Validators of AsyncAPI do not support ``prefixItems``."""
    assert draft_7({"prefixItems": [{"type": "string"}], "items": False}) == {
        "items": [{"type": "string"}],
        "additionalItems": False,
    }
    assert "prefixItems" not in json.dumps(DOCUMENT)
