"""Any frames in any order on a real socket are answered, and nothing hangs or is left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from native import Talk, talking
from serving import running_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

NAMES = st.sampled_from(["a", "b"])


def message(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[str]:
    return st.fixed_dictionaries({"type": st.just(kind), "context": NAMES, **fields}).map(json.dumps)


POSITIONS = st.sampled_from([0, 1, 100.5, 1e9, -1, "x"])
FRAMES = st.one_of(
    message("start", resume_s=st.sampled_from([0, 10]), format=st.sampled_from(["pcm", "wav", "midi"])),
    message("text", text=st.sampled_from(["", "One. ", "你好。", "*", "[pause 1s]", "<speak>"])),
    message("flush"),
    message("config", speed=st.sampled_from([1, 2, 9]), chunking=st.sampled_from([None, "sentence", "none"])),
    message("playback", position_ms=POSITIONS),
    message("cancel", position_ms=POSITIONS),
    message("end"),
    message("resume", stream=st.just("0" * 32), offset=st.integers(0, 9), seq=st.integers(0, 9)),
    st.text(max_size=20),
    st.binary(max_size=20),
)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FRAMES, max_size=25))
def test_any_frames_have_an_answer(running: Running, frames: list[str | bytes]) -> None:
    """A ping after them is answered, open contexts can be ended, and each ends once."""
    with talking(running.port, ping_interval=None) as talk:
        for frame in frames:
            talk.ws.send(frame)
        until_answered(talk, "last")
        for name in ("a", "b"):
            talk.say("cancel", name)
        until_answered(talk, "gone")
        assert not any(each["code"] == "internal_error" for each in talk.told("error"))
        for name in ("a", "b"):
            assert max(ends_per_start(talk, name), default=0) <= 1


def until_answered(talk: Talk, ping: str) -> None:
    """Receive until a ping is answered."""
    talk.say("ping", None, id=ping)
    while not any(each["id"] == ping for each in talk.told("pong", None) if "id" in each):
        talk.next()


def ends_per_start(talk: Talk, name: str) -> list[int]:
    """Count the endings of each stream of a context, answers to ``cancel`` excluded."""
    counts = [0]
    for each in talk.received:
        if isinstance(each, dict) and each.get("context") == name:
            if each["type"] == "started":
                counts.append(0)
            counts[-1] += each["type"] == "done" or (each["type"] == "error" and "seq" in each)
    return counts[1:]


def test_nothing_of_it_is_left(running: Running) -> None:
    """Nothing is left of all these connections."""
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
