"""The encoders of FFmpeg, through PyAV: 16-bit samples in, bytes of a container out.

Every codec is fed frames of its own size, whatever the cuts of what is written, so the bytes depend on the sound alone.
Encoding, muxing and the writing of containers release the interpreter's lock. PyAV puts a filter graph before every
codec, which it makes at the first frame, holding that lock, with as many threads as there are cores (at most 16), which
never have anything to do. It is made with the encoder here, before there is sound, and, on Linux, without them.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from yuliu.errors import SynthesisFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import BinaryIO

    from av import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import OutputContainer

    from yuliu.audio.formats import Encoding, FormatName
    from yuliu.audio.pcm import Pcm
    from yuliu.types import Samples

OPUS_FRAME_S = 0.02
OPUS_RATE = 48_000
"""What Opus is decoded to, Hz, whatever it was made of."""
OPUS_HEAD_RATE_AT = 12
"""Where an Opus head (RFC 7845) says what rate the sound had before, four bytes."""
FLAC_STREAM_FRAME_S = 0.02
"""Length of a FLAC frame that is sent while it is being made; files have the encoder's own, about 0.2 s."""
MP3_FAST_RATE = 32_000
"""From this rate on, Hz, and for two channels, LAME does without noise shaping (level 7, not 5) to stay within 1 % of a
core. Two channels at 44.1 or 48 kHz take 1.7 % even so."""
BUFFER_NUM_BYTES = 4096
FILE_BOX_NUM_BYTES = 1024
"""Room for what stands at the head of an MP4 file beside 8 bytes (place and size) for every frame."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How FFmpeg makes a format."""

    container: str
    codec: str
    sample_format: str
    """``s16`` (the channels interleaved), ``s16p`` or ``fltp`` (one after the other)."""
    codec_options: Mapping[str, str] = field(default_factory=dict)
    stream_options: Mapping[str, str] = field(default_factory=dict)
    """Of the container, where bytes are sent as they are made: without them it holds sound back for up to 2 s."""
    file_options: Mapping[str, str] = field(default_factory=dict)
    """Of the container, where all is at hand."""


# Complexity 5 takes a third of the time of 10; AAC's fast coder less than half of that of its two loops. Spectra after
# decoding are as near to the original (docs/design/audio-out.md).
_OPUS = {"application": "audio", "compression_level": "5", "frame_duration": f"{OPUS_FRAME_S * 1000:g}"}

RECIPES: Mapping[FormatName, Recipe] = {
    "mp3": Recipe(
        "mp3",
        "libmp3lame",
        "s16p",
        {"reservoir": "0"},
        {"write_xing": "0", "id3v2_version": "0"},
        {"id3v2_version": "0"},
    ),
    "opus": Recipe("ogg", "libopus", "s16", _OPUS, {"page_duration": "20000"}),
    "aac": Recipe("adts", "aac", "fltp", {"aac_coder": "fast"}),
    "flac": Recipe("flac", "flac", "s16", {}, {"metadata_header_padding": "0"}, {"metadata_header_padding": "0"}),
    "webm": Recipe("webm", "libopus", "s16", _OPUS, {"live": "1", "cluster_time_limit": "20"}),
    "mp4": Recipe(
        "mp4", "libopus", "s16", _OPUS, {"frag_duration": "40000", "movflags": "empty_moov+default_base_moof"}
    ),
}


