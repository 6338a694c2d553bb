"""Checks that an engine keeps its contract (:mod:`yuliu.engines.api`). Pure.

A breach is found before anything of the step is used, so that it fails one stream and never makes an endless loop, or
sound that is silently too short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from yuliu.engines.api import MAX_EXTRA_S
from yuliu.errors import SynthesisFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.engines.api import Capabilities, StepRequest, StepResult, Utterance
    from yuliu.types import Segment


def check_plan(segment: Segment, utterance: Utterance) -> None:
    """Check the result of ``plan``.

    Raises:
        SynthesisFailed: The engine broke its contract; the message names the breach.
    """
    if utterance.segment != segment:
        _broken("a plan is of another segment")
    if utterance.next_frame != 0:
        _broken("a plan begins in the midst of its frames")
    if utterance.done != (utterance.num_frames == 0):
        _broken("a plan without frames is not done, or one with frames is")


def check_step(requests: Sequence[StepRequest], results: Sequence[StepResult], found: Capabilities) -> None:
    """Check the results of ``step``.

    Args:
        requests: Arguments of the call.
        results: Its results.
        found: Capabilities of the engine.

    Raises:
        SynthesisFailed: The engine broke its contract; the message names the breach.
    """
    if len(results) != len(requests):
        _broken(f"a step of {len(requests)} utterances gave {len(results)} results")
    for request, result in zip(requests, results, strict=True):
        if result.utterance.segment != request.utterance.segment:
            _broken("a step's results are in another order")
        if result.samples.ndim != 1 or result.samples.dtype != "float32":
            _broken(f"samples are {result.samples.ndim}-dimensional {result.samples.dtype}, not a row of float32")
        if not np.isfinite(result.samples).all():
            _broken("there are samples that are no numbers")
        if request.utterance.num_frames is None:
            _check_unknown(request, result, found)
        else:
            _check_known(request, result, found.hop_samples)


def _check_known(request: StepRequest, result: StepResult, hop_samples: int) -> None:
    before, after = request.utterance, result.utterance
    num_frames = after.next_frame - before.next_frame
    if after.num_frames != before.num_frames:
        _broken("the number of frames changed after the plan")
    if not 1 <= num_frames <= request.num_frames:
        _broken(f"a step of {request.num_frames} frames went on by {num_frames}")
    if len(result.samples) != num_frames * hop_samples:
        _broken(f"{num_frames} frames have {len(result.samples)} samples, not {num_frames * hop_samples}")
    if after.done != (after.next_frame == after.num_frames):
        _broken("it is done before its last frame, or not with it")


def _check_unknown(request: StepRequest, result: StepResult, found: Capabilities) -> None:
    after = result.utterance
    most = request.num_frames * found.hop_samples + round(MAX_EXTRA_S * found.format.sample_rate)
    if len(result.samples) > most:
        _broken(f"a step of {request.num_frames} frames gave {len(result.samples)} samples; it may give {most}")
    if after.next_frame < request.utterance.next_frame:
        _broken("a step went back")
    if not after.done and after.num_frames is not None:
        _broken("the number of frames is known before the end")


def _broken(breach: str) -> None:
    raise SynthesisFailed(f"the engine broke its contract: {breach}")
