"""The OpenAPI document is valid and complete, and agrees with the parsers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from api_documents import OPENAPI as DOCUMENT
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from recorded_cases import CASES, outcome

from yuliu.audio.formats import FORMATS
from yuliu.presets import as_values, presets
from yuliu.wire.feedback import feedback_body
from yuliu.wire.lexicons import lexicon_body, lexicons_body, parse_lexicon
from yuliu.wire.native.body_codec import QUERY_FIELDS
from yuliu.wire.openai import VoiceEntry, model_body, models_body, voices_body
from yuliu.wire.phrases import phrases_body
from yuliu.wire.problems import NOT_HTTP
from yuliu.wire.synthesis_options import presets_body

SCHEMAS = DOCUMENT["components"]["schemas"]
VOICES = [VoiceEntry("baker", ("zh",), 24_000, is_default=True)]
NAMES = {"speech": "SpeechBody", "phrases": "PhrasesBody", "feedback": "Feedback"}
"""Schemas of the recorded documents."""


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]},
    )


def operation(method: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][path][method]
    return found


def test_the_document_is_valid() -> None:
    """A validator of OpenAPI 3.1 accepts it."""
    assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []


def test_an_invalid_document_is_rejected() -> None:
    """The validator does not accept every document."""
    assert list(OpenAPIV31SpecValidator({"openapi": "3.1.0", "paths": {}}).iter_errors())


def test_every_field_is_described() -> None:
    """Descriptions are the docstrings below the fields."""
    bare = [
        f"{name}.{field}"
        for name, schema in SCHEMAS.items()
        for field, value in schema.get("properties", {}).items()
        if not value.get("description")
    ]
    assert bare == []
    assert all(schema["description"] for schema in SCHEMAS.values() if schema.get("type") == "object")


def test_descriptions_are_markdown() -> None:
    """No role or double backquote of a docstring remains."""
    assert "``" not in json.dumps(DOCUMENT)
    assert ":class:" not in json.dumps(DOCUMENT)


@pytest.mark.parametrize("kind", NAMES)
def test_accepted_documents_fit_the_schema(kind: str) -> None:
    """The schema allows each recorded request that the server accepts."""
    accepted = [text for each, text, expected in CASES if each == kind and expected is None]
    assert accepted
    for text in accepted:
        document = json.loads(text.removeprefix("\ufeff"))
        assert [error.message for error in validator(NAMES[kind]).iter_errors(document)] == [], text


@pytest.mark.parametrize(
    "fields",
    [
        *({"speed": 0.2}, {"seed": -1}, {"response_format": "ogg"}, {"effects": {"compress": {"ratio": 0.5}}}),
        *({"effects": {"reverb": True}}, {"class": "urgent"}, {"max_lead_s": 0}, {"voice": {}}, {"input": 5}),
        *({"lexicon_entries": [{"text": "a"}]}, {"chunking": {"strategy": "words"}}, {"stream": "yes"}),
    ],
)
def test_refused_documents_do_not_fit_the_schema(fields: dict[str, Any]) -> None:
    """The schema states types, choices and bounds as well."""
    document = {"input": "a", **fields}
    assert list(validator("SpeechBody").iter_errors(document))
    if "chunking" not in fields:  # only the presets know the names of strategies
        assert outcome("speech", json.dumps(document)) is not None


def test_all_formats_are_listed() -> None:
    """The list is the same for the field and for the bodies of responses."""
    choices = SCHEMAS["SpeechBody"]["properties"]["response_format"]["anyOf"]
    assert {value for each in choices for value in each.get("enum", ())} == {"", *FORMATS}
    content = operation("post", "/v1/audio/speech")["responses"]["200"]["content"]
    assert {"audio/mpeg", "audio/wav", "text/event-stream"} <= set(content)


BODY = lexicon_body("games", 3, parse_lexicon(b'{"text": "a", "reading": "b"}', "json"), "json")


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("ModelList", models_body(VOICES)),
        ("ModelEntry", model_body("baker", VOICES)),
        ("VoiceList", voices_body(VOICES)),
        ("VoiceList", voices_body(VOICES, names_only=True)),
        ("PresetList", presets_body([as_values(each) for each in presets().values()])),
        ("PhraseList", phrases_body({"baker": ["你好"]})),
        ("LexiconList", lexicons_body([("games", 3, 1)])),
        ("LexiconBody", BODY),
        ("FeedbackCounted", feedback_body()),
        ("ProbeStatus", b'{"status": "alive"}'),
        ("ErrorBody", NOT_HTTP.body()),
    ],
)
def test_responses_fit_their_schemas(name: str, body: bytes) -> None:
    """The bodies are those that the server writes."""
    assert [error.message for error in validator(name).iter_errors(json.loads(body))] == []


def test_operations_state_their_requirements() -> None:
    """Each states the scope of its key, its parameters, and whether its response is empty."""
    speech = operation("post", "/v1/audio/speech")
    assert speech["security"] == [{}, {"bearer": ["speak"]}, {"header": ["speak"]}]
    assert {each["name"] for each in speech["parameters"]} == {"X-Yuliu-Class", "X-Yuliu-Weight", "X-Request-Id"}
    assert operation("get", "/v1/models")["security"] == [{}, {"bearer": []}, {"header": []}]
    assert operation("get", "/health")["security"] == []
    removed = operation("delete", "/v1/phrases/{text}")
    assert [each["name"] for each in removed["parameters"] if each["in"] == "path"] == ["text"]
    assert removed["responses"]["204"] == {"description": "Success."}


def test_the_query_of_a_streamed_body_has_the_fields_of_start() -> None:
    """Numbers are numbers; all other parameters are text."""
    query = {
        each["name"]: each["schema"]["type"]
        for each in operation("post", "/v1/stream")["parameters"]
        if each["in"] == "query"
    }
    assert list(query) == list(QUERY_FIELDS)
    assert (query["speed"], query["seed"], query["voice"], query["effects"]) == (
        "number",
        "integer",
        "string",
        "string",
    )
