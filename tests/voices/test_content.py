"""Copying files and checking their bytes against the manifest."""

from __future__ import annotations

import errno
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_voice import sha256

from yuliu.errors import PullFailed
from yuliu.voices.content import WrongContent, copy_verified, disk_errors, has_content


class Dribble(io.BytesIO):
    """A source that returns its bytes in pieces of scripted sizes."""

    def __init__(self, content: bytes, pieces: list[int]) -> None:
        super().__init__(content)
        self._pieces = pieces

    def read(self, size: int | None = -1, /) -> bytes:
        piece = self._pieces.pop() if self._pieces else 1000
        return super().read(piece if size is None or size < 0 else min(size, piece))


@given(st.binary(max_size=200), st.binary(max_size=200), st.lists(st.integers(1, 50)))
def test_copy_gives_the_promised_content_or_nothing(promised: bytes, content: bytes, pieces: list[int]) -> None:
    """However the source is cut, the target holds the promised bytes, or WrongContent is raised and it does not
    exist."""
    with TemporaryDirectory() as folder:
        target = Path(folder) / "target"
        source = Dribble(content, pieces)
        told: list[int] = []
        try:
            copy_verified(source, target, size=len(promised), sha256=sha256(promised), on_bytes=told.append)
        except WrongContent:
            assert content != promised
            assert not target.exists()
        else:
            assert target.read_bytes() == content == promised
            assert not told or told[-1] == len(promised)
        assert source.tell() <= len(promised) + 1
        assert told == sorted(told)


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_has_content_compares_all_bytes(promised: bytes, content: bytes) -> None:
    """A file has the promised content exactly if its bytes are equal."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        assert not has_content(path, size=len(promised), sha256=sha256(promised))
        path.write_bytes(content)
        assert has_content(path, size=len(promised), sha256=sha256(promised)) == (content == promised)
        assert not has_content(Path(folder), size=len(promised), sha256=sha256(promised))


@pytest.mark.parametrize(
    ("content", "difference"),
    [
        (b"ab", "it is 2 bytes long, 3 were expected"),
        (b"abcd", "it is longer than the 3 bytes expected"),
        (b"abd", "its sha256 is "),
    ],
)
def test_copy_reports_the_difference(tmp_path: Path, content: bytes, difference: str) -> None:
    """The error states how the bytes differ from the promised ones."""
    with pytest.raises(WrongContent, match=difference):
        copy_verified(io.BytesIO(content), tmp_path / "x", size=3, sha256=sha256(b"abc"), on_bytes=lambda _: None)


def test_copy_never_overwrites(tmp_path: Path) -> None:
    """An existing target stays as it is."""
    target = tmp_path / "target"
    target.write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        copy_verified(io.BytesIO(b"new"), target, size=3, sha256=sha256(b"new"), on_bytes=lambda _: None)
    assert target.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.ENOSPC, "Make room in /home/voices, or set YULIU_HOME"),
        (errno.EACCES, "/home/voices cannot be written. Set YULIU_HOME"),
        (errno.EROFS, "/home/voices cannot be written"),
        (errno.EIO, "the disk failed"),
    ],
)
def test_disk_errors_name_voice_and_remedy(code: int, advice: str) -> None:
    """Each kind of disk error becomes PullFailed with the voice's name and advice."""
    with (
        pytest.raises(PullFailed, match=f"voice toy was not installed: .*{advice}"),
        disk_errors("toy", Path("/home/voices"), action="installed"),
    ):
        raise OSError(code, "words of the system")
