"""``/v1/phrases``: phrases that are spoken ahead, so that they can be sent at once when a client asks for them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import Response

from yuliu.delivery import SpeakingQuery, stream_options
from yuliu.errors import InvalidRequest, Overloaded
from yuliu.server.responses import header_text, json_response, problem_response, request_id
from yuliu.server.routing import Route, body_of, principal_of, responding
from yuliu.stream import StreamLimits
from yuliu.types import StreamClass
from yuliu.wire.phrases import MAX_BODY_BYTES, PhrasesRequest, check_total, parse_phrases, phrases_body
from yuliu.wire.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from yuliu.presets import Preset
    from yuliu.server.context import ServerContext
    from yuliu.server.limits import Limits
    from yuliu.synthesizer import Synthesizer


def pin_phrases(synthesizer: Synthesizer, asked: PhrasesRequest, presets: Mapping[str, Preset], limits: Limits) -> None:
    """Speak phrases as requests for them will be spoken, and keep their audio. Blocks until all are spoken.

    Raises:
        InvalidRequest: There are too many, or one cannot be spoken or kept; those before it are kept.
        Overloaded: The machine cannot carry it now; those before are kept.
        SynthesisFailed: An engine failed; as above.
    """
    held = [text for texts in synthesizer.pinned.values() for text in texts]
    check_total({*held, *asked.phrases})
    limits_ = StreamLimits(total_s=limits.stream_s)
    options = stream_options(SpeakingQuery(speed=asked.speed, limits=limits_, is_complete=True), presets)
    unhurried = replace(options, terms=replace(options.terms, stream_class=StreamClass.BULK))
    for index, phrase in enumerate(asked.phrases):
        try:
            synthesizer.pin((phrase,), voice=asked.voice, options=unhurried)
        except InvalidRequest as error:
            param = error.param if error.param == "voice" else "phrases"
            raise InvalidRequest(f"'phrases[{index}]': {error.message}", param=param) from error


async def list_phrases(context: ServerContext, request: Request) -> Response:
    """List the phrases."""
    return json_response(request.scope, phrases_body(context.gateway.synthesizer().pinned))


async def add_phrases(context: ServerContext, request: Request) -> Response:
    """Speak phrases on a thread and keep them, those of one request at a time; further requests are refused."""
    synthesizer = context.gateway.synthesizer()
    if context.pinning.locked():
        raise Overloaded("other phrases are being spoken; try again when they are done", retry_after_s=1.0)
    asked = parse_phrases(await body_of(context, request), header_text(request.scope, b"content-type"))
    async with context.pinning:
        with principal_of(request.scope).text(sum(map(len, asked.phrases))):
            await asyncio.to_thread(pin_phrases, synthesizer, asked, context.gateway.presets, context.limits)
    return json_response(request.scope, phrases_body(synthesizer.pinned))


async def remove_phrases(context: ServerContext, request: Request) -> Response:
    """Remove all phrases."""
    synthesizer = context.gateway.synthesizer()
    synthesizer.unpin()
    return json_response(request.scope, phrases_body(synthesizer.pinned))


async def remove_phrase(context: ServerContext, request: Request) -> Response:
    """Remove one phrase, of all voices."""
    synthesizer, text = context.gateway.synthesizer(), request.path_params["text"]
    if not any(text in texts for texts in synthesizer.pinned.values()):
        return problem_response(request.scope, Problem(404, "phrase_not_found", "there is no such phrase"))
    synthesizer.unpin((text,))
    return Response(status_code=204, headers={"X-Request-Id": request_id(request.scope)})


ROUTES = (
    Route(
        path="/v1/phrases",
        methods=("GET",),
        access="phrases",
        name="phrases",
        summary="List the phrases that are spoken ahead",
        endpoint=responding(list_phrases),
        response="PhraseList",
    ),
    Route(
        path="/v1/phrases",
        methods=("POST",),
        access="phrases",
        name="phrases",
        summary="Speak phrases ahead",
        endpoint=responding(add_phrases),
        max_body_bytes=MAX_BODY_BYTES,
        request="Phrases",
        response="PhraseList",
    ),
    Route(
        path="/v1/phrases",
        methods=("DELETE",),
        access="phrases",
        name="phrases",
        summary="Remove all phrases",
        endpoint=responding(remove_phrases),
        response="PhraseList",
    ),
    Route(
        path="/v1/phrases/{text:path}",
        methods=("DELETE",),
        access="phrases",
        name="phrase",
        summary="Remove a phrase",
        endpoint=responding(remove_phrase),
    ),
)
