"""The client's half of the protocol: it and the server's half read what the other wrote."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest, Overloaded
from yuliu.types import Coverage, Mark, Skipped, Span, Timing
from yuliu.wire.native import messages as said
from yuliu.wire.native.client_codec import parse_reply, request_text
from yuliu.wire.native.decode import parse_message
from yuliu.wire.native.encode import message_text

WORDS = st.text(max_size=8)
WHOLE = st.integers(0, 2**40)
MS = st.integers(0, 10**6).map(lambda ms: ms / 8)
SPANS = st.builds(Span, WHOLE, WHOLE)
PLACES = (
    st.lists(SPANS, max_size=3).map(tuple),
    st.lists(st.tuples(WHOLE, WHOLE, WORDS), max_size=3).map(tuple),
    st.lists(SPANS, max_size=3).map(tuple),
)
TIMES = st.builds(said.Times, **dict.fromkeys(said.Times.__struct_fields__, MS))
MESSAGES = st.one_of(
    st.builds(said.Started, WORDS, WHOLE, WORDS, WHOLE, WORDS, WORDS, WORDS, WHOLE, WHOLE, WORDS, MS),
    st.builds(said.Continued, WORDS, WORDS, WHOLE, WHOLE, WHOLE, st.booleans()),
    st.builds(said.SegmentBegun, WORDS, WHOLE, WHOLE, WHOLE, MS, WORDS),
    st.just(said.Timings("a", 4, said.timing_rows([Timing(Span(0, 1), "你", 0.02, 0.12)]))),
    st.just(said.Marks("a", 5, said.mark_rows([Mark("here", 1, 0.5), Mark("never", 2)]))),
    st.builds(said.Stalled, WORDS, WHOLE, MS),
    st.builds(said.Resumed, WORDS, WHOLE, MS),
    st.builds(
        said.Done,
        *(WORDS, WHOLE, *PLACES, MS, WHOLE, WHOLE, st.booleans(), st.lists(WORDS, max_size=2).map(tuple)),
        st.none() | TIMES,
    ),
    st.builds(said.CancelAck, WORDS, WHOLE, *PLACES, MS, MS, WHOLE, heard_ms=st.none() | MS, heard_source_end=WHOLE),
    st.builds(said.Failure, WORDS, WORDS, st.just("context"), audio_ms=st.none() | MS),
    st.builds(
        said.Failure,
        WORDS,
        WORDS,
        st.just("context"),
        **dict(zip(("spoken", "skipped", "failed"), PLACES, strict=True)),
    ),
    st.builds(said.Pong, WHOLE, MS, MS),
    st.builds(said.Draining, MS),
)


@given(MESSAGES)
def test_server_messages_are_read_completely(message: said.ServerMessage) -> None:
    """This covers every field of every message."""
    assert parse_reply(message_text(message)) == message


def test_values_of_a_message_survive_the_wire() -> None:
    """Seconds and positions are computed from the rows on the wire."""
    coverage = Coverage((Span(0, 2),), (Skipped(Span(2, 3), "punctuation"),), (Span(3, 5),))
    spoken, skipped, failed = coverage.spoken, said.skipped_rows(coverage), coverage.failed
    assert said.Done("a", 0, spoken, skipped, failed).coverage == coverage
    assert said.CancelAck("a", 0, spoken, skipped, failed).coverage == coverage
    broken = said.Failure("error", "it broke", spoken=spoken, skipped=skipped, failed=failed)
    assert broken.coverage == coverage
    assert said.Failure("error", "it broke").coverage is None
    assert said.SegmentBegun(start=3, end=5).source == Span(3, 5)
    timings, marks = (Timing(Span(0, 1), "你", 0.02, 0.12),), (Mark("here", 1, 0.5), Mark("never", 2))
    assert said.Timings(rows=said.timing_rows(timings)).timings == timings
    assert said.Marks(rows=said.mark_rows(marks)).marks == marks


def test_client_messages_are_read_by_the_server() -> None:
    """This covers each type of message."""

    def read(kind: str, context: str | None = "a", **values: object) -> said.ClientMessage:
        return parse_message(request_text(kind, context, **values))

    assert read("text", text="你𝄞") == said.TextDelta("a", "你𝄞")
    assert read("flush") == said.Flush("a")
    assert read("cancel", position_ms=None) == said.Cancel("a")
    assert read("playback", position_ms=12.5) == said.PlaybackPosition("a", 12.5)
    assert read("config", speed=2.0) == said.Config("a", 2.0)
    assert read("resume", stream="s", offset=7, seq=2) == said.Resume("a", "s", 7, 2)
    assert read("ping", None, id=3) == said.Ping(3)
    assert read("start", voice="tone", times=True) == said.Start("a", "tone", times=True)


@pytest.mark.parametrize(
    ("kind", "values"), [("text", {"speed": 2}), ("start", {"speed": float("nan")}), ("start", {"voice": b"x"})]
)
def test_invalid_messages_are_refused_before_they_are_sent(kind: str, values: dict[str, object]) -> None:
    """No bytes are produced."""
    with pytest.raises(InvalidRequest):
        request_text(kind, "a", **values)


def test_messages_and_fields_of_newer_versions_are_ignored() -> None:
    """An unknown message is dropped; an unknown field is not read."""
    assert parse_reply('{"type":"later","x":1}') is None
    assert parse_reply('{"type":"stalled","context":"a","seq":1,"x":[]}') == said.Stalled("a", 1)


SCRAPS = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS, lambda inner: st.lists(inner, max_size=4), max_leaves=6
)
NAMES = sorted({each for kind in (said.Done, said.Timings, said.Started) for each in kind.__struct_encode_fields__})


@given(
    st.sampled_from(["done", "timing", "started", "segment", "marks"]),
    st.dictionaries(st.sampled_from([*NAMES, "spoken", "skipped", "failed", "start", "end", "marks"]), SCRAPS),
)
def test_invalid_server_messages_raise_one_type_of_error(kind: str, fields: dict[str, object]) -> None:
    """A faulty server ends its streams, not the client."""
    try:
        parse_reply(json.dumps({**fields, "type": kind}))
    except ValueError:
        return


@pytest.mark.parametrize("text", ["", "[]", "7", "{", "[" * 100_000, '{"type":"started","tag":"1"}'])
def test_any_other_frame_is_an_error(text: str) -> None:
    """This holds for arbitrary input."""
    with pytest.raises(ValueError, match=r".*"):
        parse_reply(text)


def test_a_reply_that_is_nested_too_deeply_is_rejected() -> None:
    """It must not exhaust the stack."""
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_reply('{"type": "pong", "x": ' + "[" * 100_000 + "]" * 100_000 + "}")


def test_the_text_is_not_in_the_repr() -> None:
    """The text of a message stays out of logs and tracebacks."""
    begun = said.SegmentBegun(context="a", seq=1, start=0, end=3, spoken="secret", at_ms=5.0)
    assert "secret" not in repr(begun)
    assert "seq=1" in repr(begun)
    assert "secret" not in repr(said.TextDelta("a", "secret"))
    timings = said.Timings(context="a", seq=2, rows=(("secret", 0.0, 1.0, 0, 6),))
    assert repr(timings) == "Timings(context='a', seq=2, 1 rows)"


def test_a_failure_states_code_field_and_time_of_retry() -> None:
    """Absent values of an error are left out."""
    rejected = said.failure_of(InvalidRequest("wrong", param="speed"), ends="context", context="a")
    assert (rejected.code, rejected.param, rejected.retry_after_s) == ("invalid_request", "speed", None)
    busy = said.failure_of(Overloaded("busy", retry_after_s=2.0))
    assert (busy.code, busy.param, busy.retry_after_s, busy.spoken) == ("overloaded", None, 2.0, None)
