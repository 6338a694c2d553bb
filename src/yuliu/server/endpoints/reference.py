"""``/openapi.json``, ``/asyncapi.json`` and ``/docs``: the API reference, generated from the routes and the structs."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from starlette.responses import Response

from yuliu.access import Exempt
from yuliu.server.responses import json_response, request_id
from yuliu.server.routing import WEBSOCKET, Route, responding
from yuliu.wire.asyncapi import asyncapi_document
from yuliu.wire.openapi import Operation, openapi_document
from yuliu.wire.reference_page import reference_page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request

    from yuliu.server.context import ServerContext

_CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def operations_of(routes: Iterable[Route]) -> tuple[Operation, ...]:
    """Return the operations of the OpenAPI document; WebSockets are described by the other one."""
    return tuple(
        Operation(route.path, method.lower(), route.summary, _scope(route), route.request, route.response)
        for route in routes
        for method in route.methods
        if method != WEBSOCKET
    )


def reference_routes(routes: Iterable[Route]) -> tuple[Route, ...]:
    """Return the routes of the reference, which describes all ``routes`` and itself."""
    described = tuple(routes)

    @cache
    def documents() -> tuple[bytes, bytes, bytes]:
        openapi = openapi_document(operations_of((*described, *own)), version=version("yuliu"))
        asyncapi = asyncapi_document(version=version("yuliu"))
        return json.dumps(openapi).encode(), json.dumps(asyncapi).encode(), reference_page(openapi, asyncapi).encode()

    async def openapi_json(_: ServerContext, request: Request) -> Response:
        return json_response(request.scope, (await asyncio.to_thread(documents))[0])

    async def asyncapi_json(_: ServerContext, request: Request) -> Response:
        return json_response(request.scope, (await asyncio.to_thread(documents))[1])

    async def docs(_: ServerContext, request: Request) -> Response:
        headers = {"X-Request-Id": request_id(request.scope), "Content-Security-Policy": _CONTENT_POLICY}
        page = (await asyncio.to_thread(documents))[2]  # docstrings are read from files, the first time
        return Response(page, 200, headers, "text/html")

    own = (
        Route(
            path="/openapi.json",
            methods=("GET",),
            access=Exempt.ANY_KEY,
            name="openapi",
            summary="Describe the HTTP paths, as OpenAPI 3.1",
            endpoint=responding(openapi_json),
            response="ApiDocument",
        ),
        Route(
            path="/asyncapi.json",
            methods=("GET",),
            access=Exempt.ANY_KEY,
            name="asyncapi",
            summary="Describe the native stream, as AsyncAPI 3.0",
            endpoint=responding(asyncapi_json),
            response="ApiDocument",
        ),
        Route(
            path="/docs",
            methods=("GET",),
            access=Exempt.ANY_KEY,
            name="docs",
            summary="Show both documents on a page",
            endpoint=responding(docs),
            response="Page",
        ),
    )
    return own


def _scope(route: Route) -> str | None:
    if route.access is Exempt.NO_KEY:
        return None
    return route.access if isinstance(route.access, str) else ""
