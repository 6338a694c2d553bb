"""The client: another program's Yuliu, over the network or in process.

    async with AsyncClient("http://127.0.0.1:8000") as client, client.stream(voice="baker") as stream:
        await stream.push("你好。")
        await stream.end()
        async for chunk in stream:
            play(chunk.samples)

:class:`Client` is the same without ``async``.
"""

from yuliu.client.asgi import AsgiTransport
from yuliu.client.blocking import BlockingStream, Client
from yuliu.client.client import AsyncClient, Retry
from yuliu.client.clock import ClockOffset, RoundTrip, clock_offset
from yuliu.client.errors import ConnectionLost, ServerRefused
from yuliu.client.jitter import JitterBuffer
from yuliu.client.network import WebSocketTransport
from yuliu.client.player import NullOutput, Player
from yuliu.client.sounds import Sound
from yuliu.client.stream import ClientStream

__all__ = (
    "AsgiTransport",
    "AsyncClient",
    "BlockingStream",
    "Client",
    "ClientStream",
    "ClockOffset",
    "ConnectionLost",
    "JitterBuffer",
    "NullOutput",
    "Player",
    "Retry",
    "RoundTrip",
    "ServerRefused",
    "Sound",
    "WebSocketTransport",
    "clock_offset",
)
