"""A made-up protocol, for tests of what every protocol gets from the seam: lines of text over a WebSocket.

The client sends ``speak VOICE``, then ``+TEXT`` as often as it likes, then ``end`` or ``cancel``. The server sends
``started RATE``, binary frames of PCM, then ``done CHARACTERS`` or ``error CODE``.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from yuliu.delivery import (
    AudioEncoded,
    DeliveryFailed,
    DeliveryFinished,
    DeliveryStarted,
    Order,
    VoiceQuery,
)
from yuliu.errors import InvalidRequest
from yuliu.server.routes import ROUTES
from yuliu.server.routing import WEBSOCKET, Route, principal_of
from yuliu.server.websocket_delivery import deliver_over_websocket
from yuliu.wire.encoding import encoding_asked_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yuliu.access import Principal
    from yuliu.delivery import Delivery, DeliveryEvent
    from yuliu.server.context import ServerContext
    from yuliu.server.routing import Exchange

PATH = "/lines"
PCM = functools.partial(encoding_asked_for, "pcm", field="format", sample_rate=None, channels=1, kbps=None)


class LineSession:
    """One connection of the protocol."""

    def __init__(self, delivery: Delivery, principal: Principal) -> None:
        self._delivery, self._principal = delivery, principal

    def receive(self, frame: str | bytes) -> None:
        """Act on each line of a frame."""
        for line in str(frame).splitlines():
            self._act(line)

    def _act(self, line: str) -> None:
        delivery = self._delivery
        match line.split(" ", 1):
            case ["speak", voice] if not delivery.is_open:
                delivery.open(Order(encoding=PCM, voice=VoiceQuery(voice), max_characters=1_000), self._principal)
            case ["end"] if delivery.is_open:
                delivery.end_text()
            case ["cancel"] if delivery.is_open:
                delivery.cancel()
            case _ if line.startswith("+") and delivery.is_open:
                delivery.write(line[1:])
            case _:
                raise InvalidRequest("a line is 'speak VOICE', '+TEXT', 'end' or 'cancel'")

    def frames(self, event: DeliveryEvent) -> Iterable[str | bytes]:
        """Return the frames of an event."""
        match event:
            case DeliveryStarted(encoding=encoding):
                return [f"started {encoding.sample_rate}"]
            case AudioEncoded(data=data) if data:
                return [data]
            case DeliveryFinished(num_characters=num_characters):
                return [f"done {num_characters}"]
            case DeliveryFailed(error=error):
                return [f"error {error.code}"]
        return []


async def speak_lines(context: ServerContext, exchange: Exchange) -> None:
    """Serve one connection."""
    principal = principal_of(exchange.scope)
    await deliver_over_websocket(context, exchange, lambda delivery: LineSession(delivery, principal))


LINES = Route(
    path=PATH,
    methods=(WEBSOCKET,),
    access="speak",
    name="lines",
    summary="Speak lines",
    endpoint=speak_lines,
)
WITH_LINES = (*ROUTES, LINES)
