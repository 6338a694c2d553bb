"""Encoded responses: the bytes that are audio, and the time at which a decoder can use them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.audio.encode import Encoder
from yuliu.audio.formats import FORMATS, FormatName, choose_encoding
from yuliu.bench.encoded import audio_of_events, encoded_response, header_num_bytes, is_decodable
from yuliu.wire.openai_events import error_event, sound_events
from yuliu.wire.problems import Problem

RATE = 24_000
TONE = np.sin(np.arange(RATE, dtype=np.float32) / 10).astype(np.float32)
DONE = b'data: {"type":"speech.audio.done"}\n\n'


def encoded(name: FormatName) -> bytes:
    with Encoder(choose_encoding(name, RATE), RATE) as encoder:
        return encoder.write(TONE) + encoder.finish()


@pytest.mark.parametrize("name", FORMATS)
def test_a_header_is_not_audio(name: FormatName) -> None:
    """The first byte behind it is."""
    encoding, sound = choose_encoding(name, RATE), encoded(name)
    num_header = header_num_bytes(encoding, RATE)
    pieces = [(1.0, sound[:num_header]), (2.0, sound[num_header:])]
    assert encoded_response(encoding, RATE, pieces).first_byte_s == 2.0
    assert encoded_response(encoding, RATE, [(3.0, sound)]).first_byte_s == 3.0


@pytest.mark.parametrize(("name", "at_least"), [("wav", 44), ("opus", 80), ("webm", 200), ("mp4", 400), ("flac", 42)])
def test_headers_have_at_least_their_known_length(name: FormatName, at_least: int) -> None:
    """The headers of these containers are known."""
    assert header_num_bytes(choose_encoding(name, RATE), RATE) >= at_least


@pytest.mark.parametrize("name", FORMATS)
def test_decodable_is_the_first_prefix_with_a_sample(name: FormatName) -> None:
    """No shorter prefix is decodable, and the whole is."""
    encoding, sound = choose_encoding(name, RATE), encoded(name)
    enough = next(length for length in range(len(sound)) if is_decodable(sound[:length], encoding))
    assert enough > header_num_bytes(encoding, RATE) or name in ("mp3", "aac")
    pieces = [(1.0, sound[: enough - 1]), (2.0, sound[enough - 1 : enough]), (3.0, sound[enough:])]
    answer = encoded_response(encoding, RATE, pieces)
    assert answer.decodable_s == 2.0
    assert answer.first_byte_s <= answer.decodable_s
    assert is_decodable(sound, encoding)


def test_a_response_without_audio_has_no_latency() -> None:
    """Both times raise."""
    encoding = choose_encoding("wav", RATE)
    answer = encoded_response(encoding, RATE, [(1.0, encoded("wav")[:44])])
    with pytest.raises(RuntimeError, match="no audio"):
        _ = answer.first_byte_s
    with pytest.raises(RuntimeError, match="no audio"):
        _ = encoded_response(choose_encoding("mp3", RATE), RATE, [(1.0, b"no MP3 at all" * 9)]).decodable_s


@given(st.binary(max_size=60_000), st.lists(st.integers(0, 90_000), max_size=9))
def test_events_are_read_however_they_are_cut(sound: bytes, cuts: list[int]) -> None:
    """All of the audio is there, each piece at the time at which its event was complete."""
    body = sound_events(sound) + DONE
    places = sorted({0, *(min(cut, len(body)) for cut in cuts), len(body)})
    pieces = [(float(end), body[start:end]) for start, end in itertools.pairwise(places)]
    found = list(audio_of_events(pieces))
    assert b"".join(data for _, data in found) == sound
    ends = [at for at in range(len(body)) if body[: at + 2].endswith(b"\n\n")]
    assert all(any(end + 2 <= at_s for end in ends) for at_s, _ in found)


def test_an_error_event_raises() -> None:
    """The message holds its code."""
    body = sound_events(b"12") + error_event(Problem(500, "synthesis_failed", "it failed"))
    with pytest.raises(RuntimeError, match="synthesis_failed"):
        list(audio_of_events([(0.0, body)]))
