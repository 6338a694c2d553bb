"""The engine of the voice "baker": FastSpeech2 plans, multi-band MelGAN renders.

FastSpeech2 (Ren et al. 2020, arXiv:2006.04558) gives all frames and the duration of each phone at once, so that a plan
holds the whole mel spectrogram and steps only run the vocoder, which carries its state from one to the next. Streamed
sound equals offline sound bit for bit. See docs/design/engine-fastspeech2.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.gain import scaled
from yuliu.engines.alignment import skipped_of, source_of
from yuliu.engines.api import Capabilities, StepResult, Utterance
from yuliu.engines.fastspeech2.litert import LiteRtGraph
from yuliu.engines.fastspeech2.melgan import HOP_SAMPLES, LOOK_AHEAD_FRAMES, SAMPLE_RATE, MelGan
from yuliu.engines.fastspeech2.phones import Layout, Script, ScriptRun, lay_out, write_scripts
from yuliu.errors import VoiceNotReady
from yuliu.types import MIN_SPEED, AudioFormat, Timing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from yuliu.engines.api import PlanOptions, StepRequest
    from yuliu.engines.fastspeech2.melgan import State
    from yuliu.text.frontend import FrontEnd
    from yuliu.types import Segment, Skipped

FASTEST = 1.5
"""Maximum pace requested from the model. Beyond it, the output gets softer and softer."""
_FRAME_S = HOP_SAMPLES / SAMPLE_RATE
_MAX_UNITS = 40
"""Syllables that one run of the model may say at normal pace, or proportionally fewer at a slower one. Its positions
end at 2048 frames; the slowest texts measured, with a pause behind each syllable, took 42 frames a syllable."""
_AUDIBLE = 0.12
"""A frame can be heard (peaks above -46 dBFS) if one of its mel bins, normalised as the model gives them, is above
this. Fitted to 475 clauses: the first audible frame is found to within one frame in 99 of 100, two in all."""
_LEAD_IN_FRAMES = 2
"""Maximum number of frames before the first audible one that the vocoder starts from."""


@dataclass(frozen=True, slots=True, eq=False)
class FastSpeech2Utterance(Utterance):
    """A planned segment with its mel spectrogram."""

    mel: NDArray[np.float32] = field(repr=False)
    """Shape (frames, 80): a few frames before those heard, these, all behind them, and silence for the vocoder's
    look-ahead. Read-only."""
    first_frame: int
    """Row of ``mel`` that is frame 0 of the utterance."""
    state: State = field(default=(), repr=False)
    """The vocoder's after the last step; empty before the first, and again when nothing is left."""


class FastSpeech2Engine:
    """Mandarin by FastSpeech2 and multi-band MelGAN; owned by one thread.

    Args:
        acoustic: The acoustic model.
        vocoder: The vocoder.
        front_end: Reads Mandarin into Baker's initials, finals and prosody marks.
        gain: Factor on all samples, to match levels between voices.
    """

    def __init__(self, acoustic: FastSpeech2, vocoder: MelGan, *, front_end: FrontEnd, gain: float = 1.0) -> None:
        self.capabilities = Capabilities(
            format=AudioFormat(SAMPLE_RATE),
            languages=("zh",),
            exact=True,
            hop_samples=HOP_SAMPLES,
            context_frames=0,
            paces=(MIN_SPEED, FASTEST),
        )
        self._acoustic = acoustic
        self._vocoder = vocoder
        self._front_end = front_end
        self._gain = gain

    @classmethod
    def load(
        cls,
        acoustic: Path,
        vocoder: Path,
        symbols: Path,
        *,
        front_end: FrontEnd,
        gain: float = 1.0,
        num_threads: int = 1,
    ) -> FastSpeech2Engine:
        """Load a voice from its files.

        Args:
            acoustic: ``fastspeech2_quan.tflite`` after ``convert_acoustic.remove_dropout``.
            vocoder: ``mb_melgan.tflite`` after ``convert_melgan.melgan_to_onnx``.
            symbols: ``baker_mapper.json``.
            front_end: Reads Mandarin into Baker's initials, finals and prosody marks.
            gain: Factor on all samples.
            num_threads: Threads that one call into a model may use.

        Raises:
            VoiceNotReady: A file is missing or damaged.
        """
        return cls(
            FastSpeech2(acoustic, read_symbols(symbols), num_threads=num_threads),
            MelGan(vocoder, num_threads=num_threads),
            front_end=front_end,
            gain=gain,
        )

    def plan(self, segment: Segment, options: PlanOptions) -> FastSpeech2Utterance:
        """Phones, mel spectrogram and timings of a segment; see :meth:`yuliu.engines.api.Engine.plan`."""
        started_s = perf_counter()
        reading = self._front_end.read(segment.text, segment.hints, segment.respelling)
        front_end_s = perf_counter() - started_s
        units = [unit for unit in reading.units if self._acoustic.knows(unit.phonemes)]
        skipped = skipped_of(segment, reading, units)
        if not units:
            silence = np.zeros((0, 80), np.float32)
            return FastSpeech2Utterance.nothing(segment, skipped, front_end_s=front_end_s, mel=silence, first_frame=0)
        speed = options.speak.speed
        written = write_scripts(units, max_units=max(1, int(_MAX_UNITS * min(1.0, speed))))
        runs, mels = zip(*(self._acoustic.speak(script, speed=speed) for script in written), strict=True)
        # The first sound comes somewhere within its frame: half a frame counts as silence.
        lead_frames = max(0, int(options.lead_s / _FRAME_S - 0.5))
        layout = lay_out(runs, lead_frames=lead_frames, tail_frames=round(options.tail_s / _FRAME_S))
        utterance = _utterance(segment, runs, mels, layout=layout, skipped=skipped)
        return replace(utterance, front_end_s=front_end_s)

    def step(self, requests: Sequence[StepRequest]) -> list[StepResult]:
        """The next frames of each utterance; see :meth:`yuliu.engines.api.Engine.step`."""
        return [self._render(request) for request in requests]

    def close(self) -> None:
        """Release both models."""
        del self._acoustic, self._vocoder

    def _render(self, request: StepRequest) -> StepResult:
        utterance = request.utterance
        if not isinstance(utterance, FastSpeech2Utterance) or utterance.num_frames is None:
            raise TypeError("the utterance was not planned by this engine")
        start, stop = utterance.next_frame, min(utterance.next_frame + request.num_frames, utterance.num_frames)
        ahead = utterance.first_frame + LOOK_AHEAD_FRAMES
        rows = utterance.mel[ahead + start if utterance.state else 0 : ahead + stop]
        samples, state = self._vocoder.step(rows, utterance.state)
        done = stop == utterance.num_frames
        return StepResult(
            scaled(samples[-(stop - start) * HOP_SAMPLES :], self._gain),
            replace(utterance, next_frame=stop, done=done, state=() if done else state),
        )


