"""Tree of commands: help, completion, errors and exit codes."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest
from program import PROGRAM

from yuliu.cli.app import COMMANDS, cli, run
from yuliu.cli.console.errors import report
from yuliu.cli.wiring import Wiring
from yuliu.errors import NothingToSpeak, Overloaded, PullFailed, SynthesisFailed, UnknownVoice, VoiceNotReady

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from yuliu.synthesizer import Synthesizer

HEAVY = {
    "asyncio",
    "av",
    "numpy",
    "onnxruntime",
    "ai_edge_litert",
    "starlette",
    "uvicorn",
    "rjieba",
    "yuliu.synthesizer",
}


def all_commands() -> Iterator[list[str]]:
    for name in COMMANDS:
        yield [name]
        command = cli.get_command(click.Context(cli), name)
        if isinstance(command, click.Group):
            yield from ([name, below] for below in command.commands)


@pytest.mark.parametrize("args", list(all_commands()), ids=" ".join)
def test_every_command_has_help_with_examples(capsys: pytest.CaptureFixture[str], args: list[str]) -> None:
    """Both --help and -h show the usage and an example."""
    for option in ("--help", "-h"):
        assert run([*args, option], None) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"Usage: yuliu {' '.join(args)} ")
        assert "Example" in out
        assert max(map(len, out.splitlines())) <= 80
        assert "..." not in out.partition("Commands:")[2].partition("Example")[0]  # no summary is truncated


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], ["say", "--help"], ["voices", "--help"], ["doctor", "-h"], ["serve", "-h"]]
)
def test_help_loads_no_heavy_library(args: list[str]) -> None:
    """Help appears without waiting for libraries to load."""
    script = (
        "import sys; from yuliu.cli.app import run; code = run(sys.argv[1:], None); "
        f"print(*sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script, *args], capture_output=True, text=True, check=True)
    assert done.stderr == "\n"


def test_no_command_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is that of wrong usage."""
    assert run([], None) == 2
    assert "Commands:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["sey"], "no such command 'sey'"),
        (["say", "--foo"], "no such option"),
        (["say", "--lanes", "2"], "no such option"),
        (["serve", "--lanes", "2"], "option '--lanes' is called '--workers' now"),
        (["simulate", "--lanes", "2"], "option '--lanes' is called '--workers' now"),
        (["say", "hi", "--format", "wav"], "--format needs an output: -o FILE"),
        (["say", "hi", "-f", str(PROGRAM), "-o", "a.wav"], "either TEXT or --file"),
        (["say", "-f", "/nonexistent/text", "-o", "a.wav"], "does not exist"),
        (["say", "-f", "/", "-o", "a.wav"], "is a directory"),
        (["say", "hi", "-o", "/nonexistent/a.wav"], "there is no directory"),
        (["say", "hi", "-o", "a.m4a"], "yuliu say ... --format flac -o - | ffmpeg -i - a.m4a"),
        (["client", "hi", "-o", "a.m4a"], "yuliu client ... --format flac -o - | ffmpeg -i - a.m4a"),
        (["client", "hi", "-o", "/nonexistent/a.wav"], "there is no directory"),
        (["say", "hi", "-o", "a.wav", "--speed", "9"], "not in the range"),
        (["say", "hi", "-o", "a.wav", "--encoding", "hex"], "is not a text encoding"),
        (["serve", "--port", "70000"], "not in the range"),
        (["explain", "hi", "--lang", "xx"], "yuliu: error: '--lang': there is no language 'xx'; there are"),
        (["explain", "hi", "--lang", "x"], "yuliu: error: '--lang' must be a language tag"),
    ],
)
def test_wrong_usage_is_reported(capsys: pytest.CaptureFixture[str], args: list[str], message: str) -> None:
    """The exit code is 2, and the message points to the help, before any voice is loaded."""

    def never(voices: Sequence[str]) -> Synthesizer:
        raise AssertionError("a voice was loaded")

    assert run(args, Wiring(open_synthesizer=never)) == 2
    error, *_, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("yuliu: error: ")
    assert message in error
    assert hint.startswith("Try: yuliu ")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UnknownVoice("no such voice"), 2, "error: no such voice"),
        (NothingToSpeak("nothing to say"), 1, "error: nothing to say"),
        (VoiceNotReady("run: yuliu voices pull"), 1, "error: run: yuliu voices pull"),
        (PullFailed("the disk is full"), 1, "error: the disk is full"),
        (Overloaded("too many streams", retry_after_s=1.0), 1, "error: too many streams"),
        (SynthesisFailed("the model failed"), 1, "error: the model failed"),
        (OSError(28, "No space left on device", "a.wav"), 1, "error: a.wav: No space left on device"),
        (OSError(28, "No space left on device"), 1, "error: no space left on device"),
        (ZeroDivisionError("secret text"), 1, "error: internal error: ZeroDivisionError; please report"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
    ],
)
def test_errors_become_messages_and_exit_codes(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, message: str
) -> None:
    """An error is one line without a traceback; an unknown exception shows only its class."""
    assert report(error) == code
    line = capsys.readouterr().err
    assert line.startswith(f"yuliu: {message}")
    assert line.count("\n") == 1
    assert "secret" not in line


