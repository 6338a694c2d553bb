"""Noise suppression for recorded speech with RNNoise; synthesised speech does not need it.

RNNoise (BSD-3-Clause) comes with the package ``pyrnnoise``, the extra ``denoise``. Only the shared library of that
package is loaded: importing the package would load a plotting library first.
"""

from __future__ import annotations

import ctypes
import weakref
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.graphs import NO_SAMPLES
from yuliu.audio.resample import Resampler
from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from yuliu.types import Samples

MODEL_RATE = 48_000
"""Sample rate at which RNNoise works, in Hz."""
FRAME_SAMPLES = 480
DELAY_SAMPLES = 960
"""Delay of the output of RNNoise."""
MAX_RESAMPLERS_LAG_S = 0.018
_PCM_SCALE = np.float32(32768.0)
_LIBRARIES = ("librnnoise.so", "librnnoise.dylib", "rnnoise.dll")


def require_denoise() -> None:
    """Check early that noise suppression is available.

    Raises:
        InvalidRequest: The extra ``denoise`` is not installed.
    """
    _library()


class Denoiser:
    """Noise suppressor whose output has the position and the length of its input.

    Args:
        sample_rate: In Hz, 8000 to 48000.

    Raises:
        InvalidRequest: The extra ``denoise`` is not installed.
    """

    lag_s = (DELAY_SAMPLES + FRAME_SAMPLES) / MODEL_RATE + MAX_RESAMPLERS_LAG_S
    """Maximum that is held back, in seconds."""

    def __init__(self, sample_rate: int) -> None:
        self._library = _library()
        self._state = ctypes.c_void_p(self._library.rnnoise_create(None))
        weakref.finalize(self, self._library.rnnoise_destroy, self._state)
        self._up = Resampler(sample_rate, MODEL_RATE)
        self._down = Resampler(MODEL_RATE, sample_rate)
        self._held: Samples = NO_SAMPLES
        self._num_in = 0
        self._num_out = -DELAY_SAMPLES

    def push(self, samples: Samples) -> Samples:
        """Return the output that is certain now, float32, shape (num_samples,); may be empty."""
        return self._down.push(self._cleaned(self._up.push(samples)))

    def flush(self) -> Samples:
        """Return the rest."""
        rest = self._cleaned(self._up.flush())
        num_missing = self._num_in - max(0, self._num_out)
        silence = np.zeros(DELAY_SAMPLES + FRAME_SAMPLES, np.float32)
        tail = np.concatenate((rest, self._cleaned(silence)[:num_missing]))
        return np.concatenate((self._down.push(tail), self._down.flush()))

    def _cleaned(self, samples: Samples) -> Samples:
        """Return all whole frames, cleaned, without the silence that precedes the output."""
        self._num_in += len(samples)
        held = np.concatenate((self._held, samples))
        num_taken = len(held) - len(held) % FRAME_SAMPLES
        self._held = held[num_taken:]
        frames: Samples = np.ascontiguousarray(held[:num_taken] * _PCM_SCALE)
        for start in range(0, num_taken, FRAME_SAMPLES):
            place = frames[start:].ctypes.data
            self._library.rnnoise_process_frame(self._state, place, place)
        num_early = min(max(0, -self._num_out), num_taken)
        self._num_out += num_taken
        cleaned: Samples = frames[num_early:] / _PCM_SCALE
        return cleaned


def _found() -> Path | None:
    """Return the path of the library; None if the extra is not installed."""
    spec = find_spec("pyrnnoise")
    folders = spec.submodule_search_locations if spec else None
    paths = [Path(folder) / name for folder in folders or () for name in _LIBRARIES]
    return next((path for path in paths if path.is_file()), None)


_PATH = _found()  # searched once, at import, so that no request waits for it


@cache
def _library() -> ctypes.CDLL:
    if _PATH is None:
        reason = "noise suppression needs the package pyrnnoise; run where Yuliu speaks: pip install 'yuliu[denoise]'"
        raise InvalidRequest(reason, param="effects.denoise")
    library = ctypes.CDLL(str(_PATH))
    library.rnnoise_create.argtypes = [ctypes.c_void_p]
    library.rnnoise_create.restype = ctypes.c_void_p
    library.rnnoise_destroy.argtypes = [ctypes.c_void_p]
    library.rnnoise_process_frame.argtypes = [ctypes.c_void_p] * 3
    library.rnnoise_process_frame.restype = ctypes.c_float
    return library
