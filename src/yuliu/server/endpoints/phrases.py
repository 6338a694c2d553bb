"""``/v1/phrases``: what is spoken ahead, so that it can be sent at once when it is asked for."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from yuliu.errors import InvalidRequest, Overloaded
from yuliu.server.options import stream_options
from yuliu.server.principal import principal_of
from yuliu.server.request_body import body_or_response
from yuliu.server.responses import header_text, json_response, problem_response, request_id
from yuliu.types import StreamClass
from yuliu.wire.openai import SpeechRequest
from yuliu.wire.phrases import MAX_BODY_BYTES, PhrasesRequest, check_total, parse_phrases, phrases_body
from yuliu.wire.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from yuliu.presets import Preset
    from yuliu.server.limits import Limits
    from yuliu.server.loading import Loading
    from yuliu.synthesizer import Synthesizer


def phrase_routes(loading: Loading, presets: Mapping[str, Preset], limits: Limits) -> list[Route]:
    """The paths, over the phrases of a synthesizer."""
    answers = _Phrases(loading, presets, limits)
    return [
        Route("/v1/phrases", answers.all, methods=["GET", "POST", "DELETE"]),
        Route("/v1/phrases/{text:path}", answers.one, methods=["DELETE"]),
    ]


def pin_phrases(synthesizer: Synthesizer, asked: PhrasesRequest, presets: Mapping[str, Preset], limits: Limits) -> None:
    """Speak phrases as the requests for them will be spoken, and keep their sound. Takes its time.

    Raises:
        InvalidRequest: There are too many, or one cannot be spoken or kept; those before it are kept.
        Overloaded: The machine cannot carry it now; those before are kept.
        SynthesisFailed: An engine failed; as above.
    """
    held = [text for texts in synthesizer.pinned.values() for text in texts]
    check_total({*held, *asked.phrases})
    for index, phrase in enumerate(asked.phrases):
        options = stream_options(SpeechRequest(phrase, speed=asked.speed), presets, limits)
        unhurried = replace(options, terms=replace(options.terms, stream_class=StreamClass.BULK))
        try:
            synthesizer.pin((phrase,), voice=asked.voice, options=unhurried)
        except InvalidRequest as error:
            param = error.param if error.param == "voice" else "phrases"
            raise InvalidRequest(f"'phrases[{index}]': {error.message}", param=param) from error


class _Phrases:
    """What is answered. Phrases are spoken on a thread, those of one request at a time; others are not kept waiting."""

    def __init__(self, loading: Loading, presets: Mapping[str, Preset], limits: Limits) -> None:
        self._loading = loading
        self._presets = presets
        self._limits = limits
        self._turn = asyncio.Lock()

    async def all(self, request: Request) -> Response:
        """List them, add some, or remove all."""
        synthesizer = self._loading.synthesizer
        if request.method == "POST":
            if self._turn.locked():
                raise Overloaded("other phrases are being spoken; try again when they are done", retry_after_s=1.0)
            body = await body_or_response(request, MAX_BODY_BYTES)
            if isinstance(body, Response):
                return body
            asked = parse_phrases(body, header_text(request.scope, b"content-type"))
            async with self._turn:
                with principal_of(request.scope).text(sum(map(len, asked.phrases))):
                    await asyncio.to_thread(pin_phrases, synthesizer, asked, self._presets, self._limits)
        elif request.method == "DELETE":
            synthesizer.unpin()
        return json_response(request.scope, phrases_body(synthesizer.pinned))

    async def one(self, request: Request) -> Response:
        """Remove one, of all voices."""
        synthesizer, text = self._loading.synthesizer, request.path_params["text"]
        if not any(text in texts for texts in synthesizer.pinned.values()):
            return problem_response(request.scope, Problem(404, "phrase_not_found", "there is no such phrase"))
        synthesizer.unpin((text,))
        return Response(status_code=204, headers={"X-Request-Id": request_id(request.scope)})
