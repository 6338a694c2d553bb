"""Replay buffers are bounded over all streams."""

from __future__ import annotations

import gc
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from native import LONG, SoundFrame, Talk, pcm_of, talking
from serving import running_server

from yuliu.server.limits import Limits, NativeLimits
from yuliu.wire.native import replay_buffer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

TEXT = LONG[:350]
"""Nine seconds, 450 kB."""
MOST_BYTES = 400_000
KEPT_TOTAL_BYTES = 2_000_000


@pytest.fixture
def running() -> Iterator[Running]:
    """A server whose replay buffers hold three or four streams of that length."""
    limits = Limits(native=NativeLimits(kept_total_bytes=KEPT_TOTAL_BYTES, kept_bytes=600_000))
    with running_server(limits) as server:
        yield server


def spoken(running: Running, *, vanish: bool, text: str = TEXT) -> tuple[str, bytes]:
    """Return the id and the audio of a stream that its client has left."""
    with talking(running.port, ping_interval=None) as talk:
        talk.say("start", resume_s=60)
        talk.say("text", text=text)
        if vanish:  # it waits for more text
            until_received(talk, MOST_BYTES)
        else:
            talk.say("end")
            talk.until("done")
        talk.vanish()
        return talk.told("started")[0]["stream"], sound_of(talk)


def until_received(talk: Talk, num_bytes: int) -> None:
    """Receive until there are at least ``num_bytes`` of audio."""
    talk.say("flush")
    while len(sound_of(talk)) < num_bytes:
        talk.next()


def sound_of(talk: Talk) -> bytes:
    return b"".join(each.data for each in talk.received if isinstance(each, SoundFrame))


def resumed(running: Running, stream: str, offset: int, seq: int) -> bytes | str:
    """Return the audio from there on, or the code of the error."""
    with talking(running.port) as talk:
        talk.say("resume", stream=stream, offset=offset, seq=seq)
        while not talk.told("done"):
            told = talk.next()
            if isinstance(told, dict) and told["type"] == "error":
                return str(told["code"])
        return sound_of(talk)


def test_the_oldest_audio_is_dropped_first(running: Running) -> None:
    """The oldest stream cannot be resumed; the newest can, to the byte and without a gap."""
    streams = [spoken(running, vanish=False) for _ in range(8)]
    whole = pcm_of(running, TEXT)
    assert all(sound == whole for _, sound in streams)
    answers = [resumed(running, stream, 0, 0) for stream, _ in streams]
    assert answers[:3] == ["not_resumable"] * 3
    assert answers[-1] == whole
    assert all(answer in ("not_resumable", whole) for answer in answers)
    assert answers == sorted(answers, key=lambda answer: answer != "not_resumable")


def test_connected_clients_keep_their_audio_longest(running: Running) -> None:
    """Streams that are over or wait are dropped first, though their audio is younger."""
    with talking(running.port) as there:
        there.say("start", resume_s=60)
        there.say("text", text=TEXT)
        until_received(there, MOST_BYTES)
        stream, sound = there.told("started")[0]["stream"], sound_of(there)
        for _ in range(8):
            spoken(running, vanish=False)
        there.vanish()
        with talking(running.port) as talk:
            talk.say("resume", stream=stream, offset=0, seq=0)
            talk.say("end")
            talk.until("done")
            assert sound_of(talk).startswith(sound)


def test_unsent_audio_is_never_dropped() -> None:
    """A stream is spoken whole even if nothing may be kept."""
    with running_server(Limits(native=NativeLimits(kept_total_bytes=0))) as running:
        stream, sound = spoken(running, vanish=False)
        assert sound == pcm_of(running, TEXT)
        assert resumed(running, stream, 0, 0) == "not_resumable"


def test_memory_is_bounded_for_many_streams(running: Running) -> None:
    """Buffers do not grow with the number of streams that are over or left."""
    tracemalloc.start()
    try:
        for _ in range(15):
            spoken(running, vanish=False)
            spoken(running, vanish=True)
        gc.collect()
        snapshot = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    held = snapshot.filter_traces([tracemalloc.Filter(True, replay_buffer.__file__)]).statistics("filename")
    assert KEPT_TOTAL_BYTES / 2 < held[0].size < KEPT_TOTAL_BYTES + 300_000  # of 13 MB that were sent
