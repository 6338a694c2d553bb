"""What is about the text of a stream is taken within bounds, and a change is looked at before it is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from manual_stream import ManualScheduler, open_manual_stream, run

from yuliu.audio.chain import NO_EFFECTS
from yuliu.errors import InvalidRequest, Overloaded
from yuliu.metrics.metrics import Metrics
from yuliu.server.capacity import Capacity
from yuliu.server.native.commands import (
    CONFIG_NUM_BYTES,
    CONFIG_NUM_CHARACTERS,
    MESSAGE_NUM_BYTES,
    CommandQueue,
)
from yuliu.server.principal import Principal
from yuliu.wire.native.messages import Config, End, Flush, TextDelta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.types import Lang

MAX_CHARACTERS, MAX_BYTES = 6, 12 + 4 * MESSAGE_NUM_BYTES


@pytest.fixture
def inbox() -> Iterator[CommandQueue]:
    with Capacity(1, MAX_BYTES, Metrics()).body() as room:
        yield CommandQueue(MAX_CHARACTERS, NO_EFFECTS, ("zh", "en"), guest=Principal(), room=room)


def test_counts_what_is_put(inbox: CommandQueue) -> None:
    """Characters as they are, and each message without text as one."""
    inbox.put(TextDelta("a", "abc"))
    inbox.put(Flush("a"))
    assert (inbox.num_characters, inbox.text_ended) == (3, False)
    inbox.put(TextDelta("a", "d"))
    inbox.put(End("a"))
    assert (inbox.num_characters, inbox.text_ended) == (4, True)
    with pytest.raises(InvalidRequest, match="at most 6 characters"):
        inbox.put(Flush("a"))


def test_what_has_no_room_is_refused(inbox: CommandQueue) -> None:
    """Bytes count, not characters, and each message as much as it takes while it waits."""
    inbox.put(Flush("a"))
    inbox.put(Flush("a"))
    inbox.put(TextDelta("a", "你好"))
    inbox.put(TextDelta("a", "吗"))
    with pytest.raises(Overloaded):
        inbox.put(TextDelta("a", "b"))


def test_changes_are_few() -> None:
    """One takes more than a character does."""
    rooms = Capacity(1, 2 * CONFIG_NUM_BYTES, Metrics())
    with rooms.body() as room:
        inbox = CommandQueue(2 * CONFIG_NUM_CHARACTERS, NO_EFFECTS, ("zh", "en"), guest=Principal(), room=room)
        inbox.put(Config("a", speed=2.0))
        inbox.put(Config("a", speed=1.0))
        assert rooms.num_body_bytes == 2 * CONFIG_NUM_BYTES
        with pytest.raises(InvalidRequest, match="at most"):
            inbox.put(TextDelta("a", "b"))


def test_what_was_done_takes_only_what_its_text_does() -> None:
    """That may be spoken for long."""

    async def check() -> None:
        rooms = Capacity(1, 10_000, Metrics())
        with rooms.body() as room:
            inbox = CommandQueue(1_000, NO_EFFECTS, ("zh", "en"), guest=Principal(), room=room)
            for message in (TextDelta("a", "Hello."), Config("a", speed=2.0), Flush("a"), End("a")):
                inbox.put(message)
            assert rooms.num_body_bytes == 6 + 3 * MESSAGE_NUM_BYTES + CONFIG_NUM_BYTES
            scheduler = ManualScheduler()
            stream = open_manual_stream(scheduler)
            await scheduler.admit()
            await inbox.empty_into(stream)
            assert rooms.num_body_bytes == 6
            stream.cancel()
        assert rooms.num_body_bytes == 0

    run(check())


@pytest.mark.parametrize(
    ("config", "param"),
    [
        (Config("a", chunking="nonsense"), "chunking.strategy"),
        (Config("a", language="zh"), None),
        (Config("a", language="auto"), None),
        (Config("a", effects={"volume_db": 3.0}), None),
    ],
)
def test_looks_at_a_change(inbox: CommandQueue, config: Config, param: str | None) -> None:
    """Before it is taken, so that nothing is changed by half."""
    if param is None:
        inbox.check(config)
        return
    with pytest.raises(InvalidRequest) as refused:
        inbox.check(config)
    assert refused.value.param == param


def test_a_language_that_the_voice_does_not_speak() -> None:
    """It is refused, though the wire knows it."""
    with Capacity(1, MAX_BYTES, Metrics()).body() as room:
        mandarin: tuple[Lang, ...] = ("zh",)
        inbox = CommandQueue(MAX_CHARACTERS, NO_EFFECTS, mandarin, guest=Principal(), room=room)
        with pytest.raises(InvalidRequest) as refused:
            inbox.check(Config("a", language="en"))
    assert refused.value.param == "language"
