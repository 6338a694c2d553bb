"""What is measured: ``/metrics`` for Prometheus, ``/v1/stats`` for people, and ``/v1/feedback`` for complaints."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from yuliu.logger import event_logger
from yuliu.metrics.report import GaugeValues
from yuliu.server.request_body import body_or_response
from yuliu.server.responses import header, header_text, json_response, request_id
from yuliu.wire.feedback import MAX_BODY_BYTES, feedback_body, parse_feedback
from yuliu.wire.stats import stats_body

if TYPE_CHECKING:
    from starlette.requests import Request

    from yuliu.metrics.metrics import Metrics

_log = event_logger(__name__)


def metering_routes(metrics: Metrics) -> list[Route]:
    """The paths, over what is measured."""
    answers = _Metering(metrics)
    return [
        Route("/metrics", answers.metrics, methods=["GET"]),
        Route("/v1/stats", answers.stats, methods=["GET"]),
        Route("/v1/feedback", answers.feedback, methods=["POST"]),
    ]


class _Metering:
    """What is answered. Collecting takes milliseconds, so it is done on a thread."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._num_tasks: int | None = None  # counted on the loop, since only there it stands still
        metrics.gauge_source(lambda: GaugeValues(num_tasks=self._num_tasks))

    async def metrics(self, request: Request) -> Response:
        """All metrics, in the form that the one who asks prefers."""
        accept = header(request.scope, b"accept") or b""
        self._num_tasks = len(asyncio.all_tasks())
        body, media_type = await asyncio.to_thread(self._metrics.exposition, accept.decode("latin-1"))
        headers = {"X-Request-Id": request_id(request.scope), "Content-Type": media_type, "Cache-Control": "no-store"}
        return Response(body, 200, headers)

    async def stats(self, request: Request) -> Response:
        """The last minute."""
        self._num_tasks = len(asyncio.all_tasks())
        stats = await asyncio.to_thread(self._metrics.stats)
        answer = json_response(request.scope, stats_body(stats))
        answer.headers["Cache-Control"] = "no-store"
        return answer

    async def feedback(self, request: Request) -> Response:
        """Count a complaint, and log which stream it is about."""
        body = await body_or_response(request, MAX_BODY_BYTES)
        if isinstance(body, Response):
            return body
        feedback = parse_feedback(body, header_text(request.scope, b"content-type"))
        self._metrics.feedback(feedback.kind)
        _log.info("feedback", id=feedback.stream, kind=feedback.kind)
        return json_response(request.scope, feedback_body())
