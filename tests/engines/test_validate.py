"""Valid and invalid results of an engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scheduler_streams import OPTIONS, segment

from yuliu.engines.api import StepRequest, StepResult
from yuliu.engines.tone import ToneEngine
from yuliu.engines.validate import check_plan, check_step
from yuliu.errors import SynthesisFailed

SEGMENT = segment("one two three")


@given(st.sampled_from(["frames", "autoregressive", "remote"]), st.lists(st.integers(1, 90), min_size=1, max_size=4))
def test_each_manner_keeps_the_contract_to_the_end(manner: Any, sizes: list[int]) -> None:
    """The contract holds for any size of steps."""
    engine = ToneEngine(manner=manner)
    utterance = engine.plan(SEGMENT, OPTIONS)
    check_plan(SEGMENT, utterance)
    for number in range(1_000):
        if utterance.done:
            return
        requests = [StepRequest(utterance, sizes[number % len(sizes)])]
        results = engine.step(requests)
        check_step(requests, results, engine.capabilities)
        utterance = results[0].utterance
    pytest.fail("it never ended")


@pytest.mark.parametrize(
    ("change", "breach"),
    [
        ({"segment": segment("one two four")}, "another segment"),
        ({"next_frame": 1}, "midst"),
        ({"done": True}, "not done"),
        ({"num_frames": 0}, "not done"),
    ],
)
def test_an_invalid_plan_is_rejected(change: dict[str, Any], breach: str) -> None:
    """The message names the breach."""
    plan = replace(ToneEngine().plan(SEGMENT, OPTIONS), **change)
    with pytest.raises(SynthesisFailed, match=f"contract.*{breach}"):
        check_plan(SEGMENT, plan)


@pytest.mark.parametrize(
    ("samples", "change", "breach"),
    [
        (np.zeros(2400, np.float32), {"segment": segment("one two four")}, "another order"),
        (np.zeros(2400, np.float64), {}, "float64"),
        (np.zeros((2400, 1), np.float32), {}, "2-dimensional"),
        (np.full(2400, np.nan, np.float32), {}, "no numbers"),
        (np.full(2400, np.inf, np.float32), {}, "no numbers"),
        (np.zeros(2400, np.float32), {"num_frames": 31}, "changed after the plan"),
        (np.zeros(0, np.float32), {"next_frame": 0}, "went on by 0"),
        (np.zeros(2640, np.float32), {"next_frame": 11}, "went on by 11"),
        (np.zeros(2399, np.float32), {}, "2399 samples"),
        (np.zeros(2400, np.float32), {"done": True}, "before its last frame"),
    ],
)
def test_an_invalid_step_of_known_length_is_rejected(samples: Any, change: dict[str, Any], breach: str) -> None:
    """The utterance has ten frames."""
    engine = ToneEngine()
    requests = [StepRequest(engine.plan(SEGMENT, OPTIONS), 10)]
    (good,) = engine.step(requests)
    check_step(requests, [good], engine.capabilities)
    with pytest.raises(SynthesisFailed, match=f"contract.*{breach}"):
        check_step(requests, [StepResult(samples, replace(good.utterance, **change))], engine.capabilities)


@pytest.mark.parametrize(
    ("num_samples", "change", "breach"),
    [
        (2400 + 48_001, {}, "it may give 50400"),
        (0, {"next_frame": 24}, "went back"),
        (0, {"num_frames": 99}, "known before the end"),
    ],
)
def test_an_invalid_step_of_unknown_length_is_rejected(num_samples: int, change: dict[str, Any], breach: str) -> None:
    """The utterance has 25 frames so far; without a change an empty step is valid."""
    engine = ToneEngine(manner="autoregressive")
    (first,) = engine.step([StepRequest(engine.plan(SEGMENT, OPTIONS), 10)])
    requests = [StepRequest(first.utterance, 10)]
    check_step(requests, [StepResult(np.zeros(0, np.float32), first.utterance)], engine.capabilities)
    with pytest.raises(SynthesisFailed, match=f"contract.*{breach}"):
        check_step(
            requests,
            [StepResult(np.zeros(num_samples, np.float32), replace(first.utterance, **change))],
            engine.capabilities,
        )


def test_the_number_of_results_must_equal_that_of_requests() -> None:
    """More or fewer results are rejected."""
    engine = ToneEngine()
    requests = [StepRequest(engine.plan(SEGMENT, OPTIONS), 10)] * 2
    results = engine.step(requests)
    for wrong in (results[:1], results * 2):
        with pytest.raises(SynthesisFailed, match="2 utterances"):
            check_step(requests, wrong, engine.capabilities)
