"""The HTTP client of the bench: responses however they are cut, and exchanges with a real server."""

from __future__ import annotations

import httptools
import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import running_server

from yuliu.bench.client import HttpExchange, HttpRequest, ResponseReader, fetch, json_request
from yuliu.bench.server_process import free_port

HEAD = b"HTTP/1.1 200 OK\r\nX-Sample-Rate: 24000\r\nTransfer-Encoding: chunked\r\n\r\n"
SPEECH = json_request("/v1/audio/speech", {"input": "One two three.", "voice": "tone", "response_format": "pcm"})


def chunked(chunks: list[bytes]) -> bytes:
    return HEAD + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def read(pieces: list[bytes], *, keep: bool = True) -> ResponseReader:
    response = ResponseReader(keep=keep)
    for at_s, piece in enumerate(pieces):
        response.feed(piece, float(at_s))
    return response


@given(st.data(), st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=8))
def test_a_chunked_body_is_whole_however_it_is_cut(data: st.DataObject, chunks: list[bytes]) -> None:
    """No cut loses a byte of the body or takes the framing of a chunk for audio."""
    wire = chunked(chunks)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=12)))
    pieces = [wire[start:end] for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True)]
    response = read([piece for piece in pieces if piece])
    assert bytes(response.body) == b"".join(chunks)
    assert sum(arrival.num_bytes for arrival in response.arrivals) == len(response.body)
    assert [arrival.at_s for arrival in response.arrivals] == sorted({arrival.at_s for arrival in response.arrivals})
    assert response.whole
    assert response.headers["x-sample-rate"] == "24000"


@given(st.integers(1, 4))
def test_a_body_without_its_end_is_not_whole(missing: int) -> None:
    """A truncated body is never taken for a complete one."""
    response = read([chunked([b"ab", b"cd"])[: -len(b"0\r\n\r\n") - missing]])
    assert not response.whole


def test_the_head_is_not_audio() -> None:
    """Time to first packet counts from the first byte of the body."""
    response = read([HEAD, b"4\r\nab", b"cd\r\n"], keep=False)
    assert [(arrival.at_s, arrival.num_bytes) for arrival in response.arrivals] == [(1.0, 2), (2.0, 2)]
    assert not response.body


def test_a_refusal_is_read_to_its_end_and_is_not_audio() -> None:
    """The body of a refusal does not count as audio."""
    response = read([b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 4\r\n\r\n{", b"..}"])
    assert response.whole
    assert response.status == 429
    assert response.headers["retry-after"] == "2"
    assert not response.arrivals


def test_a_malformed_response_raises() -> None:
    """A server that sends nonsense has failed."""
    with pytest.raises(httptools.HttpParserError):
        read([HEAD + b"sound\r\n"])


async def test_an_exchange_cut_before_it_is_connected_sends_nothing() -> None:
    """It is done at once."""
    with running_server() as server:
        exchange = HttpExchange(SPEECH)
        exchange.cut()
        await exchange.connect(server.port)
        await exchange.done
        assert server.engine.num_plans == 0
    assert exchange.result.cut


async def test_a_port_on_which_nothing_listens_is_a_failure() -> None:
    """There is no status, and no exception either."""
    exchange = HttpExchange(SPEECH)
    await exchange.connect(free_port())
    await exchange.done
    assert (exchange.result.status, exchange.result.failed) == (0, True)


def test_pieces_of_a_response_are_its_body() -> None:
    """Each piece is one arrival."""
    with running_server() as server:
        result = fetch(server.port, SPEECH, timeout_s=20)
        body = server.speech(input="One two three.", response_format="pcm").content
    pieces = list(result.pieces())
    assert b"".join(data for _, data in pieces) == result.body == body
    assert [at_s for at_s, _ in pieces] == [arrival.at_s for arrival in result.arrivals]


def test_a_refusal_is_not_a_result() -> None:
    """The status and the message of the server are in the error."""
    with running_server() as server, pytest.raises(RuntimeError, match="answered 404"):
        fetch(server.port, HttpRequest("/nothing", b""), timeout_s=20)
