"""The client: another program's Yuliu, over the network or in process.

    async with AsyncClient("http://127.0.0.1:8000") as client, client.stream(voice="baker") as stream:
        await stream.push("你好。")
        await stream.end()
        async for chunk in stream:
            play(chunk.samples)

:class:`Client` is the same without ``async``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yuliu.client.asgi import AsgiTransport
    from yuliu.client.blocking import BlockingStream, Client
    from yuliu.client.client import AsyncClient, Retry
    from yuliu.client.clock import ClockOffset, RoundTrip, clock_offset
    from yuliu.client.device import SoundDevice, open_sound_device, sound_device_name
    from yuliu.client.errors import ConnectionLost, ServerRefused, SoundDeviceFailed
    from yuliu.client.jitter import JitterBuffer
    from yuliu.client.network import WebSocketTransport
    from yuliu.client.player import NullOutput, Output, Player
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
    "Output",
    "Player",
    "Retry",
    "RoundTrip",
    "ServerRefused",
    "Sound",
    "SoundDevice",
    "SoundDeviceFailed",
    "WebSocketTransport",
    "clock_offset",
    "open_sound_device",
    "sound_device_name",
)

_HOMES = {
    "asgi": ("AsgiTransport",),
    "blocking": ("BlockingStream", "Client"),
    "client": ("AsyncClient", "Retry"),
    "clock": ("ClockOffset", "RoundTrip", "clock_offset"),
    "device": ("SoundDevice", "open_sound_device", "sound_device_name"),
    "errors": ("ConnectionLost", "ServerRefused", "SoundDeviceFailed"),
    "jitter": ("JitterBuffer",),
    "network": ("WebSocketTransport",),
    "player": ("NullOutput", "Output", "Player"),
    "sounds": ("Sound",),
    "stream": ("ClientStream",),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Public names are imported when first used: who only plays loads no network."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"yuliu.client.{module}"), name)
    raise AttributeError(f"module 'yuliu.client' has no attribute {name!r}")
