"""``POST /v1/stream``: text comes in the request's body while it is written, audio goes out in the answer meanwhile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect

from yuliu.errors import TimedOut, YuliuError
from yuliu.server.endpoints.native.orders import change_of, order_of
from yuliu.server.http_delivery import PlainBody, deliver_over_http
from yuliu.server.responses import header_text
from yuliu.server.routing import principal_of
from yuliu.server.transport.http import SLOW_BODY
from yuliu.wire.native import messages as said
from yuliu.wire.native.body_codec import Body, start_of_query

if TYPE_CHECKING:
    from yuliu.delivery import Delivery
    from yuliu.server.context import ServerContext
    from yuliu.server.http_delivery import BodyCodec
    from yuliu.server.routing import Exchange
    from yuliu.wire.native.messages import ForText


async def stream_over_http(context: ServerContext, exchange: Exchange) -> None:
    """Speak the body of a request while it comes."""
    request = _StreamedRequest(context, exchange)
    await deliver_over_http(context, exchange, request.open, feed=request.feed)


class _StreamedRequest:
    """One request whose body is read while it is spoken."""

    def __init__(self, context: ServerContext, exchange: Exchange) -> None:
        self._context, self._scope, self._receive = context, exchange.scope, exchange.receive
        self._body: Body | None = None

    async def open(self, delivery: Delivery) -> BodyCodec:
        """Read the body until it is known what to speak with."""
        query = dict(parse_qsl(self._scope["query_string"].decode("latin-1"), keep_blank_values=True))
        self._body = Body(header_text(self._scope, b"content-type") or None, start_of_query(query))
        if (extension := self._scope.get("extensions", {}).get(SLOW_BODY)) is not None:
            extension["allow"]()
        idle_s = self._context.limits.native.idle_text_s
        try:
            async with asyncio.timeout(idle_s):
                while not delivery.is_open:
                    await self._read(delivery)
        except TimeoutError:
            raise TimedOut(f"the body did not begin within {idle_s:g} s") from None
        return PlainBody()

    async def feed(self, delivery: Delivery) -> None:
        """Read the rest, and go on until the client is gone."""
        try:
            while True:
                await self._read(delivery)
        except ClientDisconnect:
            return
        except YuliuError as error:
            delivery.fail(error)
            await asyncio.Event().wait()  # until the delivery has told it

    async def _read(self, delivery: Delivery) -> None:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        if delivery.text_ended or self._body is None:
            return
        self._take(self._body.push(message.get("body", b"")), delivery)
        if not message.get("more_body", False) and not delivery.text_ended:
            self._take(self._body.finish(), delivery)

    def _take(self, messages: list[said.Start | ForText], delivery: Delivery) -> None:
        for message in messages:
            match message:
                case said.Start():
                    order = order_of(message, self._context.limits, must_sound=True, progress=False)
                    delivery.open(order, principal_of(self._scope))
                case _ if delivery.text_ended:
                    return
                case said.TextDelta(text=text):
                    delivery.write(text)
                case said.Flush():
                    delivery.flush()
                case said.Config():
                    delivery.change(change_of(message))
                case said.End():
                    delivery.end_text()
