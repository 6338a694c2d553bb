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
async def test_split_characters_are_joined(text: str, read_num_bytes: int) -> None:
    """The text does not depend on where the bytes of a pipe are cut; a leading byte order mark is dropped."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "READ_NUM_BYTES", read_num_bytes)
        with os.fdopen(writing, "wb") as file:
            file.write(text.encode())
        assert "".join(await pieces_of(from_descriptor(reading, READING))) == text.removeprefix("\ufeff")


@pytest.mark.anyio
async def test_invalid_utf8_in_a_pipe_is_replaced() -> None:
    """Invalid bytes do not end the speech; neither does an incomplete last character."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"):
        os.write(writing, b"ab\xff\xe4\xbd")
        os.close(writing)
        assert "".join(await pieces_of(from_descriptor(reading, READING))) == "ab\ufffd\ufffd"


@pytest.mark.anyio
async def test_pieces_arrive_immediately() -> None:
    """Each piece is passed on before the next one is written."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), os.fdopen(writing, "wb", buffering=0) as file:
        pieces = from_descriptor(reading, READING).pieces
        for piece in ("one", "二", "three"):
            file.write(piece.encode())
            assert await anext(pieces) == piece


@pytest.mark.anyio
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=2000), max_size=3))
async def test_arguments_are_joined_and_cut(texts: list[str]) -> None:
    """Arguments are joined by spaces, and cut into pieces of limited size."""
    source = from_arguments(texts)
    pieces = await pieces_of(source)
    assert "".join(pieces) == " ".join(texts)
    assert source.num_chars == len(" ".join(texts))
    assert all(len(piece) <= PIECE_NUM_CHARS for piece in pieces)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-32"])
def test_file_is_counted_and_cut(tmp_path: Path, encoding: str) -> None:
    """The number of characters is known ahead, the pieces are short, and the byte order mark is dropped."""
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
        ("你好。".encode("gb18030") * 2000, "give its encoding, for example --encoding gb18030"),
        ("好".encode() * 2000 + b"\xe5", "is not valid utf-8"),
        (b"\x7fELF\0\0\0", "is not a text file"),
        ("hello".encode("utf-16"), "or give its encoding, for example --encoding utf-16"),
    ],
)
def test_invalid_text_file_is_refused_before_speaking(tmp_path: Path, content: bytes, reason: str) -> None:
    """The whole file is checked first."""
    (tmp_path / "text").write_bytes(content)
    with pytest.raises(InvalidRequest, match=reason):
        from_file(str(tmp_path / "text"), READING)


def test_oversized_file_is_refused(tmp_path: Path) -> None:
    """A file above the maximum is refused without reading it."""
    with (tmp_path / "text").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(InvalidRequest, match="split it"):
        from_file(str(tmp_path / "text"), READING)


def test_named_pipe_is_read_as_text_arrives(tmp_path: Path) -> None:
    """A pipe such as that of ``-f <(some-llm)`` has no known length."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writing = os.open(path, os.O_RDWR)
    os.write(writing, "你好".encode())
    source = from_file(str(path), READING)
    os.close(writing)
    assert source.num_chars is None
    assert asyncio.run(pieces_of(source)) == ["你好"]
