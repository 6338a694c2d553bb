"""The tone engine keeps its contract, so that tests can rely on it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scheduler_streams import OPTIONS, segment

from yuliu.engines.api import StepRequest
from yuliu.engines.tone import BLOCK_FRAMES, PACKET_FRAMES, ToneEngine, ToneScript, tone

if TYPE_CHECKING:
    from yuliu.engines.tone import ToneManner
    from yuliu.types import Samples

MANNERS: list[ToneManner] = ["frames", "autoregressive", "remote"]


def steps(engine: ToneEngine, text: str, sizes: list[int]) -> list[Samples]:
    """Return the samples of each step."""
    utterance = engine.plan(segment(text), OPTIONS)
    given_: list[Samples] = []
    while not utterance.done:
        (result,) = engine.step([StepRequest(utterance, sizes[len(given_) % len(sizes)])])
        given_.append(result.samples)
        utterance = result.utterance
    assert utterance.num_frames == utterance.next_frame
    return given_


@given(st.text("ab 你", max_size=30), st.sampled_from(MANNERS), st.lists(st.integers(1, 80), min_size=1, max_size=3))
def test_a_text_has_the_same_samples_in_each_manner_and_any_steps(text: str, manner: Any, sizes: list[int]) -> None:
    """A tone depends only on its text."""
    samples = np.concatenate([np.zeros(0), *steps(ToneEngine(manner=manner), text, sizes)])
    plan = ToneEngine().plan(segment(text, 50), OPTIONS)
    assert np.array_equal(samples, tone(plan.segment, 0, (plan.num_frames or 0) * ToneEngine.HOP))


def test_each_manner_has_its_own_size_of_results() -> None:
    """Steps give the requested frames; or blocks; or a packet after some empty polls, and a separate end."""
    sizes = {
        manner: [len(each) // 240 for each in steps(ToneEngine(manner=manner), "one two", [10])] for manner in MANNERS
    }
    assert sizes["frames"] == [10, 10, 2]
    assert sizes["autoregressive"] == [22]
    assert BLOCK_FRAMES == 25
    assert sizes["remote"] == [0, 0, PACKET_FRAMES] * 3 + [0, 0, 22 - 3 * PACKET_FRAMES] + [0, 0, 0]
    for manner in ("autoregressive", "remote"):
        assert ToneEngine(manner=manner).plan(segment("one"), OPTIONS).num_frames is None
        assert ToneEngine(manner=manner).plan(segment("..."), OPTIONS).num_frames == 0


def test_different_texts_have_different_samples() -> None:
    """Swapped and doubled segments are audible."""
    sounds = {tone(segment(f"text {number}"), 1000, 1240).tobytes() for number in range(20)}
    assert len(sounds) == 20


@pytest.mark.parametrize("call", ["plan", "step"])
def test_scripts_count_calls(call: str) -> None:
    """A failure scripted for the second call is raised by that call, with the scripted error."""
    for error in (ValueError, SystemExit):
        engine = ToneEngine(ToneScript(**{f"fail_{call}s": frozenset({1})}, error=error))  # type: ignore[arg-type]

        def do(engine: ToneEngine = engine) -> None:
            plan = engine.plan(segment("one"), OPTIONS)
            if call == "step":
                engine.step([StepRequest(plan, 1)])

        do()
        with pytest.raises(error):
            do()
        do()


@pytest.mark.parametrize("call", ["plan", "step"])
def test_a_hung_call_returns_once_released(call: str) -> None:
    """It returns its usual result."""
    engine = ToneEngine(ToneScript(**{f"hang_{call}s": frozenset({0})}))  # type: ignore[arg-type]
    made: list[Samples] = []
    thread = threading.Thread(target=lambda: made.extend(steps(engine, "one", [100])))
    thread.start()
    assert engine.hung.wait(10)
    assert not made
    engine.released.set()
    thread.join()
    assert len(made[0]) == 12 * 240


def test_spoiled_steps_break_the_contract() -> None:
    """They give half or double the samples, one result less, or no progress."""
    found = {}
    for spoil in ("none", "short", "long", "lost", "still"):
        engine = ToneEngine(ToneScript(spoil=spoil, spoil_steps=frozenset({0})))
        plan = engine.plan(segment("one"), OPTIONS)
        results = engine.step([StepRequest(plan, 10)] * 2)
        found[spoil] = [(len(each.samples), each.utterance.next_frame) for each in results]
    assert found == {
        "none": [(2400, 10)] * 2,
        "short": [(1200, 10)] * 2,
        "long": [(4800, 10)] * 2,
        "lost": [(2400, 10)],
        "still": [(0, 0)] * 2,
    }
