"""A client transport directly to a server's application, with connections that a test can drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serving import Gate, tone_synthesizer

from yuliu.client import AsgiTransport, ConnectionLost, Retry
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.server.app import create_app

if TYPE_CHECKING:
    from yuliu.client.asgi import AsgiSocket

AT_ONCE = Retry(num_attempts=3, first_wait_s=0.0)


class InProcess(AsgiTransport):
    """Transport that keeps its sockets for a test to drop, and can be told to fail to connect."""

    def __init__(self, gate: Gate) -> None:
        engine = ToneEngine(ToneScript(step_s_per_frame=1.0), sleep=gate)
        super().__init__(create_app(lambda: tone_synthesizer(engine)))
        self.sockets: list[AsgiSocket] = []
        self.num_failing = self.num_asked = 0

    async def connect(self) -> AsgiSocket:
        self.num_asked += 1
        if self.num_failing:
            self.num_failing -= 1
            raise ConnectionLost("told to fail")
        self.sockets.append(await super().connect())
        return self.sockets[-1]
