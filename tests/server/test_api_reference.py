"""``/openapi.json``, ``/asyncapi.json`` and ``/docs`` of a running server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from serving import running_server

from yuliu.server.endpoints.reference import operations_of
from yuliu.server.routes import ROUTES
from yuliu.wire.openapi import BODIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with running_server() as running:
        yield running.client


def test_the_openapi_document_has_every_route(client: httpx.Client) -> None:
    """All methods of all paths, and it is valid."""
    document = client.get("/openapi.json").json()
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    described = {(path, method) for path, methods in document["paths"].items() for method in methods}
    assert described == {(each.path.replace(":path", ""), each.method) for each in operations_of(ROUTES)}
    assert {"/v1/audio/speech", "/v1/stream", "/openapi.json", "/asyncapi.json", "/docs"} <= set(document["paths"])


def test_every_http_route_names_known_bodies() -> None:
    """A misspelt name would be a body that nothing describes."""
    for each in operations_of(ROUTES):
        assert each.request is None or each.request in BODIES
        assert each.response is None or each.response in BODIES
        assert each.response is not None or each.method == "delete"


def test_the_asyncapi_document_has_the_native_stream(client: httpx.Client) -> None:
    document = client.get("/asyncapi.json").json()
    assert document["asyncapi"] == "3.0.0"
    assert document["channels"]["stream"]["address"] == "/v1/stream"


def test_the_page_needs_nothing_else(client: httpx.Client) -> None:
    """Its own policy forbids scripts and requests."""
    response = client.get("/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    assert "/v1/audio/speech" in response.text
