"""Answers are read the same however they are cut on their way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.bench.load.answer import Answer

HEAD = b"HTTP/1.1 200 OK\r\nX-Sample-Rate: 24000\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunked(chunks: list[bytes]) -> bytes:
    return HEAD + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def fed(pieces: list[bytes], *, keep: bool = True) -> Answer:
    answer = Answer(keep=keep)
    for at_s, piece in enumerate(pieces):
        answer.feed(piece, float(at_s))
    return answer


@given(st.data(), st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=8))
def test_a_body_in_chunks_is_whole_however_it_is_cut(data: st.DataObject, chunks: list[bytes]) -> None:
    """No cut loses a byte of sound or takes a chunk's frame for sound."""
    response = chunked(chunks)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(response)), max_size=12)))
    pieces = [response[start:end] for start, end in zip([0, *cuts], [*cuts, len(response)], strict=True)]
    answer = fed([piece for piece in pieces if piece])
    assert bytes(answer.sound) == b"".join(chunks)
    assert sum(arrival.num_bytes for arrival in answer.arrivals) == len(answer.sound)
    assert [arrival.at_s for arrival in answer.arrivals] == sorted({arrival.at_s for arrival in answer.arrivals})
    assert answer.whole
    assert answer.headers["x-sample-rate"] == "24000"


@given(st.integers(1, 4))
def test_a_body_without_its_end_is_not_whole(missing: int) -> None:
    """A part is never taken for the whole: only the last line end does not matter."""
    answer = fed([chunked([b"ab", b"cd"])[: -len(b"0\r\n\r\n") - missing]])
    assert not answer.whole


def test_the_head_is_no_sound() -> None:
    """Time to first packet counts from the first byte of the body."""
    answer = fed([HEAD, b"4\r\nab", b"cd\r\n"], keep=False)
    assert [(arrival.at_s, arrival.num_bytes) for arrival in answer.arrivals] == [(1.0, 2), (2.0, 2)]
    assert not answer.sound


def test_a_refusal_is_read_to_its_end_and_is_no_sound() -> None:
    """Its body does not count."""
    answer = fed([b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 4\r\n\r\n{", b"..}"])
    assert answer.whole
    assert answer.status == 429
    assert answer.headers["retry-after"] == "2"
    assert not answer.arrivals


def test_what_is_no_answer_raises() -> None:
    """A server that answers nonsense has failed."""
    with pytest.raises(ValueError, match="invalid literal"):
        fed([HEAD + b"sound\r\n"])
