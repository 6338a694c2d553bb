"""What all doors of one server share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.metrics.metrics import Metrics
    from yuliu.presets import Preset
    from yuliu.server.capacity import Capacity
    from yuliu.server.encoder_pool import EncoderPool
    from yuliu.server.limits import Limits
    from yuliu.server.loading import Loading


@dataclass(frozen=True, slots=True)
class ServerContext:
    """What all doors of one server share."""

    loading: Loading
    """Where the synthesizer comes from."""
    presets: Mapping[str, Preset]
    """Those that requests may name."""
    limits: Limits
    """What is taken at once."""
    metrics: Metrics
    """Are told of errors that are answered; streams tell of themselves."""
    rooms: Capacity
    """Bounds over all doors."""
    threads: EncoderPool
    """Where sound is encoded."""
