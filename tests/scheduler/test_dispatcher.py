"""Events from the dispatcher to the policy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scheduler_streams import OPTIONS, segment

from yuliu.engines.api import Capabilities
from yuliu.scheduler.dispatcher import facts_of
from yuliu.scheduler.requests import After, Request
from yuliu.types import AudioFormat


def test_the_policy_knows_the_capabilities_of_engines() -> None:
    """The frame rate, the maximum batch size and the context frames of a step are passed on."""
    found = Capabilities(AudioFormat(24_000), ("en",), exact=True, hop_samples=300, context_frames=20, max_batch=4)
    facts = facts_of(found)
    assert (facts.frames_per_s, facts.max_batch, facts.context_frames) == (80.0, 4, 20)
    assert facts.overhead_frames > 2 * 20


@given(
    st.lists(st.floats(0, 2), min_size=1, max_size=12),
    st.sampled_from([0.25, 1.0, 1.3, 4.0]),
    st.sampled_from([0.0, 0.09, 0.7]),
)
def test_audio_held_back_counts_only_once_released(steps_s: list[float], pace: float, held_s: float) -> None:
    """The reported audio never decreases or exceeds the possible output, and adds up to all of it at the end, in
    seconds of the listener."""
    request = Request(1, 1, "tone", segment("one"), OPTIONS, after=After(pace, held_s))
    heard_s = made_s = 0.0
    for number, audio_s in enumerate(steps_s):
        done = number == len(steps_s) - 1
        now_s = request.heard_s(audio_s, done=done)
        made_s += audio_s
        if (pace, held_s) == (1.0, 0.0):
            assert now_s is None
            continue
        assert now_s is not None
        assert now_s >= 0
        heard_s += now_s
        assert heard_s == pytest.approx(made_s / pace if done else max(0.0, made_s / pace - held_s))
