"""A delivery over a WebSocket of its own, for protocols that speak one text on each connection.

The shell accepts the connection, hands messages to a session, sends what the session makes of the delivery's events,
and ends the delivery when the client leaves, opens nothing in time, or the server stops.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from websockets.frames import CloseCode

from yuliu.delivery import AudioEncoded, Delivery
from yuliu.errors import Closed, TimedOut, YuliuError
from yuliu.server.responses import problem_response, request_id
from yuliu.server.routing import caller_of, route_of
from yuliu.server.transport.websocket import CARRIER, Carrier
from yuliu.wire.problems import problem_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.types import Message

    from yuliu.delivery import DeliveryEvent, PlaybackStalled
    from yuliu.server.context import ServerContext
    from yuliu.server.routing import Exchange


class Session(Protocol):
    """One connection, as a protocol reads its messages and writes its events."""

    def receive(self, frame: str | bytes) -> None:
        """Act on a message of the client: open the delivery, write text, end it.

        Raises:
            YuliuError: The message is wrong; the delivery fails.
        """
        ...

    def frames(self, event: DeliveryEvent) -> Iterable[str | bytes]:
        """Return the messages that carry an event."""
        ...


async def deliver_over_websocket(
    context: ServerContext, exchange: Exchange, begin: Callable[[Delivery], Session]
) -> None:
    """Speak one text on one WebSocket.

    Args:
        context: Shared parts of all endpoints.
        exchange: The handshake.
        begin: Returns the session of a delivery that is not open yet.
    """
    if not await accept(context, exchange):
        return
    limits = context.limits.native
    with Delivery(context.gateway, caller_of(exchange)) as delivery:
        socket = _SocketSink(exchange, delivery, begin(delivery))
        async with asyncio.TaskGroup() as tasks:
            watching = [tasks.create_task(socket.read(limits.idle_s)), tasks.create_task(socket.drain(limits.drain_s))]
            await socket.opened.wait()
            await delivery.run(socket)
            for task in watching:
                task.cancel()
        await socket.close()


async def accept(context: ServerContext, exchange: Exchange) -> bool:
    """Accept a WebSocket; refuse the handshake while there are no voices. Return whether it was accepted."""
    await exchange.receive()  # websocket.connect
    try:
        context.gateway.synthesizer()
    except YuliuError as error:
        context.gateway.metrics.error_told(route_of(exchange.scope).name, error.code)
        await problem_response(exchange.scope, problem_of(error))(*exchange)
        return False
    connection_id = request_id(exchange.scope).encode("ascii")
    await exchange.send({"type": "websocket.accept", "headers": [(b"x-request-id", connection_id)]})
    return True


def carrier_of(exchange: Exchange) -> Carrier:
    """Return what the transport says of its connection; another server's says nothing."""
    carrier: Carrier | None = exchange.scope["extensions"].get(CARRIER, {}).get("carrier")
    return carrier or Carrier()


class _SocketSink:
    """One connection."""

    def __init__(self, exchange: Exchange, delivery: Delivery, session: Session) -> None:
        self.opened = asyncio.Event()
        """Set when the delivery was opened, or has failed or was cancelled before."""
        self._exchange, self._delivery, self._session = exchange, delivery, session
        self._carrier = carrier_of(exchange)
        self._is_stopped = False

    async def read(self, idle_s: float) -> None:
        """Hand messages to the session until the client is gone."""
        try:
            async with asyncio.timeout(idle_s) as opening:
                while (message := await self._exchange.receive())["type"] != "websocket.disconnect":
                    text, data = message.get("text"), message.get("bytes")
                    self._receive(text if text is not None else data or b"")
                    if self.opened.is_set():
                        opening.reschedule(None)
            self._delivery.cancel()
        except TimeoutError:
            self._delivery.fail(TimedOut(f"nothing was opened within {idle_s:g} s"))
        self.opened.set()

    async def drain(self, limit_s: float) -> None:
        """Give the delivery time to finish once the server stops, then fail it."""
        await self._carrier.draining.wait()
        if self.opened.is_set():
            await asyncio.sleep(limit_s)
        self._delivery.fail(Closed("the server is shutting down; its time for streams is up"))
        self.opened.set()

    async def send(self, event: DeliveryEvent) -> None:
        """Send the messages of an event; audio only while not too much of it is unconfirmed."""
        while isinstance(event, AudioEncoded) and self._carrier.receipts.is_full and not self._is_stopped:
            self._carrier.awake.clear()
            await self._carrier.awake.wait()
        for frame in self._session.frames(event):
            await self._send({"type": "websocket.send", "text" if isinstance(frame, str) else "bytes": frame})

    def stalled(self, _: PlaybackStalled) -> bool:
        """Report nothing: events have their order, and this one none."""
        return False

    def stop(self) -> None:
        """Wait no longer for the client."""
        self._is_stopped = True
        self._carrier.awake.set()

    async def close(self) -> None:
        """Close the connection, if the client has not."""
        code = CloseCode.NORMAL_CLOSURE if self._delivery.error is None else CloseCode.INTERNAL_ERROR
        if self._carrier.draining.is_set():
            code = CloseCode.GOING_AWAY
        await self._send({"type": "websocket.close", "code": int(code), "reason": ""})

    async def _send(self, message: Message) -> None:
        try:
            await self._exchange.send(message)
        except OSError:  # the client is gone
            self._delivery.cancel()

    def _receive(self, frame: str | bytes) -> None:
        try:
            self._session.receive(frame)
        except YuliuError as error:
            self._delivery.fail(error)
        if self._delivery.is_open or self._delivery.error is not None:
            self.opened.set()
