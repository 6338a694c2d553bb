"""Speech as server-sent events, read as a client reads them."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.types import Coverage, Skipped, Span
from yuliu.wire.openai_events import (
    MAX_SOUND_BYTES,
    Usage,
    done_event,
    error_event,
    skipped_characters,
    sound_events,
    usage_of,
)
from yuliu.wire.problems import Problem


def read(body: bytes) -> list[dict[str, Any]]:
    """Return the events of a body, each of which is one line of data and an empty line."""
    *lines, last = body.split(b"\n\n")
    assert last == b""
    assert all(line.startswith(b"data: ") and b"\n" not in line and len(line) < 2**16 for line in lines)
    return [json.loads(line.removeprefix(b"data: ")) for line in lines]


@given(st.binary(max_size=200), st.integers(0, 2 * MAX_SOUND_BYTES + 3))
def test_audio_arrives_unchanged(begin: bytes, length: int) -> None:
    """Audio of any length is complete and in order; a reader of lines never meets a line of 64 KiB."""
    sound = (begin or b"\0\xff") * (length // max(1, len(begin)) + 1)
    events = read(sound_events(sound))
    assert {event["type"] for event in events} <= {"speech.audio.delta"}
    assert b"".join(b64decode(event["audio"], validate=True) for event in events) == sound


def test_empty_audio_makes_no_event() -> None:
    """A client never receives a delta without audio."""
    assert sound_events(b"") == b""


def test_the_last_event_reports_the_usage() -> None:
    """It has OpenAI's three counts and the parts of the text that were left out."""
    usage = {"input_tokens": 12, "output_tokens": 30, "total_tokens": 42}
    for skipped in ({}, {"markdown": 4}):
        assert read(done_event(Usage(12, 30), skipped)) == [
            {"type": "speech.audio.done", "usage": usage, "skipped": skipped}
        ]


def test_skipped_text_is_counted_by_rule() -> None:
    """The event holds one count for each rule, for any number of places."""
    skipped = [Skipped(Span(at, at + 2), "symbol" if at % 3 else "markdown") for at in range(0, 18, 2)]
    assert skipped_characters(Coverage(skipped=tuple(skipped))) == {"markdown": 6, "symbol": 12}
    assert skipped_characters(Coverage(spoken=(Span(0, 5),))) == {}


@pytest.mark.parametrize(
    ("audio_s", "tokens"), [(0.0, 0), (0.001, 1), (0.05, 1), (0.0501, 2), (1.15, 23), (3600.0, 72_000)]
)
def test_an_audio_token_is_50_ms(audio_s: float, tokens: int) -> None:
    """A started token counts as a whole one, and rounding of floats adds none."""
    assert usage_of(7, audio_s) == Usage(7, tokens)


def test_an_error_uses_the_usual_envelope() -> None:
    """A client that can read an error response can read the event."""
    problem = Problem(500, "synthesis_failed", "the engine failed")
    assert read(error_event(problem)) == [{"type": "error", **json.loads(problem.body())}]
