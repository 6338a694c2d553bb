"""Measurements: ``/metrics`` for Prometheus, ``/v1/stats`` for people, and ``/v1/feedback`` for complaints."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.responses import Response

from yuliu.logger import event_logger
from yuliu.server.responses import header_text, json_response, request_id
from yuliu.server.routing import Route, body_of, responding
from yuliu.wire.feedback import MAX_BODY_BYTES, feedback_body, parse_feedback
from yuliu.wire.stats import stats_body

if TYPE_CHECKING:
    from starlette.requests import Request

    from yuliu.server.context import ServerContext

_log = event_logger(__name__)


async def metrics(context: ServerContext, request: Request) -> Response:
    """Return all metrics in the form that the client prefers. Collecting takes milliseconds, so a thread does it."""
    context.loop_gauge.observe()
    accept = header_text(request.scope, b"accept")
    body, media_type = await asyncio.to_thread(context.gateway.metrics.exposition, accept)
    headers = {"X-Request-Id": request_id(request.scope), "Content-Type": media_type, "Cache-Control": "no-store"}
    return Response(body, 200, headers)


async def stats(context: ServerContext, request: Request) -> Response:
    """Return what the last minute was like."""
    context.loop_gauge.observe()
    found = await asyncio.to_thread(context.gateway.metrics.stats)
    answer = json_response(request.scope, stats_body(found))
    answer.headers["Cache-Control"] = "no-store"
    return answer


async def feedback(context: ServerContext, request: Request) -> Response:
    """Count a complaint, and log which stream it is about."""
    given = parse_feedback(await body_of(context, request), header_text(request.scope, b"content-type"))
    context.gateway.metrics.feedback(given.kind)
    _log.info("feedback", id=given.stream, kind=given.kind)
    return json_response(request.scope, feedback_body())


ROUTES = (
    Route(
        path="/metrics",
        methods=("GET",),
        access="metrics",
        name="metrics",
        summary="Metrics for Prometheus",
        endpoint=responding(metrics),
        response="Metrics",
    ),
    Route(
        path="/v1/stats",
        methods=("GET",),
        access="metrics",
        name="stats",
        summary="Statistics of the last minute",
        endpoint=responding(stats),
        response="Stats",
    ),
    Route(
        path="/v1/feedback",
        methods=("POST",),
        access="speak",
        name="feedback",
        summary="Report a stream that sounded wrong",
        endpoint=responding(feedback),
        max_body_bytes=MAX_BODY_BYTES,
        request="Feedback",
        response="FeedbackCounted",
    ),
)
