"""hibari's two graphs in onnxruntime, and sound as a value that grows block by block.

Blocks lie on a grid that is fixed when a sound is planned, and each is computed from the end of the block before:
however many frames a step asks for, the same blocks are computed from the same values, so the samples are the same.
That makes streaming exact here; the decoder's int8 weights meet activations that are quantised over the inputs of one
call, so other blocks would give slightly other samples. See docs/design/engine-hibari.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from yuliu.engines.hibari.dsp import LAG_FRAMES, Carry, NoiseTable, render
from yuliu.engines.onnx_graph import OnnxGraph
from yuliu.errors import VoiceNotReady

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from yuliu.engines.hibari.dsp import Floats

DECODER_LAG_FRAMES = 24 + LAG_FRAMES
"""Frames after its own that a sample needs: 3 for each of the decoder's 8 layers, and the signal processing's."""
BLOCK_FRAMES = 48
"""Frames in a block but the first: 0.6 s of sound, 3-4 ms of compute."""
_SIDE = 3
_NUM_LAYERS, _CHANNELS = 8, 256


class HibariPlan(NamedTuple):
    """Result of a plan for some phonemes."""

    edges: NDArray[np.int64]
    """Frames at which each id begins, and the last one ends; shape (num_ids + 1,)."""
    hidden: Floats
    """The decoder's input, shape (130, F). The last row is the predicted loudness: about -1.5 in silence,
    0.3 where sound reaches -46 dBFS, 1.7 in a loud vowel."""
    f0: Floats
    """Hz, shape (F,); below 40: unvoiced."""


@dataclass(frozen=True, slots=True, eq=False)
class HibariSound:
    """Audio as far as it has been rendered."""

    hidden: Floats
    """Shape (1, 130, F + 6): the decoder's input between zeros."""
    f0: Floats
    """Hz, shape (F,)."""
    seed: int
    next_frame: int
    """First frame that the decoder has not taken in yet."""
    left: Floats
    """Last inputs of the decoder's layers, shape (8, 256, 3 or 6)."""
    carry: Carry
    ready: Floats
    """Samples rendered and not taken yet, shape (num_samples,)."""

    @property
    def complete(self) -> bool:
        """True if all its samples have been rendered."""
        return self.next_frame == len(self.f0)

    def without(self, num_samples: int) -> HibariSound:
        """Return the same after some of the ready samples have been taken."""
        return replace(self, ready=self.ready[num_samples:])


class HibariModel:
    """Plans phonemes and renders sounds; owned by one thread.

    Args:
        plan: ``plan.onnx`` of :func:`yuliu.engines.hibari.convert.split_hibari`.
        decoder: ``decoder.onnx`` of the same.
        ids: The number of each symbol.
        num_threads: Threads that kernels may use during a call.

    Raises:
        VoiceNotReady: A graph is missing or damaged.
    """

    def __init__(self, plan: Path, decoder: Path, *, ids: Mapping[str, int], num_threads: int = 1) -> None:
        self._plan = OnnxGraph(plan, num_threads=num_threads)
        self._decoder = OnnxGraph(decoder, num_threads=num_threads)
        self._ids = ids
        self._noise = NoiseTable()

    def knows(self, symbol: str) -> bool:
        """Return whether the model knows the symbol."""
        return symbol in self._ids

    def plan(self, symbols: Sequence[str], *, speed: float) -> HibariPlan:
        """Durations, pitch and loudness of a sentence.

        Args:
            symbols: Known symbols; about 400 at most, its training had no longer ones.
            speed: 2.0 is twice as fast.

        Raises:
            SynthesisFailed: The model failed.
        """
        ids = np.array([[0, *(self._ids[symbol] for symbol in symbols), 0]], np.int64)
        durations, hidden, f0 = self._plan.run({"ids": ids, "speed": np.array([speed], np.float32)})
        edges = np.concatenate([[0], np.cumsum(durations)])
        return HibariPlan(edges * (len(f0[0]) // edges[-1]), hidden[0], f0[0])

    def begin(self, hidden: Floats, f0: Floats, *, seed: int, until: int) -> HibariSound:
        """A sound with its first block, which reaches to frame ``until``.

        Raises:
            SynthesisFailed: The model failed.
        """
        sound = HibariSound(
            hidden=np.pad(hidden[None], ((0, 0), (0, 0), (_SIDE, _SIDE))),
            f0=f0,
            seed=seed,
            next_frame=0,
            left=np.zeros((_NUM_LAYERS, _CHANNELS, _SIDE), np.float32),
            carry=Carry(),
            ready=np.zeros(0, np.float32),
        )
        return self._extended(sound, until + DECODER_LAG_FRAMES)

    def render(self, sound: HibariSound, num_samples: int) -> HibariSound:
        """Return the sound with at least this many samples ready, or all that there are.

        Raises:
            SynthesisFailed: The model failed.
        """
        while len(sound.ready) < num_samples and not sound.complete:
            sound = self._extended(sound, sound.next_frame + BLOCK_FRAMES)
        return sound

    def _extended(self, sound: HibariSound, end: int) -> HibariSound:
        end = min(end, len(sound.f0))
        right = np.zeros((1, _CHANNELS, _SIDE if end == len(sound.f0) else 0), np.float32)
        hidden = np.ascontiguousarray(sound.hidden[:, :, sound.next_frame : end + 2 * _SIDE])
        spectra, left = self._decoder.run({"hidden": hidden, "left": sound.left, "right": right})
        noise = self._noise.frames(sound.seed, sound.carry.num_frames, spectra.shape[1])
        samples, carry = render(spectra[0], noise, sound.f0, sound.carry)
        ready = np.concatenate([sound.ready, samples])
        return replace(sound, next_frame=end, left=left, carry=carry, ready=ready)


def read_table(path: Path) -> dict[str, Any]:
    """A JSON object among the files of a voice.

    Raises:
        VoiceNotReady: It is missing or damaged.
    """
    try:
        return dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise VoiceNotReady(f"{path.name} cannot be read: pull the voice again with `yuliu voices pull`") from error
