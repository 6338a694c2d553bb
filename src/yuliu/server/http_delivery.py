"""A delivery as the body of an HTTP answer.

Nothing is sent before the first audio is there, so every failure until then is a clean error. A later failure cuts the
body off without its last chunk, so that no client takes a part for the whole.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from starlette.requests import ClientDisconnect

from yuliu.delivery import AudioEncoded, Delivery, DeliveryFailed, DeliveryFinished, DeliveryStarted
from yuliu.errors import YuliuError
from yuliu.server.responses import problem_response
from yuliu.server.routing import caller_of
from yuliu.server.transport.http import cut_off
from yuliu.wire.problems import problem_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.types import Receive

    from yuliu.delivery import DeliveryEvent, PlaybackStalled
    from yuliu.server.context import ServerContext
    from yuliu.server.routing import Exchange
    from yuliu.wire.problems import Problem


class BodyCodec(Protocol):
    """Form of one answer. Its methods are pure."""

    def headers(self, started: DeliveryStarted, audio: AudioEncoded) -> Mapping[str, str]:
        """Return the protocol's headers by lower-case name, ``content-type`` among them.

        Args:
            started: First event of the delivery.
            audio: First audio that is sent.
        """
        ...

    def audio(self, data: bytes) -> bytes:
        """Return the bytes that carry encoded audio."""
        ...

    def finished(self, event: DeliveryFinished) -> bytes:
        """Return the bytes after the last audio."""
        ...

    def failed(self, problem: Problem) -> bytes:
        """Return the bytes that report a failure amid the audio; empty if the protocol cannot report one."""
        ...


class PlainBody:
    """Audio and nothing else."""

    def headers(self, started: DeliveryStarted, _: AudioEncoded) -> Mapping[str, str]:
        """Return the media type."""
        return {"content-type": started.encoding.media_type}

    def audio(self, data: bytes) -> bytes:
        """Return the audio as it is."""
        return data

    def finished(self, _: DeliveryFinished) -> bytes:
        """Return nothing: the end of the body says it."""
        return b""

    def failed(self, _: Problem) -> bytes:
        """Return nothing: the missing end of the body says it."""
        return b""


async def deliver_over_http(
    context: ServerContext,
    exchange: Exchange,
    open_: Callable[[Delivery], Awaitable[BodyCodec]],
    *,
    feed: Callable[[Delivery], Awaitable[None]] | None = None,
) -> None:
    """Answer a request with a delivery.

    Args:
        context: Shared parts of all endpoints.
        exchange: The request.
        open_: Reads the request and opens the delivery.
        feed: Reads the rest of the request while the delivery runs, until the client is gone; None reads nothing.
    """
    with Delivery(context.gateway, caller_of(exchange)) as delivery:
        sink = _HttpSink(exchange, delivery)
        try:
            sink.codec = await open_(delivery)
        except YuliuError as error:
            delivery.fail(error)
            await sink.send(DeliveryFailed(error))
        except ClientDisconnect:
            delivery.cancel()
        else:
            async with asyncio.TaskGroup() as tasks:
                feeding = tasks.create_task(_cancel_when_gone(exchange.receive, delivery, feed))
                await delivery.run(sink)
                feeding.cancel()
            await sink.end()
    if sink.is_started and not sink.is_ended:
        await cut_off(exchange.scope, exchange.receive)


async def _cancel_when_gone(
    receive: Receive, delivery: Delivery, feed: Callable[[Delivery], Awaitable[None]] | None
) -> None:
    """Cancel the delivery when the client disconnects, admitted or not: it frees its place at once."""
    if feed is not None:
        await feed(delivery)
    else:
        while (await receive())["type"] != "http.disconnect":
            pass
    delivery.cancel()


class _HttpSink:
    """The answer to one request. Its head goes out with the first encoded audio."""

    def __init__(self, exchange: Exchange, delivery: Delivery) -> None:
        self.codec: BodyCodec = PlainBody()
        self.is_started = self.is_ended = False
        """True once anything was sent, and once the last chunk was sent."""
        self._exchange, self._delivery = exchange, delivery
        self._begun: DeliveryStarted | None = None
        self._last: bytes | None = None
        delivery.record.status = 0

    async def send(self, event: DeliveryEvent) -> None:
        """Send an event."""
        match event:
            case DeliveryStarted():
                self._begun = event
            case AudioEncoded() if event.data or (event.ending is not None and not self.is_started):
                await self._start(event)
                await self._send_body(self.codec.audio(event.data))
            case DeliveryFinished():
                self._last = self.codec.finished(event)
            case DeliveryFailed(error=error):
                await self._fail(problem_of(error))

    async def end(self) -> None:
        """Send the last chunk, if the delivery has finished. Nothing of the request is left when the client gets it."""
        if self._last is not None:
            self.is_ended = True
            await self._send_body(self._last, more=False)

    def stalled(self, _: PlaybackStalled) -> bool:
        """Report nothing: a body has no place for it."""
        return False

    def stop(self) -> None:
        """Do nothing: the connection wakes a writer whose client is gone."""

    async def _start(self, audio: AudioEncoded) -> None:
        if self.is_started or self._begun is None:
            return
        self.is_started = True
        self._delivery.record.status = 200
        headers = self._headers(self._begun) | dict(self.codec.headers(self._begun, audio))
        encoded = [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
        await self._exchange.send({"type": "http.response.start", "status": 200, "headers": encoded})

    def _headers(self, begun: DeliveryStarted) -> dict[str, str]:
        stream_id = self._delivery.caller.stream_id
        return {
            "cache-control": "no-store",
            "x-sample-rate": str(begun.encoding.sample_rate),
            "x-channels": str(begun.encoding.num_channels),
            "x-request-id": stream_id,
            "x-yuliu-stream": stream_id,
            "x-yuliu-mode": "throughput" if begun.degraded else "normal",
            "x-accel-buffering": "no",
        }

    async def _send_body(self, data: bytes, *, more: bool = True) -> None:
        await self._exchange.send({"type": "http.response.body", "body": data, "more_body": more})

    async def _fail(self, problem: Problem) -> None:
        """Answer with a problem; once audio was sent, report it where the protocol can.

        The body stays without an end even so: programs that read audio alone and skip other events (LiveKit's agents)
        would else take it for whole.
        """
        if not self.is_started:
            self._delivery.record.status = problem.status
            await problem_response(self._exchange.scope, problem)(*self._exchange)
        elif last := self.codec.failed(problem):
            await self._send_body(last)