@pytest.mark.parametrize(
    ("environ", "is_red"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_errors_are_red_on_terminals_with_colours(environ: dict[str, str], is_red: bool) -> None:
    """NO_COLOR and dumb terminals are respected."""
    terminal, program_side = pty.openpty()
    try:
        arguments = ["say", "hi", "-o", "/nonexistent/a.wav"]
        subprocess.run(
            [sys.executable, PROGRAM, *arguments],
            stderr=program_side,
            env={**os.environ, "NO_COLOR": "", **environ},
            check=False,
        )
        seen = os.read(terminal, 4096)
    finally:
        os.close(program_side)
        os.close(terminal)
    assert (b"\x1b[31m" in seen) is is_red
    assert b"there is no directory" in seen


def test_notes_follow_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    """Notes that a command adds to an error are part of the line."""
    error = SynthesisFailed("the model failed")
    error.add_note("out.wav holds the beginning")
    report(error)
    assert capsys.readouterr().err == "yuliu: error: the model failed; out.wav holds the beginning\n"


def test_closed_output_is_no_error_message() -> None:
    """``yuliu voices list | head -0`` ends without a message."""
    command = [sys.executable, str(PROGRAM), "voices", "list", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    with process.stderr as errors:
        assert errors.read() == b""
    assert process.wait() == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_calls_the_program(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    """The script lets the program complete its own arguments."""
    assert run(["completion", shell], None) == 0
    assert f"_YULIU_COMPLETE={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "offered"),
    [("yuliu s", {"say", "serve", "simulate"}), ("yuliu say --voice h", {"heart"}), ("yuliu voices pull b", {"baker"})],
)
def test_completes_commands_and_voices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str, offered: set[str]
) -> None:
    """Commands come from the table, voices from the catalogue."""
    monkeypatch.setenv("YULIU_HOME", str(tmp_path))
    monkeypatch.setenv("_YULIU_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit, match=r"^0$"):  # click itself ends the program
        run([], None)
    assert {line.partition(",")[2] for line in capsys.readouterr().out.splitlines()} == offered


def test_doctor_finds_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty home the default voice is broken, the others are optional, and each has a remedy."""
    monkeypatch.setenv("YULIU_HOME", str(tmp_path))
    assert run(["doctor", "--json"], None) == 1
    findings = {finding["name"]: finding for finding in json.loads(capsys.readouterr().out)}
    assert findings["onnxruntime"]["state"] == "ok"
    assert findings["voice yuliu"]["state"] == "broken"
    assert findings["voice yuliu"]["advice"] == "yuliu voices pull yuliu"
    assert findings["voice heart"]["state"] == "note"
    assert run(["doctor"], None) == 1
    assert "        -> yuliu voices pull yuliu\n" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="programs are started with all three there")
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"])
def test_closed_standard_streams_do_not_affect_files(closed: str, tmp_path: Path) -> None:
    """Daemons and cron jobs close standard streams; nothing else is written into the audio file then."""
    usual, sound = tmp_path / "usual.wav", tmp_path / "sound.wav"
    say = shlex.join([sys.executable, str(PROGRAM), "say", "Hello.", "-o"])
    subprocess.run(["sh", "-c", f"{say} {usual}"], check=True)
    subprocess.run(["sh", "-c", f"exec {say} {sound} {closed}"], check=True)
    assert sound.read_bytes() == usual.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="programs are started with all three there")
@pytest.mark.parametrize(
    ("arguments", "closed", "told"),
    [("-o out.wav", "0<&-", b"standard input is closed"), ("Hello. -o -", "1>&-", b"standard output is closed")],
)
def test_closed_standard_streams_are_reported_if_needed(
    arguments: str, closed: str, told: bytes, tmp_path: Path
) -> None:
    """A command that needs a closed stream says so."""
    say = shlex.join([sys.executable, str(PROGRAM), "say"])
    finished = subprocess.run(["sh", "-c", f"exec {say} {arguments} {closed}"], cwd=tmp_path, capture_output=True)
    assert (finished.returncode, told in finished.stderr) == (2, True)
