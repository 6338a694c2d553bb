"""Multi-band MelGAN: mel spectrogram to samples, any window of it, exactly as if the whole had been rendered.

The model (Yang et al. 2020, arXiv:2005.05106; graph written by ``surgery.melgan``) is a stack of convolutions, so a
sample depends on a bounded number of frames around it. A window rendered with that many frames on each side gives the
very samples of the whole, since the kernels sum in an order that does not depend on the place in the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from yuliu.engines.onnx_graph import OnnxGraph

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from yuliu.types import Samples

SAMPLE_RATE = 24_000
HOP_SAMPLES = 300
CONTEXT_FRAMES = 22
"""Frames on each side that a sample depends on. By the network's shape 21.1: 3 for the first convolution, 1 for the
first upsampling, (1 + 3 + 9 + 27) / 3 for the first stage, and what is counted below."""
_RATE_1, _CONTEXT_1 = 3, 4
"""Samples per frame after the first stage, and frames of context needed from there on: (1 + 40 / 5) / 3 and below."""
_RATE_2, _CONTEXT_2 = 15, 1
"""The same after the second stage: (1 + (40 + 3 + 8) / 5) / 15, that is 0.75."""

_MIN_FRAMES = 10
"""The first stage reflects 27 of its samples at each end, so it needs more than nine frames."""


class MelGan:
    """The vocoder of the voice "baker"; owned by one thread.

    Args:
        path: The ONNX file.
        num_threads: Threads that kernels may use during a call.

    Raises:
        VoiceNotReady: The file is missing, or is no model that onnxruntime can run.
    """

    def __init__(self, path: Path, *, num_threads: int = 1) -> None:
        self._graph = OnnxGraph(path, num_threads=num_threads)

    def render(self, mel: NDArray[np.float32], start: int, stop: int) -> Samples:
        """The sound of frames ``start`` to ``stop``.

        Args:
            mel: Shape (num_frames, 80), normalised log mel; all of the utterance, so that context can be taken from it.
                Fewer than ten frames are treated as if the last one went on.
            start: First frame wanted.
            stop: Frame behind the last one wanted.

        Returns:
            float32, shape ((stop - start) * 300,).

        Raises:
            SynthesisFailed: The model failed.
        """
        if len(mel) < _MIN_FRAMES:
            mel = np.pad(mel, ((0, _MIN_FRAMES - len(mel)), (0, 0)), mode="edge")
        low, high = _around(mel, start, stop, CONTEXT_FRAMES)
        low_1, high_1 = _around(mel, start, stop, _CONTEXT_1)
        low_2, high_2 = _around(mel, start, stop, _CONTEXT_2)
        feeds: dict[str, NDArray[Any]] = {
            "mel": mel[low:high],
            "keep_1": np.array([low_1 - low, high_1 - low], np.int64) * _RATE_1,
            "keep_2": np.array([low_2 - low_1, high_2 - low_1], np.int64) * _RATE_2,
        }
        (samples,) = self._graph.run(feeds)
        return np.asarray(samples[(start - low_2) * HOP_SAMPLES : (stop - low_2) * HOP_SAMPLES])


def _around(mel: NDArray[np.float32], start: int, stop: int, context: int) -> tuple[int, int]:
    return max(0, start - context), min(len(mel), stop + context)
