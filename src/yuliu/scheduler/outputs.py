"""Outputs of a stream: values that the scheduler gives to its sink, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.engines.api import Utterance
    from yuliu.errors import Closed, Overloaded, SynthesisFailed
    from yuliu.types import Samples


@dataclass(frozen=True, slots=True)
class Admitted:
    """The stream is served from now on."""

    throughput: bool
    """True if it is spoken in whole sentences and larger steps, since the backlog is long."""
    first_weight_scale: float = 1.0
    """Factor on the weight of its first segment."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A segment was planned; if the utterance is done it has no audio."""

    job_id: int
    """Id of the segment, as ``submit`` returned it."""
    utterance: Utterance
    at_s: float = 0.0
    """Time of the plan on the scheduler's clock."""
    took_s: float = 0.0
    """Time a worker took, seconds; 0 for a segment from the cache."""
    num_retries: int = 0
    """Number of failures of work on the segment before."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A step of the stream's current segment. It has samples, or is the segment's last one, or both."""

    job_id: int
    """Id of the segment, as ``submit`` returned it."""
    samples: Samples
    utterance: Utterance
    at_s: float = 0.0
    """Time of the step on the scheduler's clock."""
    took_s: float = 0.0
    """Time a worker took, seconds; 0 for audio from the cache."""
    cached: bool = False
    """True if the audio is from the cache."""
    num_retries: int = 0
    """Number of failures of work on the segment before."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The stream gets nothing more: it was refused, an engine failed twice, or the scheduler was closed under it."""

    error: Overloaded | SynthesisFailed | Closed


Output = Admitted | Planned | Rendered | Broken
