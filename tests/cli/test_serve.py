"""``yuliu serve`` as a program."""

from __future__ import annotations

import re
import signal
import socket
import urllib.request
from typing import TYPE_CHECKING

from yuliu.cli.app import run

if TYPE_CHECKING:
    import pytest
    from program import Start


def test_serves_until_interrupted(start: Start) -> None:
    """It says where it listens, answers there, and a Ctrl-C is a normal end."""
    process = start("serve", "--port", "0")
    assert process.stderr
    log = ""
    while (found := re.search(r"ready voices=", log)) is None:
        line = process.stderr.readline().decode()
        assert line, log
        log += line
    found = re.search(r"listening .*port=(\d+)", log)
    assert found, log
    with urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/v1/models") as answer:
        assert '"tone"' in answer.read().decode()
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 0


def test_other_machines_have_to_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """An address that others reach is refused without --expose, and the message names the option."""
    assert run(["serve", "--host", "0.0.0.0", "--port", "0"], None) == 2
    assert "--expose" in capsys.readouterr().err


def test_port_in_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """With what to do about it."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert run(["serve", "--port", str(port)], None) == 1
    error = capsys.readouterr().err
    assert error.startswith("yuliu: error: address already in use; choose where to listen with --host and --port")
