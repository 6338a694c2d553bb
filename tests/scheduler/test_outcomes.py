"""What the policy is told of engines."""

from __future__ import annotations

from yuliu.engines.api import Capabilities
from yuliu.scheduler.outcomes import facts_of
from yuliu.types import AudioFormat


def test_what_an_engine_declares_is_known_to_the_policy() -> None:
    """Its frames, how many utterances go together, and what a step computes beside its own frames."""
    found = Capabilities(AudioFormat(24_000), ("en",), exact=True, hop_samples=300, context_frames=20, max_batch=4)
    facts = facts_of(found)
    assert (facts.frames_per_s, facts.max_batch, facts.context_frames) == (80.0, 4, 20)
    assert facts.overhead_frames > 2 * 20
