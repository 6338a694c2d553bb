"""Sinks for audio: files and pipes.

All calls block, and are made on one thread. ``finish`` is called once after the last audio; ``abandon`` replaces it
when the work ends early for any reason. Everything written until then stays valid.
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
"""Maximum size of WAV data: even, and less than the size that means "unknown"."""


class AudioSink(Protocol):
    """Destination of audio."""

    def write(self, samples: Samples) -> None:
        """Write samples (float32, mono, shape (num_samples,), range [-1, 1]); wait until there is room for them."""
        ...

    def finish(self) -> None:
        """Deliver the written audio to its end, and close."""
        ...

    def abandon(self) -> None:
        """Close immediately."""
        ...


class WavFile:
    """WAV file whose header is correct after every write, so that the file is valid whenever the program ends.

    The file is created, or an older one overwritten, at the first write: an error before that leaves it alone.

    Args:
        path: Path of a regular file, existing or not.
        sample_rate: Sample rate of the audio, Hz.
    """

    def __init__(self, path: str, sample_rate: int) -> None:
        self._path = path
        self._format = AudioFormat(sample_rate)
        self._file: BinaryIO | None = None
        self._num_bytes = 0

    def write(self, samples: Samples) -> None:
        """Append samples, then update the header.

        Raises:
            OSError: The disk did not take all of the samples; the file holds those that it took.
            InvalidRequest: The file has reached the maximum size of WAV.
        """
        pcm = to_s16le(samples)
        file = self._file or self._open()
        if self._num_bytes + len(pcm) > MAX_WAV_DATA_BYTES:
            raise InvalidRequest(
                "a WAV file holds at most 4 GiB, and this one is full; split the text, or use --format pcm", param="o"
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
        """Close the file; its header is already correct."""
        self.finish()

    def _open(self) -> BinaryIO:
        self._file = open(self._path, "wb", buffering=0)  # noqa: SIM115 - closed by finish
        _write_all(self._file, wav_header(self._format, 0))
        return self._file

    def _append(self, file: BinaryIO, pcm: bytes) -> None:
        """Write all bytes, counting those that the disk took."""
        rest = memoryview(pcm)
        while rest:
            taken = _write_some(file, rest)
            self._num_bytes += taken
            rest = rest[taken:]

    def _correct(self, file: BinaryIO) -> None:
        if self._num_bytes % BYTES_PER_SAMPLE:  # the disk filled up in the middle of a sample
            self._num_bytes -= self._num_bytes % BYTES_PER_SAMPLE
            file.truncate(HEADER_NUM_BYTES + self._num_bytes)
        file.seek(0)
        _write_all(file, wav_header(self._format, self._num_bytes))
        file.seek(0, os.SEEK_END)


class RawFile:
    """File of s16le samples without a header, created at the first write.

    Args:
        path: Path of a regular file, existing or not.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def write(self, samples: Samples) -> None:
        """Append samples."""
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
    """Standard output, a named pipe or a device: bytes that have been written cannot be changed.

    Args:
        file: Unbuffered file, closed by :meth:`finish` and :meth:`abandon`.
        sample_rate: Sample rate for the header, Hz; None sends samples without a header.
    """

    def __init__(self, file: BinaryIO, sample_rate: int | None) -> None:
        self._file = file
        self._header = b"" if sample_rate is None else wav_header(AudioFormat(sample_rate))

    def write(self, samples: Samples) -> None:
        """Send samples, preceded by the header in the first call.

        Raises:
            BrokenPipeError: The reader is gone.
        """
        header, self._header = self._header, b""
        _write_all(self._file, header + to_s16le(samples))

    def finish(self) -> None:
        """Close the pipe; nothing is buffered."""
        self._file.close()

    def abandon(self) -> None:
        """Close the pipe."""
        self._file.close()


def open_path(path: str, sample_rate: int, name: FormatName) -> AudioSink:
    """Open the sink for a path: a regular file, or another kind of file (``/dev/null``, a named pipe)."""
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


def open_stdout(sample_rate: int, name: FormatName) -> AudioSink:
    """Open standard output, bypassing Python's own buffer."""
    return _pipe(lambda: open(1, "wb", buffering=0, closefd=False), sample_rate, name)


def _pipe(open_file: Callable[[], BinaryIO], sample_rate: int, name: FormatName) -> AudioSink:
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
    """Write, and return the number of bytes taken.

    If another program has made the pipe non-blocking and it is full, wait for room and return 0.
    """
    try:
        taken = file.write(data)
    except OSError as error:
        error.filename = file.name if isinstance(file.name, str) else None  # so that "disk full" names the file
        raise
    if taken is None:
        select.select([], [file], [])
        return 0
    return taken
