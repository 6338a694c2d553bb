"""Filters of FFmpeg through PyAV, on mono float samples of one rate: the same output however the input is cut.

Not every filter of libavfilter has this property: the default forms of its biquads process two samples at a time and
round an odd one differently. Every filter used in :mod:`yuliu.audio` is tested with arbitrary cuts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from av.filter import Graph

    from yuliu.types import Samples

NO_SAMPLES: Samples = np.zeros(0, np.float32)

BIQUAD: Mapping[str, str] = {"transform": "zdf", "precision": "f64"}
"""Options of second-order filters: the form that processes one sample at a time, in double precision."""


class FilterGraph:
    """Chain of libavfilter filters.

    Args:
        sample_rate: Sample rate of input and output, in Hz.
        filters: Name and options of each filter, in order.
    """

    def __init__(self, sample_rate: int, filters: Sequence[tuple[str, Mapping[str, str]]]) -> None:
        from av.filter import Graph

        self._sample_rate = sample_rate
        self._graph: Graph = Graph()
        self._graph.threads = 1
        mono = {"sample_rate": str(sample_rate), "sample_fmt": "flt", "channel_layout": "mono"}
        self._graph.link_nodes(
            self._graph.add("abuffer", **mono),
            *(self._graph.add(name, **options) for name, options in filters),
            self._graph.add("aformat", sample_fmts="flt", channel_layouts="mono"),
            self._graph.add("abuffersink"),
        ).configure()

    def push(self, samples: Samples) -> Samples:
        """Return the output for these samples, float32, shape (num_samples,); may be empty."""
        from av import AudioFrame

        if not len(samples):
            return NO_SAMPLES
        row = np.ascontiguousarray(samples, np.float32).reshape(1, -1)
        frame = AudioFrame.from_ndarray(row, format="flt", layout="mono")
        frame.sample_rate = self._sample_rate
        self._graph.push(frame)
        return self._pulled()

    def flush(self) -> Samples:
        """Return the samples held back; nothing can be pushed afterwards."""
        self._graph.push(None)
        return self._pulled()

    def _pulled(self) -> Samples:
        from av import AudioFrame
        from av.error import BlockingIOError as NothingYet
        from av.error import EOFError as Ended

        pieces: list[Samples] = []
        while True:
            try:
                frame = self._graph.pull()
            except (NothingYet, Ended):
                return np.concatenate(pieces) if pieces else NO_SAMPLES
            assert isinstance(frame, AudioFrame)  # noqa: S101 - an audio graph returns nothing else
            pieces.append(frame.to_ndarray()[0].astype(np.float32, copy=False))
