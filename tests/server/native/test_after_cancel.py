"""After a cancel nothing more comes of the context, and everything of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from native import LONG, TEXT, SoundFrame, pcm_of, talking
from serving import running_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


@pytest.mark.parametrize("state", ["started", "waiting", "sounding", "ended"])
def test_nothing_of_it_comes_and_nothing_of_it_is_made(running: Running, state: str) -> None:
    """Another context is spoken to its end meanwhile; afterwards the name can be reused."""
    with talking(running.port) as talk:
        talk.say("start", timings=True)
        talk.until("started")
        if state == "waiting":
            running.gate.close()
        if state != "started":
            talk.say("text", text=LONG)
        if state == "ended":
            talk.say("end")
        if state in ("sounding", "ended"):
            talk.until_sound()
        elif state == "waiting":
            running.wait_until(lambda: running.synthesizer._scheduler.num_jobs > 0)
        talk.say("cancel", position_ms=0)
        talk.until("cancelled")
        at = len(talk.received)
        running.gate.open()
        talk.speak(TEXT, "b")
        talk.until("done", "b")
        tag = talk.told("started", "b")[0]["tag"]
        for each in talk.received[at:]:
            assert each.tag == tag if isinstance(each, SoundFrame) else each["context"] == "b"
        assert talk.sound(tag) == pcm_of(running, TEXT)
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
        talk.speak(TEXT)
        talk.until("done")
        assert talk.sound(talk.told("started")[-1]["tag"]) == pcm_of(running, TEXT)
