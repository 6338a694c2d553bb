"""Text from arguments, files and pipes."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.cli.background_thread import BackgroundThread
from yuliu.cli.text_input import sources
from yuliu.cli.text_input.sources import MAX_FILE_BYTES, PIECE_NUM_CHARS, from_arguments, from_descriptor, from_file
from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from pathlib import Path

    from yuliu.cli.text_input.sources import TextSource

READING = BackgroundThread("reading")


async def pieces_of(source: TextSource) -> list[str]:
    return [piece async for piece in source.pieces]


@pytest.mark.anyio
@given(text=st.text(), read_num_bytes=st.integers(1, 5))
async def test_characters_that_come_apart_are_put_together(text: str, read_num_bytes: int) -> None:
    """Wherever the bytes of a pipe are cut, the text is the same; a byte order mark at its head is none of it."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "READ_NUM_BYTES", read_num_bytes)
        with os.fdopen(writing, "wb") as file:
            file.write(text.encode())
        assert "".join(await pieces_of(from_descriptor(reading, READING))) == text.removeprefix("\ufeff")


@pytest.mark.anyio
async def test_what_is_no_utf8_in_a_pipe_is_replaced() -> None:
    """A writer's slip does not end the speech; a character cut off by the end is a slip too."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"):
        os.write(writing, b"ab\xff\xe4\xbd")
        os.close(writing)
        assert "".join(await pieces_of(from_descriptor(reading, READING))) == "ab\ufffd\ufffd"


@pytest.mark.anyio
async def test_a_piece_comes_before_the_next_is_written() -> None:
    """Text is given on as soon as it is there."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), os.fdopen(writing, "wb", buffering=0) as file:
        pieces = from_descriptor(reading, READING).pieces
        for piece in ("one", "二", "three"):
            file.write(piece.encode())
            assert await anext(pieces) == piece


@pytest.mark.anyio
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=2000), max_size=3))
async def test_arguments_are_joined_and_cut(texts: list[str]) -> None:
    """They come with spaces between them, in pieces that are not too long."""
    source = from_arguments(texts)
    pieces = await pieces_of(source)
    assert "".join(pieces) == " ".join(texts)
    assert source.num_chars == len(" ".join(texts))
    assert all(len(piece) <= PIECE_NUM_CHARS for piece in pieces)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-32"])
def test_file_is_counted_and_cut(tmp_path: Path, encoding: str) -> None:
    """The characters are known before, the pieces are short, and the byte order mark is none of the text."""
    text = "你好，world。\r\n" * 1000
    (tmp_path / "text").write_bytes(text.encode(encoding))
    source = from_file(str(tmp_path / "text"), READING, encoding=encoding.removesuffix("-sig"))
    pieces = asyncio.run(pieces_of(source))
    assert "".join(pieces) == text
    assert source.num_chars == len(text)
    assert max(map(len, pieces)) <= PIECE_NUM_CHARS


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("你好。".encode("gb18030") * 2000, "name its own, for example --encoding gb18030"),
        ("好".encode() * 2000 + b"\xe5", "not in the encoding utf-8"),
        (b"\x7fELF\0\0\0", "is not a text file"),
        ("hello".encode("utf-16"), "or name its encoding, for example --encoding utf-16"),
    ],
)
def test_file_that_is_no_text_is_refused_before_anything_is_spoken(tmp_path: Path, content: bytes, reason: str) -> None:
    """Wherever in the file it shows."""
    (tmp_path / "text").write_bytes(content)
    with pytest.raises(InvalidRequest, match=reason):
        from_file(str(tmp_path / "text"), READING)


def test_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """Unread."""
    with (tmp_path / "text").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(InvalidRequest, match="split it"):
        from_file(str(tmp_path / "text"), READING)


def test_named_pipe_is_taken_as_it_comes(tmp_path: Path) -> None:
    """As bash gives one for ``-f <(some-llm)``: nobody knows before how long it is."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writing = os.open(path, os.O_RDWR)
    os.write(writing, "你好".encode())
    source = from_file(str(path), READING)
    os.close(writing)
    assert source.num_chars is None
    assert asyncio.run(pieces_of(source)) == ["你好"]
