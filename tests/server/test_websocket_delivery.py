"""Features that every protocol on the seam shares, shown on a made-up one."""

from __future__ import annotations

import logging
from contextlib import contextmanager, suppress
from socket import create_connection
from typing import TYPE_CHECKING, Any

import pytest
from keyed_server import keyed_server
from line_protocol import PATH, WITH_LINES
from serving import PATIENCE_S, Running, running_server
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from yuliu.server.limits import Limits, NativeLimits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from websockets.sync.client import ClientConnection

LINES: dict[str, Any] = {"routes": WITH_LINES}


@pytest.fixture
def running() -> Iterator[Running]:
    with running_server(app=LINES) as running:
        yield running


@contextmanager
def lines(running: Running, *sent: str, **options: Any) -> Iterator[ClientConnection]:
    """A connection that has sent some lines."""
    with connect(f"ws://127.0.0.1:{running.port}{PATH}", **options) as socket:
        for line in sent:
            socket.send(line)
        yield socket


def received(socket: ClientConnection) -> tuple[list[str], bytes]:
    """All text lines and all audio, until the server closes the connection."""
    told: list[str] = []
    audio = b""
    while True:
        try:
            frame = socket.recv(PATIENCE_S)
        except ConnectionClosed:
            return told, audio
        if isinstance(frame, str):
            told.append(frame)
        else:
            audio += frame


def wait_until_refused(running: Running) -> None:
    """Wait until the server takes no connection any more: then it drains."""
    with suppress(ConnectionError):
        while True:
            create_connection(("127.0.0.1", running.port), timeout=PATIENCE_S).close()


def code_of(socket: ClientConnection) -> int | None:
    return socket.protocol.close_code


def test_a_text_is_spoken(running: Running) -> None:
    """The audio is the same as over HTTP, and the connection is closed in order."""
    with lines(running, "speak tone", "+Hello ", "+there.\nend") as socket:
        told, audio = received(socket)
    assert told == ["started 24000", "done 12"]
    assert audio == running.speech(input="Hello there.", response_format="pcm").content
    assert code_of(socket) == 1000


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (("speak nobody",), "unknown_voice"),
        (("+Hello.",), "invalid_request"),
        (("speak tone", "nonsense"), "invalid_request"),
        (("speak tone", "+" + "x" * 1_001), "invalid_request"),
        (("speak tone", "+……\nend"), "nothing_to_speak"),
    ],
)
def test_errors_are_reported(running: Running, sent: tuple[str, ...], code: str) -> None:
    """Errors of voice, message, length and text reach the client, and are counted."""
    with lines(running, *sent) as socket:
        assert received(socket)[0][-1] == f"error {code}"
    assert code_of(socket) == 1011
    assert f'yuliu_errors_total{{code="{code}",door="lines"}} 1.0' in running.client.get("/metrics").text


def test_an_engine_that_fails_fails_the_delivery() -> None:
    """The failure is the last thing that the client gets."""
    with (
        running_server(app=LINES, fail_plans=frozenset({0, 1})) as running,
        lines(running, "speak tone", "+Hello.\nend") as socket,
    ):
        assert received(socket)[0] == ["started 24000", "error synthesis_failed"]


@pytest.mark.parametrize("leave", ["cancel", "close"])
def test_a_client_that_leaves_frees_its_place(running: Running, leave: str, caplog: pytest.LogCaptureFixture) -> None:
    """A cancel and a closed connection both end the stream at once."""
    caplog.set_level(logging.INFO)
    running.gate.close()
    with lines(running, "speak tone", "+Hello there.") as socket:
        assert socket.recv(PATIENCE_S) == "started 24000"
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        if leave == "cancel":
            socket.send("cancel")
        else:
            socket.close()
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
    running.wait_until(lambda: "lines id=" in caplog.text)
    assert "ending=cancelled" in caplog.text


def test_each_connection_leaves_one_line_in_the_log(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    """Finished and refused deliveries are logged with the same fields, and without the text."""
    caplog.set_level(logging.INFO)
    for sent in (("speak tone", "+Hello there.\nend"), ("speak nobody",)):
        with lines(running, *sent) as socket:
            received(socket)
    running.wait_until(lambda: caplog.text.count("lines id=") == 2)
    finished, refused = [each.getMessage() for each in caplog.records if "lines id=" in each.getMessage()]
    assert "voice=tone format=pcm characters=12 " in finished
    assert finished.endswith("status=- ending=finished")
    assert refused.endswith("status=- ending=unknown_voice")
    assert "Hello" not in caplog.text


def test_keys_scopes_and_quotas_hold(tmp_path: Path) -> None:
    """A key is required, needs the scope of the route, and has its quotas."""
    with keyed_server(tmp_path, routes=WITH_LINES) as locked:
        for headers in ({}, {"X-API-Key": "yuliu_wrong"}):
            with pytest.raises(InvalidStatus) as refused, lines(locked.running, additional_headers=headers):
                pass
            assert refused.value.response.status_code == 401
        with (
            pytest.raises(InvalidStatus) as refused,
            lines(locked.running, additional_headers=locked.key("other", scopes=("metrics",))),
        ):
            pass
        assert refused.value.response.status_code == 403
        headers = locked.key(characters=10)
        with lines(locked.running, "speak tone", "+Hello there.\nend", additional_headers=headers) as socket:
            assert received(socket)[0][-1] == "error quota_exceeded"
        with lines(locked.running, "speak tone", "+Hello.\nend", additional_headers=headers) as socket:
            assert received(socket)[0][-1] == "done 6"


def test_capacity_is_shared_with_other_protocols() -> None:
    """A stream of one protocol fills the place of another's, and gives it back."""
    with running_server(Limits(max_streams=1), app=LINES) as running:
        with lines(running, "speak tone") as socket:
            assert socket.recv(PATIENCE_S) == "started 24000"
            assert running.speech(input="hello").status_code == 429
            socket.send("end")
            assert received(socket)[0] == ["error nothing_to_speak"]
        running.wait_until(lambda: running.speech(input="hello").status_code == 200)


def test_a_delivery_may_finish_while_the_server_drains(running: Running) -> None:
    """A stream under way is spoken to its end when the server stops; then the connection goes away."""
    running.gate.close()
    with lines(running, "speak tone", "+Hello there.\nend") as socket:
        assert socket.recv(PATIENCE_S) == "started 24000"
        running.server.stop()
        wait_until_refused(running)
        running.gate.open()
        assert received(socket)[0] == ["done 12"]
    assert code_of(socket) == 1001


def test_a_delivery_that_outlasts_the_drain_fails() -> None:
    """The client receives an error when the time is over."""
    limits = Limits(native=NativeLimits(drain_s=0.1))
    with running_server(limits, app=LINES) as running, lines(running, "speak tone", "+Hello there.") as socket:
        assert socket.recv(PATIENCE_S) == "started 24000"
        running.server.stop()
        assert received(socket)[0] == ["error closed"]
        assert code_of(socket) == 1001


def test_a_connection_that_opens_nothing_is_closed() -> None:
    """It is given the time of an idle connection."""
    limits = Limits(native=NativeLimits(idle_s=0.1))
    with running_server(limits, app=LINES) as running, lines(running) as socket:
        assert received(socket)[0] == ["error timeout"]