class FastSpeech2:
    """The acoustic model; owned by one thread.

    Args:
        path: ``fastspeech2_quan.tflite`` without its dropout.
        ids: The number of each symbol.
        num_threads: Threads that kernels may use during a call.
    """

    def __init__(self, path: Path, ids: Mapping[str, int], *, num_threads: int = 1) -> None:
        self._graph = LiteRtGraph(path, num_threads=num_threads)
        self._ids = ids

    def knows(self, phonemes: Sequence[str]) -> bool:
        """Return whether the model knows all of ``phonemes``."""
        return all(phoneme in self._ids for phoneme in phonemes)

    def speak(self, script: Script, *, speed: float) -> tuple[ScriptRun, NDArray[np.float32]]:
        """Run the model.

        Args:
            script: Symbols to say.
            speed: 2.0 is twice as fast.

        Returns:
            The times of the symbols, and the mel spectrogram, float32, shape (num_frames, 80).

        Raises:
            SynthesisFailed: The model failed, for example because the script needs more than 2048 frames.
        """
        one = np.ones(1, np.float32)
        ids = np.array([[self._ids[symbol] for symbol in script.symbols]], np.int32)
        synthesizer = np.zeros(1, np.int32)
        stretch = one / np.float32(speed)  # the graph multiplies durations by its "speed ratio"
        mels, durations = self._graph.run([ids, synthesizer, stretch, one, one], wanted=[1, 2])
        mel = np.asarray(mels[0], np.float32)
        edges = np.concatenate([[0], np.cumsum(durations[0])])
        return ScriptRun(script, tuple(edges.tolist()), mel.max(axis=1) > _AUDIBLE), mel


def read_symbols(path: Path) -> dict[str, int]:
    """The number of each of the model's symbols, from ``baker_mapper.json``.

    Raises:
        VoiceNotReady: The file is missing or damaged.
    """
    try:
        ids = json.loads(path.read_bytes())["symbol_to_id"]
        return {str(symbol): int(number) for symbol, number in ids.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise VoiceNotReady(f"{path.name} cannot be read: pull the voice again with `yuliu voices pull`") from error


def _utterance(
    segment: Segment,
    runs: Sequence[ScriptRun],
    mels: Sequence[NDArray[np.float32]],
    *,
    layout: Layout,
    skipped: tuple[Skipped, ...],
) -> FastSpeech2Utterance:
    joined = np.concatenate([part[start:stop] for part, (start, stop) in zip(mels, layout.kept, strict=True)])
    begin = max(0, layout.first_frame - _LEAD_IN_FRAMES)
    units = [unit for run in runs for unit in run.script.units]
    return FastSpeech2Utterance(
        segment=segment,
        phonemes=tuple(symbol for run in runs for symbol in run.script.symbols),
        timings=tuple(
            Timing(source_of(segment, unit.source), unit.text, start * _FRAME_S, stop * _FRAME_S)
            for unit, (start, stop) in zip(units, layout.places, strict=True)
        ),
        skipped=skipped,
        num_frames=layout.num_frames,
        lead_s=layout.lead_frames * _FRAME_S,
        tail_s=layout.tail_frames * _FRAME_S,
        next_frame=0,
        done=layout.num_frames == 0,
        mel=_with_silence_behind(joined, begin),
        first_frame=layout.first_frame - begin,
    )


def _with_silence_behind(joined: NDArray[np.float32], begin: int) -> NDArray[np.float32]:
    """The rows from ``begin`` on, and the quietest of all for as long as the vocoder looks ahead.

    If the model ends in the middle of a sound, that sound fades out in the last two frames instead of breaking off.
    """
    quietest = joined[np.argmin(joined.mean(axis=1))]
    mel = np.concatenate([joined[begin:], np.tile(quietest, (LOOK_AHEAD_FRAMES, 1))])
    mel.flags.writeable = False
    return mel
