"""What is about the text of a stream is taken within bounds, and a change is looked at before it is taken."""

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


def test_counts_what_is_put(texts: TextQueue) -> None:
    """Characters as they are, and each message without text as one."""
    texts.write("abc")
    texts.flush()
    assert (texts.num_characters, texts.text_ended) == (3, False)
    texts.write("d")
    texts.end()
    assert (texts.num_characters, texts.text_ended) == (4, True)
    with pytest.raises(InvalidRequest, match="at most 6 characters"):
        texts.flush()


def test_what_has_no_room_is_refused(texts: TextQueue) -> None:
    """Bytes count, not characters, and each message as much as it takes while it waits."""
    texts.flush()
    texts.flush()
    texts.write("你好")
    texts.write("吗")
    with pytest.raises(Overloaded):
        texts.write("b")


def test_changes_are_few() -> None:
    """One takes more than a character does."""
    rooms = Capacity(1, 2 * CHANGE_NUM_BYTES, Metrics())
    with rooms.body() as room:
        texts = TextQueue(2 * CHANGE_NUM_CHARACTERS, NO_EFFECTS, ("zh", "en"), principal=Principal(), held=room)
        texts.change(SpeakingChange(speed=2.0))
        texts.change(SpeakingChange(speed=1.0))
        assert rooms.num_body_bytes == 2 * CHANGE_NUM_BYTES
        with pytest.raises(InvalidRequest, match="at most"):
            texts.write("b")


def test_what_was_done_takes_only_what_its_text_does() -> None:
    """That may be spoken for long."""

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
def test_looks_at_a_change(texts: TextQueue, change: SpeakingChange, param: str | None) -> None:
    """Before it is taken, so that nothing is changed by half."""
    if param is None:
        texts.check(change)
        return
    with pytest.raises(InvalidRequest) as refused:
        texts.check(change)
    assert refused.value.param == param


def test_a_language_that_the_voice_does_not_speak() -> None:
    """It is refused, though the wire knows it."""
    with Capacity(1, MAX_BYTES, Metrics()).body() as room:
        mandarin: tuple[Lang, ...] = ("zh",)
        texts = TextQueue(MAX_CHARACTERS, NO_EFFECTS, mandarin, principal=Principal(), held=room)
        with pytest.raises(InvalidRequest) as refused:
            texts.check(SpeakingChange(language="en"))
    assert refused.value.param == "language"
