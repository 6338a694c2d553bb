"""Messages and audio frames on the wire, byte for byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.types import Coverage, Mark, Skipped, Span, Timing
from yuliu.wire.native.encode import HEAD_NUM_BYTES, message_text, parse_sound_frame, sound_bytes
from yuliu.wire.native.messages import (
    Done,
    Failure,
    Marks,
    SegmentBegun,
    Timings,
    mark_rows,
    skipped_rows,
    timing_rows,
)


def test_messages_are_flat_json() -> None:
    """Unknown values are left out; positions and times are as the page of the protocol defines."""
    assert message_text(SegmentBegun("a", 3, 0, 2, 20.00001, "你好")) == (
        '{"type":"segment","context":"a","seq":3,"start":0,"end":2,"at_ms":20.0,"spoken":"\\u4f60\\u597d"}'
    )
    timings = (Timing(Span(0, 1), "你", 0.02, 0.12),)
    assert json.loads(message_text(Timings("a", 4, timing_rows(timings))))["timings"] == [["你", 20.0, 120.0, 0, 1]]
    assert json.loads(message_text(Marks("a", 5, mark_rows((Mark("here", 1, 0.5),)))))["marks"] == [["here", 500.0, 1]]
    coverage = Coverage((Span(0, 2),), (Skipped(Span(2, 3), "punctuation"),), (Span(3, 4),))
    done = json.loads(message_text(Done("a", 6, coverage.spoken, skipped_rows(coverage), coverage.failed)))
    assert (done["spoken"], done["skipped"], done["failed"]) == ([[0, 2]], [[2, 3, "punctuation"]], [[3, 4]])
    assert json.loads(message_text(Failure("overloaded", "later", retry_after_s=2.0))) == {
        "type": "error",
        "code": "overloaded",
        "message": "later",
        "ends": "nothing",
        "retry_after_s": 2.0,
    }


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.binary())
def test_audio_frames_are_read_back(tag: int, offset: int, data: bytes) -> None:
    """Tag, offset and audio are unchanged."""
    assert parse_sound_frame(sound_bytes(tag, offset, data)) == (tag, offset, data)


def test_the_frame_header_is_as_documented() -> None:
    """It has sixteen bytes: type, three zeros, tag, offset, big-endian."""
    assert sound_bytes(2, 258, b"xy").hex() == "010000000000000200000000000001027879"


@given(st.binary(max_size=HEAD_NUM_BYTES - 1) | st.binary(min_size=HEAD_NUM_BYTES).filter(lambda data: data[0] != 1))
def test_other_frames_are_not_audio(data: bytes) -> None:
    """They are refused."""
    with pytest.raises(ValueError, match="frame"):
        parse_sound_frame(data)
