"""Queue of events: order, the end, and backpressure."""

from __future__ import annotations

import asyncio

import pytest

from yuliu.client.decode import EncodedSound
from yuliu.client.errors import ConnectionLost
from yuliu.client.event_queue import MAX_UNREAD_BYTES, EventQueue
from yuliu.wire.native.messages import Done, Started

FULL = EncodedSound(0, bytes(MAX_UNREAD_BYTES + 1))


async def test_events_come_in_order_until_the_end() -> None:
    """Waiting events are read after the end, and later ones are ignored."""
    queue = EventQueue()
    queue.put(Started())
    queue.put(Done())
    queue.close()
    queue.put(Started())
    assert [type(event) async for event in queue.events()] == [Started, Done]


async def test_reader_waits_for_events() -> None:
    """An event wakes a waiting reader."""
    queue = EventQueue()
    events = queue.events()
    reading = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    queue.put(Done())
    assert isinstance(await reading, Done)


async def test_error_follows_the_last_event() -> None:
    """The first error counts."""
    queue = EventQueue()
    queue.put(Done())
    queue.close(ConnectionLost("first"))
    queue.close(ConnectionLost("second"))
    events = queue.events()
    assert isinstance(await anext(events), Done)
    with pytest.raises(ConnectionLost, match="first"):
        await anext(events)


async def test_discard_drops_waiting_events() -> None:
    """A cancelled stream gives its reader nothing further."""
    queue = EventQueue()
    queue.put(FULL)
    queue.discard()
    await queue.room()
    assert [event async for event in queue.events()] == []


@pytest.mark.parametrize("how", ["read", "close", "discard"])
async def test_sender_waits_for_room(how: str) -> None:
    """Too much unread audio holds the sender until the reader catches up, or the stream ends."""
    queue = EventQueue()
    queue.put(FULL)
    sending = asyncio.create_task(queue.room())
    await asyncio.sleep(0)
    assert not sending.done()
    if how == "read":
        assert await anext(queue.events()) is FULL
    else:
        getattr(queue, how)()
    await sending
