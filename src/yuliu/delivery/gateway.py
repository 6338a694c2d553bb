"""Shared parts of all deliveries of one server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.delivery.capacity import Capacity
    from yuliu.delivery.encoder_pool import EncoderPool
    from yuliu.metrics.metrics import Metrics
    from yuliu.presets import Preset
    from yuliu.synthesizer import Synthesizer


@dataclass(frozen=True, slots=True)
class Gateway:
    """Shared parts of all deliveries of one server."""

    synthesizer: Callable[[], Synthesizer]
    """Returns the synthesizer, or raises ``VoiceNotReady`` while voices are being loaded."""
    presets: Mapping[str, Preset]
    """Presets that a client may name."""
    metrics: Metrics
    capacity: Capacity
    """Limits over all protocols."""
    encoders: EncoderPool
