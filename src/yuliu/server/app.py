"""The ASGI application: routes, what surrounds them, and the loading and closing of voices."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware

from yuliu.delivery.capacity import Capacity
from yuliu.delivery.encoder_pool import EncoderPool, warm_up
from yuliu.delivery.gateway import Gateway
from yuliu.errors import YuliuError
from yuliu.lexicon_store import LexiconStore
from yuliu.metrics.metrics import Metrics
from yuliu.server.config import AppConfig
from yuliu.server.context import ServerContext
from yuliu.server.endpoints.native.registry import StreamRegistry
from yuliu.server.loading import Loading
from yuliu.server.loop_gauge import LoopGauge
from yuliu.server.middleware.cors import CorsMiddleware, checked_origin
from yuliu.server.middleware.trusted_hosts import TrustedHostMiddleware
from yuliu.server.responses import problem_response
from yuliu.server.routes import ROUTES
from yuliu.server.routing import Router
from yuliu.text.languages.registry import load_registry
from yuliu.wire.problems import UNEXPECTED, problem_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from yuliu.server.routing import Route
    from yuliu.synthesizer import Synthesizer


def create_app(
    load: Callable[[], Synthesizer], config: AppConfig | None = None, *, routes: Iterable[Route] = ROUTES
) -> Starlette:
    """Return the ASGI application.

    Args:
        load: Returns a synthesizer, loaded and warm; called once, on a thread, while the port is open already. The
            application closes it.
        config: Settings.
        routes: What is served; a server with protocols of its own adds their routes to :data:`ROUTES`.
    """
    config = config or AppConfig()
    origins = frozenset(map(checked_origin, config.origins))
    context = _context(load, config)
    router = Router(routes, context, config.keys)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if app.routes:
            raise RuntimeError("routes are declared in yuliu.server.routes: any other would be open to every client")
        context.loading.start()
        following = asyncio.create_task(config.keys.follow()) if config.keys is not None else None
        try:
            yield
        finally:
            if following is not None:
                following.cancel()
            await context.streams.close()
            await context.loading.close()
            context.gateway.encoders.close()

    hosts = config.hosts
    app = Starlette(
        middleware=[
            *([] if hosts is None else [Middleware(TrustedHostMiddleware, hosts=hosts, nearby=config.nearby)]),
            Middleware(CorsMiddleware, origins=origins),
        ],
        exception_handlers={YuliuError: _refuse, Exception: _refuse_unexpected},
        lifespan=lifespan,
    )
    app.router.default = router
    app.router.redirect_slashes = False  # it would send clients to whatever the Host header says
    return app


def _context(load: Callable[[], Synthesizer], config: AppConfig) -> ServerContext:
    def load_all() -> Synthesizer:
        warm_up()
        load_registry()  # looks at installed packages, which must not happen in a request
        return load()

    limits, metrics, loading = config.limits, config.metrics or Metrics(), Loading(load_all)
    capacity = Capacity(limits.max_streams, limits.max_body_bytes_held, metrics)
    return ServerContext(
        gateway=Gateway(loading.synthesizer, config.presets, metrics, capacity, EncoderPool()),
        loading=loading,
        limits=limits,
        lexicons=config.lexicons or LexiconStore(),
        streams=StreamRegistry(limits.native),
        loop_gauge=LoopGauge(metrics),
    )


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, YuliuError)  # noqa: S101 - it is registered for nothing else
    return problem_response(request.scope, problem_of(error))


async def _refuse_unexpected(request: Request, _: Exception) -> Response:
    return problem_response(request.scope, UNEXPECTED)
