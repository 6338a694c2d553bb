"""What all doors of one server share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.metrics.metrics import Metrics
    from yuliu.presets import Preset
    from yuliu.server.limits import Limits
    from yuliu.server.loading import Loading
    from yuliu.server.rooms import Rooms
    from yuliu.server.sound import SoundThreads


@dataclass(frozen=True, slots=True)
class Shared:
    """What all doors of one server share."""

    loading: Loading
    """Where the speaker comes from."""
    presets: Mapping[str, Preset]
    """Those that requests may name."""
    limits: Limits
    """What is taken at once."""
    metrics: Metrics
    """Are told of errors that are answered; streams tell of themselves."""
    rooms: Rooms
    """Bounds over all doors."""
    threads: SoundThreads
    """Where sound is encoded."""
