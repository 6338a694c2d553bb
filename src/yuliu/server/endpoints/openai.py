"""``POST /v1/audio/speech``: one request, one text, one streamed body."""

from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.delivery import Order, SpeakingQuery, VoiceQuery
from yuliu.server.http_delivery import deliver_over_http
from yuliu.server.request_body import read_body
from yuliu.server.responses import headers_of
from yuliu.server.routing import Route, principal_of, route_of
from yuliu.stream import StreamLimits
from yuliu.wire.openai import ALIASES, CODECS, check_model, parse_speech, speech_encoding
from yuliu.wire.openai_events import (
    MEDIA_TYPE,
    done_event,
    error_event,
    skipped_characters,
    sound_events,
    usage_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.delivery import AudioEncoded, Delivery, DeliveryFinished, DeliveryStarted
    from yuliu.server.context import ServerContext
    from yuliu.server.limits import Limits
    from yuliu.server.routing import Exchange
    from yuliu.wire.openai import SpeechRequest
    from yuliu.wire.problems import Problem

THREAD_BYTES = 32_768
"""Longer bodies are parsed on a thread: hostile ones take a tenth of a second."""


async def speak(context: ServerContext, exchange: Exchange) -> None:
    """Answer one speech request."""

    async def open_(delivery: Delivery) -> _SpeechBody:
        synthesizer = context.gateway.synthesizer()
        request = await _read(context, exchange)
        check_model(request.model, synthesizer.voices)
        delivery.open(order_of(request, context.limits), principal_of(exchange.scope))
        delivery.write(request.input)
        delivery.end_text()
        return _SpeechBody(is_events=request.stream_format == "sse", is_whole=not request.stream)

    await deliver_over_http(context, exchange, open_)


def order_of(request: SpeechRequest, limits: Limits) -> Order:
    """Return the order that a speech request asks for.

    A reader that takes nothing is cut off by its connection, which alone sees what was sent: the stream has no limit of
    its own for that.
    """
    speaking = SpeakingQuery(
        speed=request.speed,
        manner=request.manner,
        lexicon=request.lexicon,
        lexicon_entries=request.lexicon_entries,
        limits=StreamLimits(total_s=limits.stream_s),
        is_complete=True,
    )
    return Order(
        encoding=functools.partial(speech_encoding, request),
        voice=VoiceQuery(request.voice, stand_ins=ALIASES, alternative=request.model),
        speaking=speaking,
        is_whole=not request.stream,
        text_field="input",
    )


async def _read(context: ServerContext, exchange: Exchange) -> SpeechRequest:
    """Read the request; its body is counted while it is held."""
    with context.gateway.capacity.body() as room:
        max_bytes = route_of(exchange.scope).body_limit(context.limits)
        body = await read_body(exchange.scope, exchange.receive, max_bytes, take=room.take)
        headers = headers_of(exchange.scope)
        parse = functools.partial(
            parse_speech, body, headers.get("content-type"), context.limits.speech, headers=headers
        )
        return parse() if len(body) <= THREAD_BYTES else await asyncio.to_thread(parse)


@dataclass(frozen=True, slots=True)
class _SpeechBody:
    """Body of an answer: bare audio, or server-sent events that carry it."""

    is_events: bool
    is_whole: bool

    def headers(self, started: DeliveryStarted, audio: AudioEncoded) -> Mapping[str, str]:
        """Return the headers; a body that is sent whole has its length, and what of the text is missing."""
        headers = {
            "content-type": MEDIA_TYPE if self.is_events else started.encoding.media_type,
            "x-encoding": CODECS[started.encoding.name],
            "x-yuliu-lead-in-ms": str(round(started.lead_in_ms)),
        }
        if self.is_whole and audio.ending is not None:
            skipped = skipped_characters(audio.ending.coverage)
            headers["content-length"] = str(len(audio.data))
            headers["x-yuliu-skipped"] = ", ".join(f"{rule}={count}" for rule, count in skipped.items())
        return headers

    def audio(self, data: bytes) -> bytes:
        """Return audio, bare or in events."""
        return sound_events(data) if self.is_events else data

    def finished(self, event: DeliveryFinished) -> bytes:
        """Return the last event."""
        usage = usage_of(event.num_characters, event.ending.audio_s)
        return done_event(usage, skipped_characters(event.ending.coverage)) if self.is_events else b""

    def failed(self, problem: Problem) -> bytes:
        """Return the event of an error."""
        return error_event(problem) if self.is_events else b""


ROUTES = (
    Route(
        path="/v1/audio/speech",
        methods=("POST",),
        access="speak",
        name="speech",
        summary="Speak a text",
        endpoint=speak,
        max_body_bytes=lambda limits: limits.speech.max_body_bytes,
        request="SpeechRequest",
        response="Sound",
    ),
)
