"""``/health`` and ``/ready``, for probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.access import Exempt
from yuliu.server.responses import json_response
from yuliu.server.routing import Route, responding

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from yuliu.server.context import ServerContext


async def health(_: ServerContext, request: Request) -> Response:
    """Answer 200 as long as the process answers."""
    return json_response(request.scope, b'{"status":"alive"}')


async def ready(context: ServerContext, request: Request) -> Response:
    """Answer 200 once the voices are warm."""
    context.loading.voices()
    return json_response(request.scope, b'{"status":"ready"}')


ROUTES = (
    Route(
        path="/health",
        methods=("GET",),
        access=Exempt.NO_KEY,
        name="health",
        summary="Liveness probe",
        endpoint=responding(health),
        response="ProbeStatus",
    ),
    Route(
        path="/ready",
        methods=("GET",),
        access=Exempt.NO_KEY,
        name="ready",
        summary="Readiness probe",
        endpoint=responding(ready),
        response="ProbeStatus",
    ),
)
