"""Sources of text: arguments, a file, or standard input while it is being written."""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from yuliu.cli.background_thread import BackgroundThread

READ_NUM_BYTES = 64 * 1024
PIECE_NUM_CHARS = 1024
"""Size of the pieces of a whole text, so that only a few sentences wait in memory."""
MAX_FILE_BYTES = 16 * 1024 * 1024
"""Maximum size of a text file: about five million Chinese characters, ten times the speech that fits a WAV file."""


@dataclass(frozen=True, slots=True)
class TextSource:
    """Text in pieces."""

    pieces: AsyncIterator[str]
    """Pieces of the text, cut anywhere."""
    num_chars: int | None
    """Number of characters; None if the text is still being written."""


def from_arguments(texts: Iterable[str]) -> TextSource:
    """Join the arguments with spaces, as ``echo`` does."""
    text = " ".join(texts)
    pieces = (text[at : at + PIECE_NUM_CHARS] for at in range(0, len(text), PIECE_NUM_CHARS))
    return TextSource(_each(pieces), len(text))


def from_descriptor(descriptor: int, thread: BackgroundThread, *, encoding: str = "utf-8") -> TextSource:
    """Read a pipe or terminal as text arrives. Bytes that are invalid in the encoding become U+FFFD.

    Args:
        descriptor: Descriptor open for reading; it stays open.
        thread: Thread for the blocking reads.
        encoding: Name of a text encoding.
    """
    return TextSource(_as_it_comes(descriptor, thread, encoding), None)


def from_file(path: str, thread: BackgroundThread, *, encoding: str = "utf-8") -> TextSource:
    """Read a text file, after one pass that checks and counts it. A named pipe is read as text arrives.

    Raises:
        InvalidRequest: The file is too large, or no text in this encoding.
        OSError: The file cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    file = open(descriptor, "rb")  # noqa: SIM115 - read after this function returns; closed by the generator
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return TextSource(_closing(file, _as_it_comes(descriptor, thread, encoding)), None)
    if status.st_size > MAX_FILE_BYTES:
        file.close()
        raise InvalidRequest(
            f"{path}: has {status.st_size:,} bytes, more than the maximum of {MAX_FILE_BYTES:,}; split it, or pipe it "
            "to: yuliu say",
            param="file",
        )
    try:
        num_chars = sum(map(len, _decoded(file, path, encoding)))
    except InvalidRequest:
        file.close()
        raise
    file.seek(0)
    return TextSource(_closing(file, _in_background(_decoded(file, path, encoding), thread)), num_chars)


async def _each(pieces: Iterable[str]) -> AsyncIterator[str]:
    for piece in pieces:
        yield piece


async def _in_background(pieces: Iterator[str], thread: BackgroundThread) -> AsyncIterator[str]:
    while (piece := await thread.run(lambda: next(pieces, None))) is not None:
        yield piece


async def _closing(file: BinaryIO, pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    with file:
        async for piece in pieces:
            yield piece


async def _as_it_comes(descriptor: int, thread: BackgroundThread, encoding: str) -> AsyncIterator[str]:
    decoder = _decoder(encoding, errors="replace")
    while block := await thread.run(lambda: os.read(descriptor, READ_NUM_BYTES)):
        if text := decoder.decode(block):
            yield text
    if text := decoder.decode(b"", final=True):
        yield text


def _decoded(file: BinaryIO, path: str, encoding: str) -> Iterator[str]:
    decoder = _decoder(encoding, errors="strict")
    while True:
        block = file.read(PIECE_NUM_CHARS)
        if b"\0" in block and "16" not in encoding and "32" not in encoding:
            raise InvalidRequest(f"{path}: is not a text file; {_HOW_TO_CONVERT}", param="file")
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeError as error:
            raise InvalidRequest(
                f"{path}: is not valid {encoding}; give its encoding, for example --encoding gb18030",
                param="encoding",
            ) from error
        if text:
            yield text
        if not block:
            return


_HOW_TO_CONVERT = "save it as plain text first, or give its encoding, for example --encoding utf-16"


def _decoder(encoding: str, *, errors: str) -> codecs.IncrementalDecoder:
    """Return a decoder; for UTF-8, one that drops the byte order mark that Windows programs write."""
    name = codecs.lookup(encoding).name
    return codecs.getincrementaldecoder("utf-8-sig" if name == "utf-8" else name)(errors)
