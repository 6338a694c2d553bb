"""The paths, and what surrounds them: the Host check, errors in one envelope, loading and closing of voices."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from yuliu.errors import YuliuError
from yuliu.lexicon_store import LexiconStore
from yuliu.metrics.metrics import Metrics
from yuliu.presets import as_values
from yuliu.presets import presets as known_presets
from yuliu.server.capacity import Capacity
from yuliu.server.context import ServerContext
from yuliu.server.encoder_pool import EncoderPool, warm_up
from yuliu.server.endpoints.lexicons import lexicon_routes
from yuliu.server.endpoints.metrics import metering_routes
from yuliu.server.endpoints.openai import SpeechEndpoint
from yuliu.server.endpoints.phrases import phrase_routes
from yuliu.server.limits import Limits
from yuliu.server.loading import Loading
from yuliu.server.middleware.auth import AuthMiddleware, KeyRing
from yuliu.server.middleware.cors import CorsMiddleware, checked_origin
from yuliu.server.middleware.trusted_hosts import TrustedHostMiddleware
from yuliu.server.native.endpoint import StreamEndpoint
from yuliu.server.responses import json_response, problem_response
from yuliu.wire.openai import model_body, models_body, voices_body
from yuliu.wire.problems import UNEXPECTED, Problem, method_unknown, path_unknown, problem_of
from yuliu.wire.synthesis_options import presets_body

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from yuliu.presets import Preset
    from yuliu.synthesizer import Synthesizer

_PRESETS = known_presets()  # read with the module: an application may be made in a running loop


def create_app(  # noqa: PLR0913 - what a server is made of
    load: Callable[[], Synthesizer],
    *,
    limits: Limits | None = None,
    hosts: Collection[str] | None = (),
    nearby: bool = False,
    lexicons: LexiconStore | None = None,
    metrics: Metrics | None = None,
    presets: Mapping[str, Preset] | None = None,
    origins: Collection[str] = (),
    keys: KeyRing | None = None,
) -> Starlette:
    """The ASGI application.

    Args:
        load: Makes a synthesizer, loaded and warm; called once, on a thread, while the port is open already. The
            application closes it.
        limits: What is taken at once.
        hosts: Names that a request's Host header may give beside loopback ones; None allows all.
        nearby: Whether it may also give addresses, and names that nobody can make point here from afar.
        lexicons: Those that can be read and changed; None takes those of this machine.
        metrics: What is measured, which the paths tell; None makes one of its own.
        presets: Those that requests may name; None takes those that come with Yuliu.
        origins: Web pages that may use it beside its own, such as ``https://example.org``.
        keys: Those who may use it; None lets everyone.
    """
    limits, metrics = limits or Limits(), metrics or Metrics()
    origins = frozenset(map(checked_origin, origins))
    presets = _PRESETS if presets is None else presets
    threads = EncoderPool()

    def load_all() -> Synthesizer:
        warm_up()
        return load()

    loading = Loading(load_all)
    rooms = Capacity(limits.max_streams, limits.max_body_bytes_held, metrics)
    shared = ServerContext(loading, presets, limits, metrics, rooms, threads)
    door = StreamEndpoint(shared)
    answers = _Answers(loading, presets)
    routes = [
        Route("/v1/audio/speech", SpeechEndpoint(shared), methods=["POST"]),
        Route("/v1/audio/voices", answers.voices),
        Route("/v1/presets", answers.presets),
        Route("/v1/models", answers.models),
        Route("/v1/models/{name}", answers.model),
        *door.routes,
        *phrase_routes(loading, presets, limits),
        *lexicon_routes(lexicons or LexiconStore()),
        *metering_routes(metrics),
        Route("/health", answers.health),
        Route("/ready", answers.ready),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        loading.start()
        following = asyncio.create_task(keys.follow()) if keys is not None else None
        try:
            yield
        finally:
            if following is not None:
                following.cancel()
            await door.streams.close()
            await loading.close()
            threads.close()

    app = Starlette(
        routes=routes,
        middleware=[
            *([] if hosts is None else [Middleware(TrustedHostMiddleware, hosts=hosts, nearby=nearby)]),
            Middleware(CorsMiddleware, origins=origins),
            *([] if keys is None else [Middleware(AuthMiddleware, keys=keys)]),
        ],
        exception_handlers={HTTPException: _refuse_path, YuliuError: _refuse, Exception: _refuse_unexpected},
        lifespan=lifespan,
    )
    app.router.default = door.elsewhere(app.router.default)
    app.router.redirect_slashes = False  # it would send callers to whatever the Host header says
    return app


class _Answers:
    """The paths that are answered at once."""

    def __init__(self, loading: Loading, presets: Mapping[str, Preset]) -> None:
        self._loading = loading
        self._presets = presets

    async def health(self, request: Request) -> Response:
        """200 as long as the process answers."""
        return json_response(request.scope, b'{"status":"alive"}')

    async def ready(self, request: Request) -> Response:
        """200 once the voices are warm."""
        self._loading.voices()
        return json_response(request.scope, b'{"status":"ready"}')

    async def presets(self, request: Request) -> Response:
        """The presets that requests may name."""
        return json_response(request.scope, presets_body([as_values(each) for each in self._presets.values()]))

    async def models(self, request: Request) -> Response:
        """OpenAI's list of models."""
        return json_response(request.scope, models_body(self._loading.voices()))

    async def model(self, request: Request) -> Response:
        """One model of that list."""
        body = model_body(request.path_params["name"], self._loading.voices())
        if body is None:
            return problem_response(request.scope, Problem(404, "model_not_found", "there is no such model"))
        return json_response(request.scope, body)

    async def voices(self, request: Request) -> Response:
        """The voices, as objects, or as bare names with ``?format=names``."""
        names_only = request.query_params.get("format") == "names"
        return json_response(request.scope, voices_body(self._loading.voices(), names_only=names_only))


async def _refuse_path(request: Request, error: Exception) -> Response:
    """404 and 405, the two that routing raises."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for nothing else
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        answer = problem_response(request.scope, method_unknown(allowed))
        answer.headers["Allow"] = allowed
        return answer
    paths = [route.path for route in request.app.routes]
    return problem_response(request.scope, path_unknown(paths))


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, YuliuError)  # noqa: S101 - it is registered for nothing else
    return problem_response(request.scope, problem_of(error))


async def _refuse_unexpected(request: Request, _: Exception) -> Response:
    return problem_response(request.scope, UNEXPECTED)
