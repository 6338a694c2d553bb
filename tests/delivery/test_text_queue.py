"""Text is queued within limits, and changes are checked before they are queued."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from manual_stream import ManualScheduler, open_manual_stream, run

from yuliu.access.principal import Principal
from yuliu.audio.chain import NO_EFFECTS
from yuliu.delivery.capacity import Capacity
from yuliu.delivery.text_queue import (
    CHANGE_NUM_BYTES,
    CHANGE_NUM_CHARACTERS,
    ITEM_NUM_BYTES,
    SpeakingChange,
    TextQueue,
)
from yuliu.errors import InvalidRequest, Overloaded
from yuliu.metrics.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.types import Lang

MAX_CHARACTERS, MAX_BYTES = 6, 12 + 4 * ITEM_NUM_BYTES


@pytest.fixture
def texts() -> Iterator[TextQueue]:
    with Capacity(1, MAX_BYTES, Metrics()).body() as room:
        yield TextQueue(MAX_CHARACTERS, NO_EFFECTS, ("zh", "en"), principal=Principal(), held=room)


def test_items_are_counted(texts: TextQueue) -> None:
    """Characters are counted, and each item without text counts as one."""
    texts.write("abc")
    texts.flush()
    assert (texts.num_characters, texts.text_ended) == (3, False)
    texts.write("d")
    texts.end()
    assert (texts.num_characters, texts.text_ended) == (4, True)
    with pytest.raises(InvalidRequest, match="at most 6 characters"):
        texts.flush()


def test_items_beyond_the_memory_are_refused(texts: TextQueue) -> None:
    """Memory is counted in bytes, including the overhead of each waiting item."""
    texts.flush()
    texts.flush()
    texts.write("你好")
    texts.write("吗")
    with pytest.raises(Overloaded):
        texts.write("b")


def test_a_change_counts_for_many_characters() -> None:
    """A change counts for more than a character."""
    rooms = Capacity(1, 2 * CHANGE_NUM_BYTES, Metrics())
    with rooms.body() as room:
        texts = TextQueue(2 * CHANGE_NUM_CHARACTERS, NO_EFFECTS, ("zh", "en"), principal=Principal(), held=room)
        texts.change(SpeakingChange(speed=2.0))
        texts.change(SpeakingChange(speed=1.0))
        assert rooms.num_body_bytes == 2 * CHANGE_NUM_BYTES
        with pytest.raises(InvalidRequest, match="at most"):
            texts.write("b")


def test_items_that_were_pushed_hold_only_their_text() -> None:
    """Only the text is still counted while it is spoken."""

    async def check() -> None:
        rooms = Capacity(1, 10_000, Metrics())
        with rooms.body() as room:
            texts = TextQueue(1_000, NO_EFFECTS, ("zh", "en"), principal=Principal(), held=room)
            texts.write("Hello.")
            texts.change(SpeakingChange(speed=2.0))
            texts.flush()
            texts.end()
            assert rooms.num_body_bytes == 6 + 3 * ITEM_NUM_BYTES + CHANGE_NUM_BYTES
            scheduler = ManualScheduler()
            stream = open_manual_stream(scheduler)
            await scheduler.admit()
            await texts.push_into(stream)
            assert rooms.num_body_bytes == 6
            stream.cancel()
        assert rooms.num_body_bytes == 0

    run(check())


@pytest.mark.parametrize(
    ("change", "param"),
    [
        (SpeakingChange(language="zh"), None),
        (SpeakingChange(language="auto"), None),
        (SpeakingChange(effects={"volume_db": 3.0}), None),
    ],
)
def test_a_change_is_checked(texts: TextQueue, change: SpeakingChange, param: str | None) -> None:
    """A change is checked before it is queued, so that nothing is changed in part."""
    if param is None:
        texts.check(change)
        return
    with pytest.raises(InvalidRequest) as refused:
        texts.check(change)
    assert refused.value.param == param


def test_a_language_that_the_voice_does_not_speak() -> None:
    """A language that the voice does not speak is refused, though the protocol knows it."""
    with Capacity(1, MAX_BYTES, Metrics()).body() as room:
        mandarin: tuple[Lang, ...] = ("zh",)
        texts = TextQueue(MAX_CHARACTERS, NO_EFFECTS, mandarin, principal=Principal(), held=room)
        with pytest.raises(InvalidRequest) as refused:
            texts.check(SpeakingChange(language="en"))
    assert refused.value.param == "language"
