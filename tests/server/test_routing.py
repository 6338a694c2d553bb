"""Routes are declared in one place, and fail closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest
from keyed_server import code_of, keyed_server
from serving import tone_synthesizer
from starlette.responses import PlainTextResponse
from starlette.routing import Route as StarletteRoute

from yuliu.access import Exempt
from yuliu.engines.tone import ToneEngine
from yuliu.server.app import create_app
from yuliu.server.limits import Limits
from yuliu.server.routes import ROUTES
from yuliu.server.routing import WEBSOCKET, Route, responding
from yuliu.wire.keys import SCOPES

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from yuliu.server.context import ServerContext

BODY_METHODS = {"POST", "PUT"}
STREAMED = {("/v1/stream", "POST")}
"""Routes whose body is read while it is spoken, within the limits of a text."""


async def hello(_: ServerContext, __: Request) -> Response:
    return PlainTextResponse("hello")


def declared(**changes: Any) -> Route:
    fields: dict[str, Any] = {
        "path": "/hello",
        "methods": ("GET",),
        "access": "metrics",
        "name": "hello",
        "summary": "Say hello",
        "endpoint": responding(hello),
    }
    return Route(**{name: value for name, value in {**fields, **changes}.items() if value is not ...})


@pytest.mark.parametrize("field", ["path", "methods", "access", "name", "summary", "endpoint"])
def test_an_incomplete_route_cannot_be_built(field: str) -> None:
    """No declaration has a default that could be forgotten."""
    with pytest.raises(TypeError, match=field):
        declared(**{field: ...})


@pytest.mark.parametrize(
    "changes", [{"access": None}, {"access": ""}, {"access": "speek"}, {"methods": ()}, {"path": "hello"}]
)
def test_a_wrong_declaration_cannot_be_built(changes: dict[str, Any]) -> None:
    """An access rule is a scope or a named exemption; there are methods, and a path."""
    with pytest.raises(ValueError, match=r"access rule|methods"):
        declared(**changes)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.path} {'/'.join(route.methods)}")
def test_every_route_is_declared_whole(route: Route) -> None:
    """The table of all routes: access, name, summary, and a limit for each body that is read."""
    assert route.access in SCOPES or isinstance(route.access, Exempt)
    assert route.name.isidentifier()
    assert route.summary
    assert set(route.methods) <= {"GET", "POST", "PUT", "DELETE", WEBSOCKET}
    reads = any(each in BODY_METHODS and (route.path, each) not in STREAMED for each in route.methods)
    assert (route.body_limit(Limits()) > 0) == reads


def test_no_two_routes_answer_the_same_request() -> None:
    """Each path and method is declared once."""
    declared_ = [(route.path, method) for route in ROUTES for method in route.methods]
    assert len(declared_) == len(set(declared_))


def test_an_undeclared_path_is_refused_to_every_key(tmp_path: Path) -> None:
    """No scope opens a path that no route declares."""
    with keyed_server(tmp_path) as locked:
        for scope in SCOPES:
            headers = locked.key(scope, scopes=(scope,))
            assert code_of(locked.ask("GET", "/hello", headers)) == (404, "not_found")


def test_a_declared_path_needs_its_scope_and_nothing_else(tmp_path: Path) -> None:
    """A new route is served by its declaration alone."""
    with keyed_server(tmp_path, routes=(*ROUTES, declared())) as locked:
        assert code_of(locked.ask("GET", "/hello", locked.key("speaker"))) == (403, "insufficient_scope")
        assert locked.ask("GET", "/hello", locked.key("scraper", scopes=("metrics",))).text == "hello"


@pytest.mark.parametrize("path", ["/health%0A", "/v1/phrases/hello%0A", "/v1/stream%0A"])
def test_a_newline_after_a_path_makes_another_path(tmp_path: Path, path: str) -> None:
    """Python's ``$`` matches before a newline at the end, too."""
    with keyed_server(tmp_path) as locked:
        assert code_of(locked.ask("GET", path, {})) == (401, "invalid_api_key")
        assert code_of(locked.ask("DELETE", path, locked.key(scopes=SCOPES))) == (404, "not_found")


async def test_a_plain_request_never_reaches_a_websocket() -> None:
    """Some servers pass on any word as a method, even that of our own table."""
    app = create_app(lambda: tone_synthesizer(ToneEngine()))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer = await client.request(WEBSOCKET, "/v1/stream")
    assert code_of(answer) == (405, "method_not_allowed")


async def test_a_route_beside_the_table_keeps_the_server_from_starting() -> None:
    """A route that was added to the framework has no access rule, and would be open to every client."""
    app = create_app(lambda: tone_synthesizer(ToneEngine()))
    app.router.routes.append(StarletteRoute("/hello", PlainTextResponse("hello")))
    with pytest.raises(RuntimeError, match="declared in"):
        async with app.router.lifespan_context(app):
            pytest.fail("it has started")
