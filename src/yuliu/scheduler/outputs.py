"""What a stream's sink is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.engines.api import Utterance
    from yuliu.errors import Closed, Overloaded, SynthesisFailed
    from yuliu.types import Samples


@dataclass(frozen=True, slots=True)
class Admitted:
    """The stream is carried from now on."""

    throughput: bool
    """Whether it is spoken in whole sentences and larger steps, since much is waiting."""
    first_weight_scale: float = 1.0
    """Factor on the weight of its first segment."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A segment was planned; if the utterance is done it has no sound."""

    utterance: Utterance
    at_s: float = 0.0
    """When, on the scheduler's clock."""
    took_s: float = 0.0
    """How long it was at work; 0 if it was at hand already."""
    num_retries: int = 0
    """How often work on the segment had failed by then."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A step of the stream's current utterance. It has samples, or is the last one of its utterance, or both."""

    samples: Samples
    utterance: Utterance
    at_s: float = 0.0
    """When it was made, on the scheduler's clock."""
    took_s: float = 0.0
    """How long the step was at work; 0 if the sound was at hand already."""
    cached: bool = False
    """Whether the sound was at hand already."""
    num_retries: int = 0
    """How often work on the segment had failed by then."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The stream gets nothing more: it was refused, an engine failed twice, or the scheduler was closed under it."""

    error: Overloaded | SynthesisFailed | Closed


Output = Admitted | Planned | Rendered | Broken
