"""Client of a Yuliu server, over the network or in process.

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
    from yuliu.client.decode import EncodedSound
    from yuliu.client.errors import ConnectionLost, ServerRefused
    from yuliu.client.network import WebSocketTransport
    from yuliu.client.stream import ClientStream
    from yuliu.playback.device import SoundDevice, SoundDeviceFailed, open_sound_device, sound_device_name
    from yuliu.playback.jitter_buffer import JitterBuffer
    from yuliu.playback.player import AudioOutput, NullOutput, Player

__all__ = (
    "AsgiTransport",
    "AsyncClient",
    "AudioOutput",
    "BlockingStream",
    "Client",
    "ClientStream",
    "ClockOffset",
    "ConnectionLost",
    "EncodedSound",
    "JitterBuffer",
    "NullOutput",
    "Player",
    "Retry",
    "RoundTrip",
    "ServerRefused",
    "SoundDevice",
    "SoundDeviceFailed",
    "WebSocketTransport",
    "clock_offset",
    "open_sound_device",
    "sound_device_name",
)

_HOMES = {
    "yuliu.client.asgi": ("AsgiTransport",),
    "yuliu.client.blocking": ("BlockingStream", "Client"),
    "yuliu.client.client": ("AsyncClient", "Retry"),
    "yuliu.client.clock": ("ClockOffset", "RoundTrip", "clock_offset"),
    "yuliu.playback.device": ("SoundDevice", "SoundDeviceFailed", "open_sound_device", "sound_device_name"),
    "yuliu.client.errors": ("ConnectionLost", "ServerRefused"),
    "yuliu.playback.jitter_buffer": ("JitterBuffer",),
    "yuliu.client.network": ("WebSocketTransport",),
    "yuliu.playback.player": ("NullOutput", "AudioOutput", "Player"),
    "yuliu.client.decode": ("EncodedSound",),
    "yuliu.client.stream": ("ClientStream",),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Import public names on first use, so that a program that only plays audio loads no network code."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'yuliu.client' has no attribute {name!r}")
