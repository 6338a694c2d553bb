"""Files and pipes of ``yuliu say`` in formats that have to be encoded: mp3, opus and the like.

Other than samples these have no place where they could be cut: whatever ends the work, the encoder's last bytes are
written, so that what is there can be played.
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
"""Formats whose head is written anew at the end of a file, to say how long it is."""


class CodedPipe:
    """Sound that is encoded as it is made, and cannot be taken back.

    Args:
        open_file: Opens where to write, unbuffered; called when there are bytes to be written, not before.
        write_all: Writes bytes to it, all of them.
        encoding: What to make.
        sample_rate: Of the samples to come, Hz.
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
        """Encode, and send what can be sent.

        Raises:
            OSError: The disk is full, or the reader has gone.
        """
        self._send(self._encoder.write(samples))

    def finish(self) -> None:
        """Send what the encoder held back, and close."""
        if self._file is not None:
            self._send(self._encoder.finish())
            self._file.close()
        self._encoder.close()

    def abandon(self) -> None:
        """As :meth:`finish`: it is done at once."""
        self.finish()

    def _send(self, data: bytes) -> None:
        if data:
            if self._file is None:
                self._file = self._open_file()
            self._write_all(self._file, data)


class CodedFile:
    """A file whose head tells in the end how long it is.

    Args:
        path: Of a regular file, existing or not; it is made when the first sound comes.
        encoding: What to make, one of :data:`FINISHED`.
        sample_rate: Of the samples to come, Hz.
    """

    def __init__(self, path: str, encoding: Encoding, sample_rate: int) -> None:
        self._path = path
        self._encoding = encoding
        self._resampler = Resampler(sample_rate, encoding.sample_rate)
        self._file: _Disk | None = None
        self._codec: ContainerCodec | None = None

    def write(self, samples: Samples) -> None:
        """Encode and append.

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
        """Encode what is left, write the head anew, and close.

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
        """As :meth:`finish`: it is done at once."""
        self.finish()

    @contextmanager
    def _until_full(self) -> Iterator[None]:
        """Once the disk has refused, the encoder is not asked for its end: its complaint would hide the disk's."""
        try:
            yield
        except OSError:
            codec, self._codec = self._codec, None
            if codec is not None:
                codec.close()
            raise


class _Disk(FileIO):
    """A file that says once that it can take no more, and which it is; what comes after that is let fall."""

    _is_full = False

    def write(self, data: ReadableBuffer, /) -> int:
        """All of the bytes."""
        rest = memoryview(data)
        num_bytes = len(rest)
        while rest and not self._is_full:
            try:
                rest = rest[super().write(rest) :]
            except OSError as error:
                self._is_full = True
                raise OSError(error.errno, error.strerror, self.name) from None
        return num_bytes
