"""Sockets, and a whole server process."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from yuliu.errors import InvalidRequest
from yuliu.server.run import listening_socket
from yuliu.server.transport.http import UNSENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG = "one two three four five six seven eight nine ten. " * 5


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "::ffff:0.0.0.0", "192.0.2.7", "2001:db8::7", "fe80::1%lo"])
def test_reachable_addresses_need_expose(host: str) -> None:
    """An address that other machines reach needs ``expose``, however it is written."""
    with pytest.raises(InvalidRequest, match="other machines") as caught:
        listening_socket(host, 0, expose=False, stall_s=60)
    assert caught.value.param == "host"


LAN, LOOPBACK = ("192.0.2.7", 0), ("127.0.0.1", 0)


@pytest.mark.parametrize(
    ("found", "is_refused"),
    [
        ([(socket.AF_INET, LAN)], True),
        ([(socket.AF_INET6, ("2001:db8::7", 0, 0, 0))], True),
        ([(socket.AF_INET6, ("::1", 0, 0, 0)), (socket.AF_INET, LAN)], True),
        ([(socket.AF_INET, LAN), (socket.AF_INET, LOOPBACK)], True),
        ([(socket.AF_INET, LOOPBACK), (socket.AF_INET, LAN)], False),
    ],
)
def test_a_name_is_what_it_stands_for(monkeypatch: pytest.MonkeyPatch, found: list[Any], is_refused: bool) -> None:
    """The resolved address counts, not the name."""
    given = [(family, socket.SOCK_STREAM, 0, "", address) for family, address in found]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: given)
    if is_refused:
        with pytest.raises(InvalidRequest, match="other machines reach localhost"):
            listening_socket("localhost", 0, expose=False, stall_s=60)
    else:
        with listening_socket("localhost", 0, expose=False, stall_s=60) as listener:
            assert listener.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(("host", "expose"), [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True)])
def test_the_socket_is_open_at_once(host: str, expose: bool) -> None:
    """A client can connect before anything is loaded."""
    with listening_socket(host, 0, expose=expose, stall_s=60) as listener:
        socket.create_connection(("127.0.0.1", listener.getsockname()[1]), timeout=5).close()


def test_a_port_in_use_is_an_error() -> None:
    """Two servers do not share a port."""
    with listening_socket("127.0.0.1", 0, expose=False, stall_s=60) as listener, pytest.raises(OSError, match="in use"):
        listening_socket("127.0.0.1", listener.getsockname()[1], expose=False, stall_s=60)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hand these options on")
def test_connections_inherit_the_options() -> None:
    """Accepted connections have the options of the listening socket."""
    with listening_socket("127.0.0.1", 0, expose=False, stall_s=7) as listener:
        with socket.create_connection(listener.getsockname()[:2], timeout=5):
            accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT) == UNSENT_BYTES
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 7_000


@contextlib.contextmanager
def process(how: str) -> Iterator[subprocess.Popen[str]]:
    """A server process, killed at the end if it has not ended."""
    script = Path(__file__).parents[1] / "support" / "tone_server.py"
    with subprocess.Popen([sys.executable, str(script), how], stderr=subprocess.PIPE, text=True) as server:
        try:
            yield server
        finally:
            server.kill()


def read_until(server: subprocess.Popen[str], pattern: str) -> tuple[re.Match[str], str]:
    """Read the log until a line matches. Return the match and the text read."""
    assert server.stderr is not None
    read = ""
    for line in server.stderr:
        read += line
        if found := re.search(pattern, line):
            return found, read
    raise AssertionError(f"the server ended without {pattern!r}: {read}")


def test_sigterm_lets_streams_finish() -> None:
    """A running stream finishes after SIGTERM, and the log has no text."""
    with process("tone") as server:
        port = int(read_until(server, r"listening host=127\.0\.0\.1 port=(\d+)")[0][1])
        read_until(server, "ready voices=tone")
        request = {"input": LONG, "response_format": "pcm"}
        with httpx.stream("POST", f"http://127.0.0.1:{port}/v1/audio/speech", json=request, timeout=20) as answer:
            pieces = answer.iter_raw()
            sound = next(pieces)
            server.send_signal(signal.SIGTERM)
            _, log = read_until(server, "Shutting down")
            sound += b"".join(pieces)
        found, more = read_until(server, r"characters=(\d+) .*audio_s=(\S+) .*status=200 ending=finished")
        assert int(found[1]) == len(LONG)
        assert len(sound) == round(float(found[2]) * 48_000)
        assert "seven" not in log + more
        assert "uvicorn.access" not in log + more
        assert server.wait(20) == -signal.SIGTERM


@pytest.mark.parametrize(("how", "says"), [("broken", "run 'yuliu voices pull tone'"), ("crashing", "ValueError")])
def test_a_server_whose_voices_cannot_be_loaded_ends(how: str, says: str) -> None:
    """A server without voices ends and gives the reason."""
    with process(how) as server:
        assert server.stderr is not None
        log = server.stderr.read()
        assert server.wait(20) == 1
        assert says in log
        assert "loading_failed" in log
