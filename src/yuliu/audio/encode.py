"""Sound to the bytes of a format: in a stream, one encoder per response, or a whole body at once.

An encoder takes the samples of a voice and does all that is between them and the wire: another rate, 16 bits, a second
channel, codec, container. What it gives depends on the samples alone, never on how they were cut into writes. Nothing
is read, waited for or kept outside of it; only the first encoder of a process takes long (PyAV is loaded: 50 ms and
more), so servers open one before they listen.

Writes take up to 0.2 ms of CPU per 20 ms of sound (docs/design/audio-out.md), and release the interpreter's lock for
most of it: call them on threads, not in an event loop. An encoder is not to be used by two threads at once.
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
    """16-bit samples at the rate of the encoding to bytes."""

    def write(self, pcm: Pcm) -> bytes: ...

    def finish(self) -> bytes: ...

    def close(self) -> None: ...


class Encoder:
    """Makes one response from the sound of one stream. Also a context manager that closes it.

    Args:
        encoding: What to make.
        source_rate: Rate of the samples to come, Hz.

    Raises:
        SynthesisFailed: The encoder could not be opened. Any of its methods may raise it, too; then only close it.
    """

    def __init__(self, encoding: Encoding, source_rate: int) -> None:
        self.encoding = encoding
        self._resampler = Resampler(source_rate, encoding.sample_rate)
        self._coder: _FormatEncoder | None = _Streamed(encoding) if encoding.name in RECIPES else _Plain(encoding)

    def write(self, samples: Samples) -> bytes:
        """What can be sent after these samples; the first ones come after the container's head. May be empty.

        Raises:
            Closed: It was finished or closed before.
        """
        return self._open().write(_pcm(self._resampler.push(samples), self._resampler))

    def finish(self) -> bytes:
        """All that is left, and the end of the container; the encoder is closed by it.

        Raises:
            Closed: It was finished or closed before.
        """
        coder = self._open()
        try:
            return coder.write(_pcm(self._resampler.flush(), self._resampler)) + coder.finish()
        finally:
            self.close()

    def close(self) -> None:
        """Free it; what was not yet given is lost. May be called at any time, any number of times."""
        coder, self._coder = self._coder, None
        if coder is not None:
            coder.close()

    def __enter__(self) -> Self:
        """The encoder."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _open(self) -> _FormatEncoder:
        if self._coder is None:
            raise Closed("this encoder was finished or closed; a new response needs a new one")
        return self._coder


def whole(samples: Samples, encoding: Encoding, source_rate: int) -> bytes:
    """A body that says in its head how long it is, for those who want to know before they play.

    WAV and FLAC tell their size, MP3 has a Xing head, MP4 and WebM a duration and an index; Opus and AAC have no such
    place.

    Args:
        samples: All of the sound.
        encoding: What to make.
        source_rate: Rate of the samples, Hz.

    Raises:
        ValueError: It is a WAV of more than 4 GiB.
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
    """16 bits of what a resampler gave: peaks that another rate takes beyond full scale are bent, not cut off flat."""
    is_other = resampler.source_rate != resampler.sample_rate
    return to_s16(bend(resampled) if is_other else resampled)


class _Streamed:
    """A codec of FFmpeg whose container only goes forward."""

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
    """Formats of one number per sample: PCM, alone or in WAV, and G.711."""

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
