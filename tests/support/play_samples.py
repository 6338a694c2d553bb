"""Program that plays samples on the sound device: ``play_samples.py RATE FILE [STOP_AFTER_S]``.

FILE holds float32. It prints JSON: the position before stopping, the position after it, and the error if any.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from yuliu.client import Player, SoundDeviceFailed, open_sound_device

FEED_S = 0.1


def main(sample_rate: int, path: str, stop_after_s: float | None = None) -> dict[str, Any]:
    """Play, and return the report."""
    samples = np.frombuffer(Path(path).read_bytes(), np.float32)
    player = Player(open_sound_device(sample_rate), sample_rate)
    num_samples = round(FEED_S * sample_rate)
    told: dict[str, Any] = {}
    try:
        for at in range(0, len(samples), num_samples):
            player.put(samples[at : at + num_samples])
        if stop_after_s is None:
            player.finish()
        else:
            time.sleep(stop_after_s)
            player.check()
            told["stopping_at_s"] = player.position_s
            player.stop()
    except SoundDeviceFailed as error:
        told["error"] = error.message
    return {**told, "position_s": player.position_s, "num_gaps": player.num_gaps}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]), sys.argv[2], *map(float, sys.argv[3:]))))
