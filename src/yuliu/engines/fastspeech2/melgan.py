"""Multi-band MelGAN: mel spectrogram to samples, step by step, exactly as if the whole had been rendered at once.

The model (Yang et al. 2020, arXiv:2005.05106; graph by ``convert_melgan``) is a stack of convolutions. Each
takes the last inputs of the step before, so nothing is computed twice; its kernels sum in an order that does not
depend on the place in a step or on its width, so that any cut into steps gives the very same samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from yuliu.engines.onnx_graph import OnnxGraph
from yuliu.errors import VoiceNotReady

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from yuliu.types import Samples

    State = tuple[NDArray[np.float32], ...]
    """Last inputs of the convolutions, read-only: 114,512 bytes. Empty before the first step."""

SAMPLE_RATE = 24_000
HOP_SAMPLES = 300
LOOK_AHEAD_FRAMES = 21
"""Frames by which sound lags the spectrogram; the first step takes this many more than it gives. By the network's
shape 20.2: 3 for the first convolution, (1 + 3 + 9 + 27) / 3 for the first stage, a fifth of that for the second, and
less than one for the rest."""
_EARLY_SAMPLES = 148
"""Samples that the graph gives in a first step before those of its first frame."""


class MelGan:
    """The vocoder of the voice "baker"; owned by one thread.

    Args:
        path: The ONNX file.
        num_threads: Threads that kernels may use during a call.

    Raises:
        VoiceNotReady: The file is missing, or is no model that onnxruntime can run, or is that of an older version.
    """

    def __init__(self, path: Path, *, num_threads: int = 1) -> None:
        self._graph = OnnxGraph(path, num_threads=num_threads)
        shapes = self._graph.input_shapes
        self._lefts = [name for name in shapes if name.startswith("left.")]
        if not self._lefts:
            raise VoiceNotReady(f"{path.name} cannot be used: pull the voice again with `yuliu voices pull`")
        self._nothing_seen = [np.zeros((1, int(shapes[name][1]), 1, 0), np.float32) for name in self._lefts]

    def step(self, mel: NDArray[np.float32], state: State = ()) -> tuple[Samples, State]:
        """The next samples.

        Args:
            mel: Shape (num_frames, 80), normalised log mel: the next rows of the spectrogram. In the first step at
                least one more than ``LOOK_AHEAD_FRAMES``.
            state: State after the step before; empty for the first one.

        Returns:
            float32 samples, 300 for each frame that is due: in the first step all of ``mel`` but the last 21, in a
            later one those 21 of the step before and all but the last 21 of the rows now known. And the state for the
            next step.

        Raises:
            SynthesisFailed: The model failed.
        """
        seen = zip(self._lefts, state or self._nothing_seen, strict=True)
        samples, *after = self._graph.run({"mel": mel, "first": np.array([not state]), **dict(seen)})
        return np.asarray(samples if state else samples[_EARLY_SAMPLES:]), tuple(after)
