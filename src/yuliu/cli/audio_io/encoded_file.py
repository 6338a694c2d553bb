"""Sinks for encoded audio: files and pipes in formats such as mp3 and opus.

Unlike bare samples, encoded audio cannot end anywhere: whatever ends the work, the encoder's last bytes are written, so
that the file can be played.
"""

from __future__ import annotations

from contextlib import contextmanager
from io import FileIO
from typing import TYPE_CHECKING, BinaryIO

from yuliu.audio.codecs import ContainerCodec
from yuliu.audio.encode import Encoder
from yuliu.audio.pcm import to_s16
from yuliu.audio.resample import Resampler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import ReadableBuffer

    from yuliu.audio.formats import Encoding
    from yuliu.types import Samples

FINISHED = ("mp3", "flac", "webm")
"""Formats whose header is rewritten at the end of a file, with its duration."""


class CodedPipe:
    """Encoded audio in a pipe, or in a file that needs no corrections.

    Args:
        open_file: Opens the unbuffered file to write to; called at the first bytes.
        write_all: Writes all of some bytes to the file.
        encoding: Target encoding.
        sample_rate: Sample rate of the samples to be written, Hz.
    """

    def __init__(
        self,
        open_file: Callable[[], BinaryIO],
        write_all: Callable[[BinaryIO, bytes], None],
        *,
        encoding: Encoding,
        sample_rate: int,
    ) -> None:
        self._open_file = open_file
        self._write_all = write_all
        self._encoder = Encoder(encoding, sample_rate)
        self._file: BinaryIO | None = None

    def write(self, samples: Samples) -> None:
        """Encode samples, and send the bytes that are ready.

        Raises:
            OSError: The disk is full, or the reader is gone.
        """
        self._send(self._encoder.write(samples))

    def finish(self) -> None:
        """Send the encoder's last bytes, and close."""
        if self._file is not None:
            self._send(self._encoder.finish())
            self._file.close()
        self._encoder.close()

    def abandon(self) -> None:
        """Finish: it takes no time."""
        self.finish()

    def _send(self, data: bytes) -> None:
        if data:
            if self._file is None:
                self._file = self._open_file()
            self._write_all(self._file, data)


class CodedFile:
    """Encoded file whose header is rewritten at the end, with its duration.

    Args:
        path: Path of a regular file, existing or not; created at the first write.
        encoding: Target encoding, one of :data:`FINISHED`.
        sample_rate: Sample rate of the samples to be written, Hz.
    """

    def __init__(self, path: str, encoding: Encoding, sample_rate: int) -> None:
        self._path = path
        self._encoding = encoding
        self._resampler = Resampler(sample_rate, encoding.sample_rate)
        self._file: _Disk | None = None
        self._codec: ContainerCodec | None = None

    def write(self, samples: Samples) -> None:
        """Encode and append samples.

        Raises:
            OSError: The disk is full.
        """
        if self._file is None:
            self._file = _Disk(self._path, "wb")  # closed by finish
            self._codec = ContainerCodec(self._encoding, self._file, num_samples=0)
        if self._codec is not None:
            with self._until_full():
                self._codec.write(to_s16(self._resampler.push(samples)))

    def finish(self) -> None:
        """Encode the rest, rewrite the header, and close.

        Raises:
            OSError: The disk is full.
        """
        if self._codec is not None:
            with self._until_full():
                self._codec.write(to_s16(self._resampler.flush()))
                self._codec.finish()
        if self._file is not None:
            self._file.close()

    def abandon(self) -> None:
        """Finish: it takes no time."""
        self.finish()

    @contextmanager
    def _until_full(self) -> Iterator[None]:
        """Discard the encoder once the disk is full, so that its own error does not hide the disk's."""
        try:
            yield
        except OSError:
            codec, self._codec = self._codec, None
            if codec is not None:
                codec.close()
            raise


class _Disk(FileIO):
    """File that reports a full disk once, with its name, and ignores further bytes."""

    _is_full = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all of the bytes."""
        rest = memoryview(data)
        num_bytes = len(rest)
        while rest and not self._is_full:
            try:
                rest = rest[super().write(rest) :]
            except OSError as error:
                self._is_full = True
                raise OSError(error.errno, error.strerror, self.name) from None
        return num_bytes
