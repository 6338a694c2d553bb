"""What the time to the first sound of a stream went into, for a client that asks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from yuliu.wire.native.messages import Times

if TYPE_CHECKING:
    from yuliu.stream import Timeline


class FirstSound:
    """Looks at a stream until its first sound was encoded."""

    def __init__(self) -> None:
        self.times: Times | None = None
        """Known once there was sound."""

    def encoded(self, timeline: Timeline) -> None:
        """Bytes are ready to be sent; those of a header, or of silence before the first sound, do not count."""
        if self.times is not None or timeline.taken_at_s is None:
            return
        now = time.monotonic()
        parts = {f"{part}_ms": 1000 * part_s for part, part_s in timeline.parts.items()}
        self.times = Times(
            opened_ms=1000 * timeline.opened_at_s,
            encoded_ms=1000 * now,
            encode_ms=1000 * (now - timeline.taken_at_s),
            **parts,
        )
