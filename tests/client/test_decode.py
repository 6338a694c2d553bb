"""Chunks from the server's messages about one stream."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.audio.pcm import to_s16le
from yuliu.client.decode import (
    ChunkDecoder,
    EncodedSound,
    cancelled_of,
    failed_of,
    finished_of,
    samples_of,
)
from yuliu.errors import InvalidRequest
from yuliu.types import Cancelled, Coverage, Failed, Finished, Heard, Mark, Skipped, Span, Timing
from yuliu.wire.native.messages import CancelAck, Done, Failure, Marks, SegmentBegun, Started, Timings

RATE = 8_000
SAMPLES = (np.arange(-50, 50) / 100).astype(np.float32)
PCM = to_s16le(SAMPLES)


def started_decoder(channels: int = 1) -> ChunkDecoder:
    decoder = ChunkDecoder()
    assert decoder.receive(Started(sample_rate=RATE, channels=channels)) is None
    return decoder


@given(st.lists(st.integers(0, len(PCM)), max_size=8))
def test_chunks_have_all_samples_wherever_bytes_are_cut(cuts: list[int]) -> None:
    """Half a sample waits for its other byte, and chunks know their start."""
    decoder, sizes = started_decoder(), sorted({0, *cuts, len(PCM)})
    frames = [EncodedSound(start, PCM[start:end]) for start, end in pairwise(sizes)]
    chunks = [chunk for frame in frames if (chunk := decoder.receive(frame))]
    assert b"".join(to_s16le(chunk.samples) for chunk in chunks) == PCM
    starts_s = np.cumsum([0, *(len(chunk.samples) for chunk in chunks)]) / RATE
    assert [chunk.start_s for chunk in chunks] == starts_s[:-1].tolist()
    assert all(chunk.sample_rate == RATE for chunk in chunks)


def test_chunk_carries_source_timings_and_marks() -> None:
    """Timings and marks belong to the next chunk only; the source stays until the next segment."""
    decoder, timing, mark = started_decoder(), Timing(Span(0, 2), "Hi", 0.0, 0.1), Mark("m", 1, 0.05)
    decoder.receive(SegmentBegun(start=0, end=3))
    decoder.receive(Timings(rows=(("Hi", 0.0, 100.0, 0, 2),)))
    decoder.receive(Marks(rows=(("m", 50.0, 1),)))
    first, second = (decoder.receive(EncodedSound(at, PCM[at : at + 4])) for at in (0, 4))
    assert first is not None
    assert (first.source, first.timings, first.marks) == (Span(0, 3), (timing,), (mark,))
    assert second is not None
    assert (second.source, second.timings, second.marks) == (Span(0, 3), (), ())
    assert decoder.finish() is None


def test_marks_after_the_last_audio_come_on_an_empty_chunk() -> None:
    """The end of a stream loses no mark."""
    decoder, mark = started_decoder(), Mark("end", 5)
    decoder.receive(EncodedSound(0, PCM))
    decoder.receive(Marks(rows=(("end", None, 5),)))
    last = decoder.finish()
    assert last is not None
    assert (len(last.samples), last.marks, last.start_s) == (0, (mark,), len(SAMPLES) / RATE)


def test_stereo_gives_the_first_channel() -> None:
    """Both channels are the same."""
    stereo = np.repeat(np.frombuffer(PCM, "<i2"), 2).tobytes()
    chunk = started_decoder(channels=2).receive(EncodedSound(0, stereo))
    assert chunk is not None
    assert to_s16le(chunk.samples) == PCM
    assert samples_of(PCM).tolist() == chunk.samples.tolist()


def test_other_events_give_no_chunk() -> None:
    """An ending carries no audio."""
    assert started_decoder().receive(Done()) is None


def test_encoded_formats_are_refused() -> None:
    """The message names the format and the alternative."""
    with pytest.raises(InvalidRequest, match="not for mp3; read the stream's events instead") as refused:
        ChunkDecoder().receive(Started(format="mp3"))
    assert refused.value.param == "format"


def test_audio_before_started_is_refused() -> None:
    """The sample rate is unknown before ``started``."""
    with pytest.raises(InvalidRequest, match="audio arrived before 'started'"):
        ChunkDecoder().receive(EncodedSound(0, PCM))


COVERAGE = Coverage((Span(0, 2),), (Skipped(Span(2, 3), "symbol"),), (Span(3, 4),))
SPOKEN, SKIPPED, FAILED = (Span(0, 2),), ((2, 3, "symbol"),), (Span(3, 4),)


def test_endings_have_the_values_of_their_messages() -> None:
    """Times become seconds, and the coverage is complete."""
    done = Done(spoken=SPOKEN, skipped=SKIPPED, failed=FAILED, audio_ms=1500.0, degraded=True, warnings=("w",))
    assert finished_of(done) == Finished(COVERAGE, 1.5, ("w",), degraded=True)
    failure = Failure("failed", "broken", spoken=SPOKEN, skipped=SKIPPED, failed=FAILED, audio_ms=500.0)
    assert failed_of(failure) == Failed("failed", "broken", COVERAGE, 0.5)
    assert failed_of(Failure("internal", "early")) == Failed("internal", "early", Coverage(), 0.0)


def test_cancelled_has_what_was_heard_if_the_position_is_known() -> None:
    """Without a position, the server cannot report what was heard."""
    ack = CancelAck(spoken=SPOKEN, skipped=SKIPPED, failed=FAILED, audio_ms=1500.0, delivered_ms=1000.0)
    assert cancelled_of(ack) == Cancelled(COVERAGE, 1.5, 1.0, None)
    assert cancelled_of(CancelAck(heard_ms=250.0, heard_source_end=2)).heard == Heard(0.25, 2)
    assert cancelled_of(CancelAck(heard_ms=250.0)).heard is None
