"""Settings that the operator or the controller may adjust at run time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ClassRules:
    """Rules for the streams of one class."""

    ttfp_target_s: float
    """A stream without sound is to be served within this time, seconds."""
    max_waiting: int
    """Streams that may wait to be admitted."""
    max_wait_s: float
    """Maximum time that a stream may wait to be admitted, seconds."""
    first_packet_s: float = 1.0
    """Target of autotuning for first packets, seconds: the promise of the class's presets."""


def _classes() -> Mapping[StreamClass, ClassRules]:
    return {
        StreamClass.INTERACTIVE: ClassRules(ttfp_target_s=0.05, max_waiting=16, max_wait_s=0.5, first_packet_s=0.3),
        StreamClass.STANDARD: ClassRules(ttfp_target_s=0.2, max_waiting=32, max_wait_s=2.0, first_packet_s=1.0),
        StreamClass.BULK: ClassRules(ttfp_target_s=2.0, max_waiting=64, max_wait_s=30.0, first_packet_s=10.0),
    }


@dataclass(frozen=True, slots=True)
class Tuning:
    """Parameters of the policy; new ones take effect with the next decision."""

    num_workers: int | None = None
    """Workers that are given work; None takes all."""
    first_step_s: float = 0.2
    """Sound in the first step of a stream, seconds."""
    step_budget_s: float = 0.025
    """Compute that one step may take, seconds."""
    first_weight_scale: float = 1.0
    """Factor on the weight of a stream's first segment."""
    throughput: bool = False
    """True if new streams are spoken in whole sentences and larger steps."""
    reserved_workers: int = 1
    """Workers that bulk work does not take while anything else is open, or was a second ago; one is left to it."""
    max_load: float = 0.85
    """Share of the workers' time that admitted streams may need."""
    classes: Mapping[StreamClass, ClassRules] = field(default_factory=_classes)
