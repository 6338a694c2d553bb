"""Where the sound of ``yuliu say`` goes: a file, a pipe, or a sound device.

All calls block, and are made on one thread. ``finish`` is called once after the last sound; ``abandon`` instead of it
when the work ends early, whatever the reason: what has been written until then stays valid.
"""

from __future__ import annotations

import os
import select
import stat
from typing import TYPE_CHECKING, BinaryIO, Protocol

from yuliu.audio.formats import choose_encoding
from yuliu.audio.pcm import to_s16le
from yuliu.audio.wav import BYTES_PER_SAMPLE, HEADER_NUM_BYTES, UNKNOWN_NUM_BYTES, wav_header
from yuliu.errors import InvalidRequest
from yuliu.types import AudioFormat

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.audio.formats import FormatName
    from yuliu.types import Samples

MAX_WAV_DATA_BYTES = UNKNOWN_NUM_BYTES - HEADER_NUM_BYTES - 1
"""Even, and less than the size that means "not known"."""


class Sink(Protocol):
    """Takes sound."""

    def write(self, samples: Samples) -> None:
        """Take samples (float32, mono, shape (num_samples,), range [-1, 1]); waits until there is room for them."""
        ...

    def finish(self) -> None:
        """All sound has been given: deliver it to the end, and close."""
        ...

    def abandon(self) -> None:
        """Close at once."""
        ...


class WavFile:
    """A WAV file whose header is right after every write, so that it is valid whenever the program ends.

    The file is made, or an older one overwritten, when the first sound comes: an error before that leaves it alone.

    Args:
        path: Of a regular file, existing or not.
        sample_rate: Hz.
    """

    def __init__(self, path: str, sample_rate: int) -> None:
        self._path = path
        self._format = AudioFormat(sample_rate)
        self._file: BinaryIO | None = None
        self._num_bytes = 0

    def write(self, samples: Samples) -> None:
        """Append, then correct the header.

        Raises:
            OSError: The disk did not take all of it; what it took is there.
            InvalidRequest: The file has reached the size that WAV can tell.
        """
        pcm = to_s16le(samples)
        file = self._file or self._open()
        if self._num_bytes + len(pcm) > MAX_WAV_DATA_BYTES:
            raise InvalidRequest(
                "a WAV file holds at most 4 GiB; what fitted is there; split the text, or take --format pcm", param="o"
            )
        try:
            self._append(file, pcm)
        finally:
            self._correct(file)

    def finish(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()

    def abandon(self) -> None:
        """Close the file; its header is right."""
        self.finish()

    def _open(self) -> BinaryIO:
        self._file = open(self._path, "wb", buffering=0)  # noqa: SIM115 - closed by finish
        _write_all(self._file, wav_header(self._format, 0))
        return self._file

    def _append(self, file: BinaryIO, pcm: bytes) -> None:
        """Write it all, counting what was taken."""
        rest = memoryview(pcm)
        while rest:
            taken = _write_some(file, rest)
            self._num_bytes += taken
            rest = rest[taken:]

    def _correct(self, file: BinaryIO) -> None:
        if self._num_bytes % BYTES_PER_SAMPLE:  # the disk was full in the middle of a sample
            self._num_bytes -= self._num_bytes % BYTES_PER_SAMPLE
            file.truncate(HEADER_NUM_BYTES + self._num_bytes)
        file.seek(0)
        _write_all(file, wav_header(self._format, self._num_bytes))
        file.seek(0, os.SEEK_END)


class RawFile:
    """Samples as s16le without a header, in a file that is made when the first sound comes.

    Args:
        path: Of a regular file, existing or not.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def write(self, samples: Samples) -> None:
        """Append."""
        if self._file is None:
            self._file = open(self._path, "wb", buffering=0)  # noqa: SIM115 - closed by finish
        _write_all(self._file, to_s16le(samples))

    def finish(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()

    def abandon(self) -> None:
        """Close the file."""
        self.finish()


class Pipe:
    """Standard output, a named pipe or a device: sound goes out as it is made and cannot be taken back.

    Args:
        file: Unbuffered; is closed.
        sample_rate: Hz, written in the header; None sends no header but samples only.
    """

    def __init__(self, file: BinaryIO, sample_rate: int | None) -> None:
        self._file = file
        self._header = b"" if sample_rate is None else wav_header(AudioFormat(sample_rate))

    def write(self, samples: Samples) -> None:
        """Send, after the header if it is the first.

        Raises:
            BrokenPipeError: The reader has gone.
        """
        header, self._header = self._header, b""
        _write_all(self._file, header + to_s16le(samples))

    def finish(self) -> None:
        """Close it: nothing is held back."""
        self._file.close()

    def abandon(self) -> None:
        """Close it."""
        self._file.close()


def open_path(path: str, sample_rate: int, name: FormatName) -> Sink:
    """The sink for a path: a file, or whatever else the path stands for (``/dev/null``, a named pipe)."""
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        return _pipe(lambda: open(path, "wb", buffering=0), sample_rate, name)
    if name == "pcm":
        return RawFile(path)
    if name == "wav":
        return WavFile(path, sample_rate)
    from yuliu.cli.audio_io.encoded_file import FINISHED, CodedFile

    if name in FINISHED:
        return CodedFile(path, choose_encoding(name, sample_rate), sample_rate)
    return _pipe(lambda: open(path, "wb", buffering=0), sample_rate, name)


def open_stdout(sample_rate: int, name: FormatName) -> Sink:
    """Standard output, past Python's own buffer."""
    return _pipe(lambda: open(1, "wb", buffering=0, closefd=False), sample_rate, name)


def _pipe(open_file: Callable[[], BinaryIO], sample_rate: int, name: FormatName) -> Sink:
    if name in ("wav", "pcm"):
        return Pipe(open_file(), sample_rate if name == "wav" else None)
    from yuliu.cli.audio_io.encoded_file import CodedPipe

    encoding = choose_encoding(name, sample_rate)
    return CodedPipe(open_file, _write_all, encoding=encoding, sample_rate=sample_rate)


def _write_all(file: BinaryIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[_write_some(file, rest) :]


def _write_some(file: BinaryIO, data: memoryview) -> int:
    """How many bytes were taken: 0 where another program has made the pipe non-blocking, after waiting for room."""
    try:
        taken = file.write(data)
    except OSError as error:
        error.filename = file.name if isinstance(file.name, str) else None  # "disk full" must say which
        raise
    if taken is None:
        select.select([], [file], [])
        return 0
    return taken
