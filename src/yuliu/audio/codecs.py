"""Encoders of FFmpeg through PyAV: 16-bit samples in, bytes of a container out.

Every codec receives frames of its own size, however the input is cut, so the bytes depend on the audio alone. Encoding,
muxing and writing the container release the interpreter lock. PyAV puts a filter graph in front of every codec; it
builds that graph at the first frame, holding the lock, with one idle thread per core (at most 16). Here the graph is
built together with the encoder, before there is audio, and on Linux without those threads.
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
"""Sample rate at which Opus is always decoded, in Hz."""
OPUS_HEAD_RATE_AT = 12
"""Offset in an Opus header (RFC 7845) of the original sample rate, which takes four bytes."""
FLAC_STREAM_FRAME_S = 0.02
"""Length of a FLAC frame in a live stream; files have the encoder's default, about 0.2 s."""
MP3_FAST_RATE = 32_000
"""Sample rate, in Hz, from which LAME works without noise shaping (level 7 instead of 5) to stay within 1 % of a core,
as it does for two channels. Two channels at 44.1 or 48 kHz still take 1.7 %."""
BUFFER_NUM_BYTES = 4096
FILE_BOX_NUM_BYTES = 1024
"""Space for the header of an MP4 file, apart from 8 bytes (offset and size) for every frame."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """FFmpeg settings for one format."""

    container: str
    codec: str
    sample_format: str
    """``s16`` (the channels interleaved), ``s16p`` or ``fltp`` (one after the other)."""
    codec_options: Mapping[str, str] = field(default_factory=dict)
    stream_options: Mapping[str, str] = field(default_factory=dict)
    """Container options for live output; without them the container holds audio back for up to 2 s."""
    file_options: Mapping[str, str] = field(default_factory=dict)
    """Container options for complete files."""


# Complexity 5 takes a third of the time of 10, and AAC's fast coder less than half the time of the two-loop one.
# Decoded spectra are equally close to the original (docs/design/audio-out.md).
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
    """Write-only target for a container that never seeks."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Keep the bytes; called by PyAV."""
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """Return everything written since the last call."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


class ContainerCodec:
    """One codec in one container.

    Args:
        encoding: Target encoding; its name is one of :data:`RECIPES`.
        sink: Target of the container: a :class:`ForwardBuffer`, or a file whose header is corrected at the end.
        num_samples: Total number of samples, if known; sizes in the header are then right, and nothing is sent early.

    Raises:
        SynthesisFailed: FFmpeg could not open the encoder.
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
        """Encode as many whole frames as there are and keep the rest."""
        held = np.concatenate((self._held, pcm))
        num_whole = len(held) - len(held) % self._num_frame
        with _ours(self._encoding):
            for start in range(0, num_whole, self._num_frame):
                self._encode(held[start : start + self._num_frame])
        self._held = held[num_whole:].copy()

    def finish(self) -> None:
        """Encode the rest, drain the codec and end the container."""
        with _ours(self._encoding):
            if len(self._held):
                self._encode(self._held)
            for packet in self._stream.encode(None):
                self._container.mux(packet)
            self._container.close()

    def close(self) -> None:
        """Release the codec in any state; unfinished output is lost, and errors about that are ignored."""
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
    """Return options that make the bytes depend on the audio alone (no serial numbers, no versions) and flush early."""
    recipe = RECIPES[encoding.name]
    if num_samples is None:
        return {"fflags": "+bitexact+flush_packets", **recipe.stream_options}
    options = {"fflags": "+bitexact", **recipe.file_options}
    if recipe.container == "mp4":  # the header precedes the audio, so that a player can start early
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
    """Make PyAV build its filter graph now, with a frame without samples, which the finished graph rejects."""
    from av import AudioFrame, FFmpegError

    frame = AudioFrame(format=RECIPES[encoding.name].sample_format, layout=_layout(encoding), samples=0)
    frame.sample_rate = encoding.sample_rate
    frame.time_base = time_base
    with suppress(FFmpegError), _on_one_core():
        stream.encode(frame)


@contextmanager
def _on_one_core() -> Iterator[None]:
    """Restrict the calling thread to one core for a moment: FFmpeg starts one graph thread per usable core."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    try:
        if cores:
            os.sched_setaffinity(0, {max(cores)})
    except OSError:  # a sandbox may forbid it; the extra threads do no harm
        cores = set()
    try:
        yield
    finally:
        if cores:
            os.sched_setaffinity(0, cores)


def _say_48k(stream: AudioStream) -> None:
    """Set the original sample rate in the Opus header to 48 kHz.

    Chromium's MediaSource rejects an MP4 whose two sample rates differ; the other one is always 48 kHz for Opus.
    Decoders do not use the original rate.
    """
    context = stream.codec_context
    context.open(strict=False)
    head = context.extradata or b""
    context.extradata = head[:OPUS_HEAD_RATE_AT] + OPUS_RATE.to_bytes(4, "little") + head[OPUS_HEAD_RATE_AT + 4 :]


def _layout(encoding: Encoding) -> str:
    return "mono" if encoding.num_channels == 1 else "stereo"


def _frame(pcm: Pcm, sample_format: str, encoding: Encoding) -> AudioFrame:
    """Return a frame with the same samples in every channel."""
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
    """Report errors of the encoder as ours: its parameters were checked and its samples clipped."""
    from av import FFmpegError

    try:
        yield
    except (FFmpegError, ValueError) as error:
        raise SynthesisFailed(f"the {encoding.name} encoder failed: {type(error).__name__}") from error
