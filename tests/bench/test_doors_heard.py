"""What came of a request: which of its bytes are sound, and when a decoder can do with them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.audio.encode import Encoder
from yuliu.audio.formats import FORMATS, FormatName, choose_encoding
from yuliu.bench.doors.heard import gives_sound, head_num_bytes, heard, sound_of_events
from yuliu.wire.openai_events import error_event, sound_events
from yuliu.wire.problems import Problem

RATE = 24_000
TONE = np.sin(np.arange(RATE, dtype=np.float32) / 10).astype(np.float32)
DONE = b'data: {"type":"speech.audio.done"}\n\n'


def encoded(name: FormatName) -> bytes:
    with Encoder(choose_encoding(name, RATE), RATE) as encoder:
        return encoder.write(TONE) + encoder.finish()


@pytest.mark.parametrize("name", FORMATS)
def test_a_head_is_not_sound(name: FormatName) -> None:
    """Neither the head alone nor a byte of it counts; the byte behind it does."""
    encoding, sound = choose_encoding(name, RATE), encoded(name)
    num_head = head_num_bytes(encoding, RATE)
    pieces = [(1.0, sound[:num_head]), (2.0, sound[num_head:])]
    assert heard(encoding, RATE, pieces).first_s == 2.0
    assert heard(encoding, RATE, [(3.0, sound)]).first_s == 3.0


@pytest.mark.parametrize(("name", "at_least"), [("wav", 44), ("opus", 80), ("webm", 200), ("mp4", 400), ("flac", 42)])
def test_heads_are_as_long_as_containers_have_them(name: FormatName, at_least: int) -> None:
    """Of these it is known what they begin with."""
    assert head_num_bytes(choose_encoding(name, RATE), RATE) >= at_least


@pytest.mark.parametrize("name", FORMATS)
def test_what_can_be_decoded_is_told_from_what_cannot(name: FormatName) -> None:
    """Byte by byte: nothing at first, and once there is sound there is sound."""
    encoding, sound = choose_encoding(name, RATE), encoded(name)
    enough = next(length for length in range(len(sound)) if gives_sound(sound[:length], encoding))
    assert enough > head_num_bytes(encoding, RATE) or name in ("mp3", "aac")
    pieces = [(1.0, sound[: enough - 1]), (2.0, sound[enough - 1 : enough]), (3.0, sound[enough:])]
    answer = heard(encoding, RATE, pieces)
    assert answer.decodable_s == 2.0
    assert answer.first_s <= answer.decodable_s
    assert gives_sound(sound, encoding)


def test_an_answer_without_sound_has_no_figure() -> None:
    """Nothing is made up."""
    encoding = choose_encoding("wav", RATE)
    answer = heard(encoding, RATE, [(1.0, encoded("wav")[:44])])
    with pytest.raises(RuntimeError, match="no sound"):
        _ = answer.first_s
    with pytest.raises(RuntimeError, match="no sound"):
        _ = heard(choose_encoding("mp3", RATE), RATE, [(1.0, b"no MP3 at all" * 9)]).decodable_s


@given(st.binary(max_size=60_000), st.lists(st.integers(0, 90_000), max_size=9))
def test_events_are_read_however_they_are_cut(sound: bytes, cuts: list[int]) -> None:
    """All of the sound, each piece when its event was whole."""
    body = sound_events(sound) + DONE
    places = sorted({0, *(min(cut, len(body)) for cut in cuts), len(body)})
    pieces = [(float(end), body[start:end]) for start, end in itertools.pairwise(places)]
    found = list(sound_of_events(pieces))
    assert b"".join(data for _, data in found) == sound
    ends = [at for at in range(len(body)) if body[: at + 2].endswith(b"\n\n")]
    assert all(any(end + 2 <= at_s for end in ends) for at_s, _ in found)


def test_an_event_of_an_error_is_not_passed_over() -> None:
    """Its code is told."""
    body = sound_events(b"12") + error_event(Problem(500, "synthesis_failed", "it failed"))
    with pytest.raises(RuntimeError, match="synthesis_failed"):
        list(sound_of_events([(0.0, body)]))
