"""``yuliu serve`` as a program."""

from __future__ import annotations

import json
import re
import signal
import socket
import urllib.request
from typing import TYPE_CHECKING

import pytest

from yuliu.cli.app import run

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from program import Start


def ready_port(process: subprocess.Popen[bytes]) -> int:
    """Wait until a server is ready, and return its port."""
    assert process.stderr
    log = ""
    while "ready voices=" not in log:
        line = process.stderr.readline().decode()
        assert line, log
        log += line
    found = re.search(r"listening .*port=(\d+)", log)
    assert found, log
    return int(found[1])


def test_serves_until_interrupted(start: Start) -> None:
    """The server logs its port, answers there, and ends normally on Ctrl-C."""
    process = start("serve", "--port", "0")
    with urllib.request.urlopen(f"http://127.0.0.1:{ready_port(process)}/v1/models") as answer:
        assert '"tone"' in answer.read().decode()
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 0


def test_public_address_needs_expose(capsys: pytest.CaptureFixture[str]) -> None:
    """An address that other machines can reach is refused without --expose, which the message names."""
    assert run(["serve", "--host", "0.0.0.0", "--port", "0"], None) == 2
    assert "--expose" in capsys.readouterr().err


def test_port_in_use_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """The message says how to choose another port."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert run(["serve", "--port", str(port)], None) == 1
    error = capsys.readouterr().err
    assert (
        error == f"yuliu: error: port {port} is in use; choose another one with --port, or any free one with --port 0\n"
    )


def test_foreign_address_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """An address of another machine is refused, and the message names the options."""
    assert run(["serve", "--host", "192.0.2.1", "--port", "0", "--expose", "--no-keys"], None) == 1
    error = capsys.readouterr().err
    assert error.startswith("yuliu: error: cannot listen on 192.0.2.1, port 0: ")
    assert "--host" in error


def test_phrases_are_synthesized_before_the_server_is_ready(start: Start, tmp_path: Path) -> None:
    """A ready server has the phrases and presets of its files."""
    (tmp_path / "greetings.txt").write_text("# greetings\n你好！\nHello there.\n", encoding="utf-8")
    (tmp_path / "ours.toml").write_text('[dialogue]\nclass = "bulk"\n', encoding="utf-8")
    process = start(
        *("serve", "--port", "0", "--workers", "2", "--cache", "1", "--adaptive"),
        *("--phrases", str(tmp_path / "greetings.txt"), "--presets", str(tmp_path / "ours.toml")),
    )
    address = f"http://127.0.0.1:{ready_port(process)}"
    with urllib.request.urlopen(f"{address}/v1/phrases") as answer:
        assert [each["text"] for each in json.load(answer)["phrases"]] == ["你好！", "Hello there."]
    with urllib.request.urlopen(f"{address}/v1/presets") as answer:
        assert {each["name"]: each["class"] for each in json.load(answer)["presets"]}["dialogue"] == "bulk"


@pytest.mark.parametrize(
    ("option", "content", "says"),
    [
        ("--phrases", b"ok\n" + b"a" * 301, "phrases.txt, line 2"),
        ("--phrases", b"\xff", "phrases.txt: is not UTF-8"),
        ("--phrases", None, "phrases.txt: cannot be read"),
        ("--presets", b"[dialogue]\nclass = 1\n", "dialogue.class"),
    ],
)
def test_wrong_files_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, content: bytes | None, says: str
) -> None:
    """The error and its place are reported before anything is loaded."""
    path = tmp_path / "phrases.txt"
    if content is not None:
        path.write_bytes(content)
    assert run(["serve", "--port", "0", option, str(path)], None) == 2
    assert says in capsys.readouterr().err
