"""Resampling between any two integer rates from 8 to 48 kHz; the output does not depend on how the input is cut.

Uses libswresample through PyAV with a filter of 128 taps: images and aliases are below -95 dB, and 2 to 8 ms are held
back where block resamplers hold back 20 to 60. Zeros precede and follow the audio, so that its first and last samples
are filtered like any other, audio shorter than the filter survives, and the length is exact to the sample.
"""

from __future__ import annotations

from math import ceil, gcd
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.formats import MAX_RATE, MIN_RATE

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.filter import Graph

    from yuliu.types import Samples

NUM_TAPS = 128
"""Length of the filter, in samples at the lower of the two rates."""
CUTOFF = 0.95
"""Start of the filter's slope, as a fraction of half the lower rate."""
LOG2_MAX_PHASES = 11
"""Maximum number of filters in libswresample, enough for all common pairs of rates; for other pairs it interpolates
between two filters."""
BLOCKS_PER_S = 400
"""Input blocks per second where filters are interpolated, since the result then depends on how the input is cut."""


def resampler_lag_s(source_rate: int, sample_rate: int) -> float:
    """Maximum that a :class:`Resampler` holds back, in seconds, without making one."""
    if source_rate == sample_rate:
        return 0.0
    half_filter_s = (NUM_TAPS / (2 * CUTOFF) + 2) / min(source_rate, sample_rate)
    return half_filter_s + (0.0 if _has_all_phases(source_rate, sample_rate) else 1 / BLOCKS_PER_S)


class Resampler:
    """Resampler of one stream of mono samples.

    Args:
        source_rate: Sample rate of the input, in Hz, 8000 to 48000.
        sample_rate: Sample rate of the output, in Hz, 8000 to 48000.

    Raises:
        ValueError: A rate is out of range.
    """

    def __init__(self, source_rate: int, sample_rate: int) -> None:
        for rate in (source_rate, sample_rate):
            if not MIN_RATE <= rate <= MAX_RATE:
                raise ValueError(f"sample rates are {MIN_RATE} to {MAX_RATE} Hz, not {rate}")
        self.source_rate = source_rate
        self.sample_rate = sample_rate
        self._num_in = 0
        self._num_out = 0
        self._graph: Graph | None = None
        self._num_skipped = 0
        self._exact = _has_all_phases(source_rate, sample_rate)
        self._num_block = source_rate // BLOCKS_PER_S
        self._held = np.zeros(0, np.float32)
        if source_rate != sample_rate:
            self._graph = _graph(source_rate, sample_rate, exact=self._exact)
            self._start()

    def push(self, samples: Samples) -> Samples:
        """Return the output that is certain now, float32, shape (num_samples,); may be empty.

        Values may slightly exceed [-1, 1] where the input comes close to it; PCM conversion clips them.
        """
        self._num_in += len(samples)
        if self._graph is None:
            return samples
        resampled = self._run(samples)
        self._num_out += len(resampled)
        return resampled

    def flush(self) -> Samples:
        """Return the rest; the whole output is then as long as the input times the ratio, rounded."""
        if self._graph is None:
            return np.zeros(0, np.float32)
        wanted = (2 * self._num_in * self.sample_rate + self.source_rate) // (2 * self.source_rate)
        rest = self._run(np.zeros(2 * self._num_padding() + self._num_block, np.float32))
        return rest[: max(0, wanted - self._num_out)]

    def _num_padding(self) -> int:
        """Return the number of zeros that fill the filter, a duration that is whole in samples at both rates."""
        filter_span = NUM_TAPS * max(1.0, self.source_rate / self.sample_rate) / CUTOFF
        period = self.source_rate // gcd(self.source_rate, self.sample_rate)
        return period * ceil((filter_span + 2) / period)

    def _start(self) -> None:
        padding = self._num_padding()
        self._num_skipped = padding * self.sample_rate // self.source_rate
        self._run(np.zeros(padding, np.float32))

    def _run(self, samples: Samples) -> Samples:
        """Return the output of the filter, without the part that belongs to the leading zeros."""
        assert self._graph is not None  # noqa: S101 - only called with a graph
        for block in self._blocks(samples):
            self._graph.push(_frame(block, self.source_rate))
        pieces = _pulled(self._graph)
        resampled = np.concatenate(pieces) if pieces else np.zeros(0, np.float32)
        num_skipped = min(self._num_skipped, len(resampled))
        self._num_skipped -= num_skipped
        return resampled[num_skipped:]

    def _blocks(self, samples: Samples) -> list[Samples]:
        """Return the blocks that can be fed now."""
        if self._exact:
            return [samples] if len(samples) else []
        samples = np.concatenate((self._held, samples))
        num_fed = len(samples) - len(samples) % self._num_block
        self._held = samples[num_fed:]
        return np.split(samples[:num_fed], range(self._num_block, num_fed, self._num_block)) if num_fed else []


def _has_all_phases(source_rate: int, sample_rate: int) -> bool:
    """Return whether every phase of an output sample has a filter of its own."""
    return sample_rate // gcd(source_rate, sample_rate) <= 1 << LOG2_MAX_PHASES


def _graph(source_rate: int, sample_rate: int, *, exact: bool) -> Graph:
    """Return a filter graph that only resamples and starts no threads."""
    from av.filter import Graph

    graph = Graph()
    graph.threads = 1
    graph.link_nodes(
        graph.add("abuffer", sample_rate=str(source_rate), sample_fmt="flt", channel_layout="mono"),
        graph.add(
            "aresample",
            sample_rate=str(sample_rate),
            filter_size=str(NUM_TAPS),
            cutoff=str(CUTOFF),
            phase_shift=str(LOG2_MAX_PHASES),
            linear_interp=str(int(not exact)),
        ),
        graph.add("aformat", sample_rates=str(sample_rate), sample_fmts="flt", channel_layouts="mono"),
        graph.add("abuffersink"),
    ).configure()
    return graph


def _frame(samples: Samples, sample_rate: int) -> AudioFrame:
    from av import AudioFrame

    frame = AudioFrame.from_ndarray(
        np.ascontiguousarray(samples, np.float32).reshape(1, -1), format="flt", layout="mono"
    )
    frame.sample_rate = sample_rate
    return frame


def _pulled(graph: Graph) -> list[Samples]:
    """Return all output that the graph has ready."""
    from av import AudioFrame
    from av.error import BlockingIOError as NothingYet

    pieces: list[Samples] = []
    while True:
        try:
            frame = graph.pull()
        except NothingYet:
            return pieces
        assert isinstance(frame, AudioFrame)  # noqa: S101 - an audio graph returns nothing else
        pieces.append(frame.to_ndarray()[0].astype(np.float32, copy=False))