class ForwardBuffer:
    """Where a container is written that can only go forward."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Keep what the container writes; PyAV calls it."""
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """All that was written since the last time."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


class ContainerCodec:
    """One codec in one container.

    Args:
        encoding: What to make; its name is one of :data:`RECIPES`.
        sink: Where the container writes: a :class:`ForwardBuffer`, or a file whose head is set right at the end.
        num_samples: How much will come, where that is known; sizes are then right, and nothing is sent early.

    Raises:
        SynthesisFailed: FFmpeg would not.
    """

    def __init__(self, encoding: Encoding, sink: ForwardBuffer | BinaryIO, *, num_samples: int | None = None) -> None:
        self._encoding = encoding
        self._recipe = RECIPES[encoding.name]
        self._time_base = Fraction(1, encoding.sample_rate)
        self._held = np.zeros(0, np.int16)
        self._num_encoded = 0
        with _ours(encoding):
            self._container = _opened(encoding, sink, _container_options(encoding, num_samples))
            self._stream = _stream(self._container, encoding, live=num_samples is None)
            self._container.start_encoding()
            self._num_frame: int = self._stream.codec_context.frame_size
        _make_graph(self._stream, encoding, self._time_base)

    def write(self, pcm: Pcm) -> None:
        """Encode what fills frames, keep the rest."""
        held = np.concatenate((self._held, pcm))
        num_whole = len(held) - len(held) % self._num_frame
        with _ours(self._encoding):
            for start in range(0, num_whole, self._num_frame):
                self._encode(held[start : start + self._num_frame])
        self._held = held[num_whole:].copy()

    def finish(self) -> None:
        """Encode the rest, let the codec give what it holds back, and end the container."""
        with _ours(self._encoding):
            if len(self._held):
                self._encode(self._held)
            for packet in self._stream.encode(None):
                self._container.mux(packet)
            self._container.close()

    def close(self) -> None:
        """Free it, whatever state it is in; what was not finished is lost, and complaints about that tell nothing."""
        with suppress(SynthesisFailed), _ours(self._encoding):
            self._container.close()

    def _encode(self, pcm: Pcm) -> None:
        frame = _frame(pcm, self._recipe.sample_format, self._encoding)
        frame.pts = self._num_encoded
        frame.time_base = self._time_base
        self._num_encoded += len(pcm)
        for packet in self._stream.encode(frame):
            self._container.mux(packet)


def _container_options(encoding: Encoding, num_samples: int | None) -> dict[str, str]:
    """Bytes that depend on the sound alone (no random serial numbers, no versions), and go out as soon as they can."""
    recipe = RECIPES[encoding.name]
    if num_samples is None:
        return {"fflags": "+bitexact+flush_packets", **recipe.stream_options}
    options = {"fflags": "+bitexact", **recipe.file_options}
    if recipe.container == "mp4":  # the head before the sound, so that a player may begin before it has all
        num_frames = num_samples / (encoding.sample_rate * OPUS_FRAME_S)
        options["moov_size"] = str(FILE_BOX_NUM_BYTES + 16 * round(num_frames + 2))
    return options


def _opened(encoding: Encoding, sink: ForwardBuffer | BinaryIO, options: dict[str, str]) -> OutputContainer:
    import av

    container = RECIPES[encoding.name].container
    return av.open(sink, "w", format=container, container_options=options, buffer_size=BUFFER_NUM_BYTES)


def _stream(container: OutputContainer, encoding: Encoding, *, live: bool) -> AudioStream:
    recipe = RECIPES[encoding.name]
    options = {"flags": "+bitexact", **recipe.codec_options}
    if live and recipe.codec == "flac":
        options["frame_size"] = str(round(encoding.sample_rate * FLAC_STREAM_FRAME_S))
    if recipe.codec == "libmp3lame":
        is_cheap = encoding.num_channels == 1 and encoding.sample_rate < MP3_FAST_RATE
        options["compression_level"] = "5" if is_cheap else "7"
    stream = container.add_stream(
        recipe.codec,
        rate=encoding.sample_rate,
        options=options,
        layout=_layout(encoding),
        format=recipe.sample_format,
        bit_rate=(encoding.kbps or 0) * 1000,
    )
    audio_stream = cast("AudioStream", stream)
    audio_stream.codec_context.thread_count = 1
    if recipe.container == "mp4":
        _say_48k(audio_stream)
    return audio_stream


def _make_graph(stream: AudioStream, encoding: Encoding, time_base: Fraction) -> None:
    """Let PyAV make its filter graph now. The frame without samples that it is asked for is refused by what is made."""
    from av import AudioFrame, FFmpegError

    frame = AudioFrame(format=RECIPES[encoding.name].sample_format, layout=_layout(encoding), samples=0)
    frame.sample_rate = encoding.sample_rate
    frame.time_base = time_base
    with suppress(FFmpegError), _on_one_core():
        stream.encode(frame)


@contextmanager
def _on_one_core() -> Iterator[None]:
    """FFmpeg starts as many threads for a graph as the calling thread may use cores: let it be one for a moment."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    try:
        if cores:
            os.sched_setaffinity(0, {max(cores)})
    except OSError:  # a sandbox may forbid it; the threads do no harm but that there are many
        cores = set()
    try:
        yield
    finally:
        if cores:
            os.sched_setaffinity(0, cores)


def _say_48k(stream: AudioStream) -> None:
    """Chromium's MediaSource refuses MP4 whose two places for the rate differ, and one is always 48 kHz for Opus.

    The other is what the sound was before it was encoded, which decoders have no use for.
    """
    context = stream.codec_context
    context.open(strict=False)
    head = context.extradata or b""
    context.extradata = head[:OPUS_HEAD_RATE_AT] + OPUS_RATE.to_bytes(4, "little") + head[OPUS_HEAD_RATE_AT + 4 :]


def _layout(encoding: Encoding) -> str:
    return "mono" if encoding.num_channels == 1 else "stereo"


def _frame(pcm: Pcm, sample_format: str, encoding: Encoding) -> AudioFrame:
    """A frame with the same sound in every channel."""
    from av import AudioFrame

    frame = AudioFrame.from_ndarray(
        _planes(pcm, sample_format, encoding.num_channels), format=sample_format, layout=_layout(encoding)
    )
    frame.sample_rate = encoding.sample_rate
    return frame


def _planes(pcm: Pcm, sample_format: str, num_channels: int) -> Pcm | Samples:
    if sample_format == "s16":
        return np.repeat(pcm, num_channels)[np.newaxis]
    planes = np.tile(pcm, (num_channels, 1))
    return planes if sample_format == "s16p" else planes.astype(np.float32) / np.float32(0x8000)


@contextmanager
def _ours(encoding: Encoding) -> Iterator[None]:
    """Whatever the encoder complains of is our fault: it was given checked parameters and clipped samples."""
    from av import FFmpegError

    try:
        yield
    except (FFmpegError, ValueError) as error:
        raise SynthesisFailed(f"the {encoding.name} encoder failed: {type(error).__name__}") from error
