"""``yuliu voices`` in a temporary home, with a voice whose files come from a directory."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from yuliu.cli.app import run
from yuliu.cli.commands.voices import PullDisplay, pull_fields
from yuliu.cli.wiring import Wiring
from yuliu.voices import PullProgress, VoiceStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WEIGHTS = bytes(range(256)) * 40

MANIFEST = f"""\
schema = 1
name = "plain"
description = "A voice for tests"
engine = "tone"
languages = ["zh", "en"]
sample_rate = 24000
streaming = "exact"

[licence]
name = "CC0-1.0"
commercial_use = true
notice = "Made for tests."

[sources.box]
kind = "folder"
path = "box"

[[files]]
name = "weights.bin"
source = "box"
member = "weights.bin"
size = {len(WEIGHTS)}
sha256 = "{hashlib.sha256(WEIGHTS).hexdigest()}"
"""

if TYPE_CHECKING:
    Yuliu = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Home with the manifest of ``plain``, and its weights beside it."""
    box = tmp_path / "voices.d" / "box"
    box.mkdir(parents=True)
    (box / "weights.bin").write_bytes(WEIGHTS)
    (box.parent / "plain.toml").write_text(MANIFEST)
    return tmp_path


@pytest.fixture
def yuliu(home: Path, capsys: pytest.CaptureFixture[str]) -> Yuliu:
    """Run ``yuliu voices``, and return its exit code, output and messages."""

    def yuliu(*args: str) -> tuple[int, str, str]:
        code = run(["voices", *args], Wiring(open_store=lambda: VoiceStore(home)))
        return (code, *capsys.readouterr())

    return yuliu


def test_list_shows_each_voice(yuliu: Yuliu) -> None:
    """A row shows the languages, state and licence of a voice; the last line says how to get one."""
    code, out, _ = yuliu("list")
    row = next(line.split() for line in out.splitlines() if line.startswith("plain"))
    assert row == ["plain", "zh", "en", "not", "pulled", "0", "B", "to", "fetch", "CC0-1.0"]
    assert "non-commercial" in next(line for line in out.splitlines() if line.startswith("baker"))
    assert "yuliu voices pull" in out
    assert code == 0


def test_list_as_json_has_all_fields(yuliu: Yuliu) -> None:
    """--json prints all that is known about each voice."""
    _, out, _ = yuliu("list", "--json")
    plain = {voice["name"]: voice for voice in json.loads(out)}["plain"]
    assert (plain["state"], plain["languages"], plain["commercial_use"]) == ("absent", ["zh", "en"], True)


def test_pull_verify_remove(yuliu: Yuliu, home: Path) -> None:
    """A voice is pulled, verified, found damaged after a byte changes, pulled again and removed."""
    code, out, err = yuliu("pull", "plain")
    assert (code, out) == (0, "plain: ready, 10 kB\n")
    assert "plain: verifying weights.bin" in err
    assert yuliu("verify") == (0, "plain: every file is correct\n", "")
    (path,) = home.glob("voices/plain/*/weights.bin")
    path.write_bytes(b"\1" + WEIGHTS[1:])
    code, out, _ = yuliu("verify", "plain")
    assert code == 1
    assert "run: yuliu voices pull plain" in out
    code, out, _ = yuliu("verify", "--json")
    assert (code, json.loads(out)[0]["ok"]) == (1, False)
    assert yuliu("pull", "plain", "--quiet") == (0, "", "")
    assert yuliu("verify")[0] == 0
    assert yuliu("remove", "plain") == (0, "plain: removed, 10 kB freed\n", "")
    assert yuliu("verify") == (0, "no voice has been pulled; to get one: yuliu voices pull\n", "")


def test_info_shows_the_terms_of_use(yuliu: Yuliu) -> None:
    """The output shows commercial use, the licence, and the size of a pull."""
    code, out, _ = yuliu("info", "yuliu")
    assert code == 0
    assert "commercial   not allowed" in out
    assert "run: yuliu voices pull yuliu" in out
    assert json.loads(yuliu("info", "yuliu", "--json")[1])["parts"] == [["zh", "baker"], ["en", "heart"]]


@pytest.mark.parametrize("command", ["info", "pull", "verify", "remove"])
def test_unknown_voice_is_wrong_usage(yuliu: Yuliu, command: str) -> None:
    """The message lists the known voices."""
    code, out, err = yuliu(command, "nobody")
    assert (code, out) == (2, "")
    assert err == "yuliu: error: there is no voice of that name; known voices are baker, heart, plain, yuliu\n"


def test_failed_pull_is_reported(yuliu: Yuliu, home: Path) -> None:
    """A missing file fails the pull with exit code 1 and one line."""
    (home / "voices.d" / "box" / "weights.bin").unlink()
    code, _, err = yuliu("pull", "plain", "-q")
    assert code == 1
    assert err.startswith("yuliu: error: ")
    assert len(err.splitlines()) == 1


def test_wrong_manifest_is_reported(yuliu: Yuliu, home: Path) -> None:
    """The message names the user's manifest."""
    (home / "voices.d" / "plain.toml").write_text("schema = 1\n")
    code, _, err = yuliu("list")
    assert code == 2
    assert "plain.toml" in err


def test_progress_of_a_pull_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line shows progress, speed and remaining time; at the end it is wiped."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, times = Terminal(), iter([0.0, 1.0, 1.0, 1.0, 3.0, 3.0])
    monkeypatch.setattr(sys, "stderr", terminal)
    display = PullDisplay(quiet=False, clock=lambda: next(times))
    display(PullProgress("plain", "a.whl", "fetch", 0, 4_000_000))
    display(PullProgress("plain", "a.whl", "fetch", 2_000_000, 4_000_000))
    display.close()
    drawn = terminal.getvalue().split("\r")
    assert drawn[-3].rstrip() == "plain: [##########----------]  50%  of 4.0 MB  1.0 MB/s  2 s left  a.whl"
    assert drawn[-2] == " " * 79
    assert drawn[-1] == ""


def test_progress_without_a_known_size() -> None:
    """Without a known size, the line shows the bytes fetched so far."""
    assert pull_fields(PullProgress("plain", "a", "fetch", 1500, None), 0.0) == ["plain: 1.5 kB fetched", "a"]
    waiting = PullProgress("plain", "", "wait", 0, None)
    assert pull_fields(waiting, 0.0) == ["plain: waiting for another program"]
