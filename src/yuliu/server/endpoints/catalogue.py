"""Lists of voices, models and presets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.access import Exempt
from yuliu.presets import as_values
from yuliu.server.responses import json_response, problem_response
from yuliu.server.routing import Route, responding
from yuliu.wire.openai import model_body, models_body, voices_body
from yuliu.wire.problems import Problem
from yuliu.wire.synthesis_options import presets_body

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from yuliu.server.context import ServerContext


async def voices(context: ServerContext, request: Request) -> Response:
    """List the voices, as objects, or as bare names with ``?format=names``."""
    names_only = request.query_params.get("format") == "names"
    return json_response(request.scope, voices_body(context.loading.voices(), names_only=names_only))


async def presets(context: ServerContext, request: Request) -> Response:
    """List the presets that requests may name."""
    return json_response(request.scope, presets_body([as_values(each) for each in context.gateway.presets.values()]))


async def models(context: ServerContext, request: Request) -> Response:
    """List OpenAI's models and ours."""
    return json_response(request.scope, models_body(context.loading.voices()))


async def model(context: ServerContext, request: Request) -> Response:
    """Return one model of that list."""
    body = model_body(request.path_params["name"], context.loading.voices())
    if body is None:
        return problem_response(request.scope, Problem(404, "model_not_found", "there is no such model"))
    return json_response(request.scope, body)


ROUTES = (
    Route(
        path="/v1/audio/voices",
        methods=("GET",),
        access=Exempt.ANY_KEY,
        name="voices",
        summary="List the voices",
        endpoint=responding(voices),
        response="VoiceList",
    ),
    Route(
        path="/v1/presets",
        methods=("GET",),
        access=Exempt.ANY_KEY,
        name="presets",
        summary="List the presets",
        endpoint=responding(presets),
        response="PresetList",
    ),
    Route(
        path="/v1/models",
        methods=("GET",),
        access=Exempt.ANY_KEY,
        name="models",
        summary="List the models",
        endpoint=responding(models),
        response="ModelList",
    ),
    Route(
        path="/v1/models/{name}",
        methods=("GET",),
        access=Exempt.ANY_KEY,
        name="model",
        summary="Return one model",
        endpoint=responding(model),
        response="Model",
    ),
)
