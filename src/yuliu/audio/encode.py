"""Encoding of audio as the bytes of a format: as a stream, with one encoder per response, or as a complete body.

An encoder takes the samples of a voice to the wire: resampling, 16 bits, a second channel, codec and container. Its
output depends on the samples alone, never on how they are cut into writes. It does no I/O and keeps no state elsewhere.
Only the first encoder of a process takes long (loading PyAV takes at least 50 ms), so a server opens one before it
listens.

A write takes up to 0.2 ms of CPU time per 20 ms of audio (docs/design/audio-out.md) and releases the interpreter lock
for the larger part of it: call it on a thread, not in an event loop. An encoder must not be used by two threads at
once.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Protocol

import numpy as np

from yuliu.audio.codecs import RECIPES, ContainerCodec, ForwardBuffer
from yuliu.audio.g711 import Law, to_g711
from yuliu.audio.gain import bend
from yuliu.audio.pcm import little_endian, to_s16
from yuliu.audio.resample import Resampler
from yuliu.audio.wav import wav_header
from yuliu.errors import Closed
from yuliu.types import AudioFormat

if TYPE_CHECKING:
    from typing import Self

    from yuliu.audio.formats import Encoding
    from yuliu.audio.pcm import Pcm
    from yuliu.types import Samples


class _FormatEncoder(Protocol):
    """Encoder of 16-bit samples that have the sample rate of the encoding."""

    def write(self, pcm: Pcm) -> bytes: ...

    def finish(self) -> bytes: ...

    def close(self) -> None: ...


class Encoder:
    """Encoder of the audio of one stream, also a context manager that closes it.

    Args:
        encoding: Target encoding.
        source_rate: Sample rate of the input, in Hz.

    Raises:
        SynthesisFailed: The encoder could not be opened. Its methods may raise it too; then only close it.
    """

    def __init__(self, encoding: Encoding, source_rate: int) -> None:
        self.encoding = encoding
        self._resampler = Resampler(source_rate, encoding.sample_rate)
        self._coder: _FormatEncoder | None = _Streamed(encoding) if encoding.name in RECIPES else _Plain(encoding)

    def write(self, samples: Samples) -> bytes:
        """Return the bytes that can be sent now, the header of the container included; may be empty.

        Raises:
            Closed: The encoder has been finished or closed.
        """
        return self._open().write(_pcm(self._resampler.push(samples), self._resampler))

    def finish(self) -> bytes:
        """Return the remaining bytes and the end of the container, and close the encoder.

        Raises:
            Closed: The encoder has been finished or closed.
        """
        coder = self._open()
        try:
            return coder.write(_pcm(self._resampler.flush(), self._resampler)) + coder.finish()
        finally:
            self.close()

    def close(self) -> None:
        """Release the encoder and drop pending output. May be called at any time, any number of times."""
        coder, self._coder = self._coder, None
        if coder is not None:
            coder.close()

    def __enter__(self) -> Self:
        """Return the encoder."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _open(self) -> _FormatEncoder:
        if self._coder is None:
            raise Closed("this encoder was finished or closed; a new response needs a new one")
        return self._coder


def whole(samples: Samples, encoding: Encoding, source_rate: int) -> bytes:
    """Return a complete body whose header states its length, for players that need it in advance.

    WAV and FLAC state their size, MP3 has a Xing header, MP4 and WebM a duration and an index; Opus and AAC have no
    place for it.

    Args:
        samples: All of the audio.
        encoding: Target encoding.
        source_rate: Sample rate of the input, in Hz.

    Raises:
        ValueError: The body is a WAV file of more than 4 GiB.
        SynthesisFailed: The encoder failed.
    """
    resampler = Resampler(source_rate, encoding.sample_rate)
    pcm = _pcm(np.concatenate((resampler.push(samples), resampler.flush())), resampler)
    if encoding.name not in RECIPES:
        plain = _Plain(encoding, num_samples=len(pcm))
        return plain.write(pcm) + plain.finish()
    file = BytesIO()
    codec = ContainerCodec(encoding, file, num_samples=len(pcm))
    codec.write(pcm)
    codec.finish()
    return file.getvalue()


def _pcm(resampled: Samples, resampler: Resampler) -> Pcm:
    """Return resampled samples as 16 bits; peaks that resampling takes beyond full scale are bent, not clipped."""
    is_other = resampler.source_rate != resampler.sample_rate
    return to_s16(bend(resampled) if is_other else resampled)


class _Streamed:
    """FFmpeg codec with a container that never seeks."""

    def __init__(self, encoding: Encoding) -> None:
        self._sink = ForwardBuffer()
        self._codec = ContainerCodec(encoding, self._sink)

    def write(self, pcm: Pcm) -> bytes:
        self._codec.write(pcm)
        return self._sink.take()

    def finish(self) -> bytes:
        self._codec.finish()
        return self._sink.take()

    def close(self) -> None:
        self._codec.close()


class _Plain:
    """Coder of formats with one number per sample: PCM, bare or in WAV, and G.711."""

    def __init__(self, encoding: Encoding, *, num_samples: int | None = None) -> None:
        self._num_channels = encoding.num_channels
        self._law: Law | None = encoding.name if encoding.name in ("mulaw", "alaw") else None
        self._head = _wav_head(encoding, num_samples) if encoding.name == "wav" else b""

    def write(self, pcm: Pcm) -> bytes:
        head, self._head = self._head, b""
        return head + (to_g711(pcm, self._law) if self._law else little_endian(pcm, self._num_channels))

    def finish(self) -> bytes:
        return b""

    def close(self) -> None:
        pass


def _wav_head(encoding: Encoding, num_samples: int | None) -> bytes:
    num_bytes = None if num_samples is None else 2 * encoding.num_channels * num_samples
    return wav_header(AudioFormat(encoding.sample_rate, encoding.num_channels), num_bytes)
