"""The engine of the voice "heart": hibari's nets plan, its decoder and our signal processing render.

hibari (package ``hibari-tts`` 0.2.1, Apache-2.0) predicts durations, pitch, loudness and spectra of a sentence. Its
graph is cut in two at installation (:mod:`yuliu.engines.hibari.convert`), so that a plan runs the nets which must see
the whole sentence, and the decoder runs in blocks. See docs/design/engine-hibari.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from yuliu.audio.gain import scaled
from yuliu.engines.alignment import skipped_of, source_of
from yuliu.engines.api import Capabilities, StepResult, Utterance
from yuliu.engines.hibari.dsp import HOP, SAMPLE_RATE
from yuliu.engines.hibari.model import HibariModel, read_table
from yuliu.engines.hibari.track import TrackWord, lay_track, split_lines, symbols_of
from yuliu.engines.onnx_graph import OnnxGraph
from yuliu.errors import SynthesisFailed, VoiceNotReady
from yuliu.types import MIN_SPEED, AudioFormat, Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from yuliu.engines.api import PlanOptions, StepRequest
    from yuliu.engines.hibari.dsp import Floats
    from yuliu.engines.hibari.model import HibariSound
    from yuliu.engines.hibari.track import Track
    from yuliu.text.frontend import FrontEnd
    from yuliu.types import Segment, Skipped

FASTEST = 1.5
"""Maximum pace requested from the model. Beyond it, the model hardly gets faster."""
FIRST_FRAMES = 22
"""Frames of sound, counted from the predicted onset, that a plan renders, so that a first step of 0.25 s is a copy."""
_SOUND_LEVEL = np.float32(10 ** (-46 / 20))
"""Level of the first sound: -46 dBFS."""
_FILES = frozenset({"plan.onnx", "decoder.onnx", "vocab.json"})


@dataclass(frozen=True, slots=True, eq=False)
class HibariUtterance(Utterance):
    """A planned segment and its sound as far as rendered."""

    sound: HibariSound | None = field(repr=False)
    """Its ready samples begin with frame ``next_frame``; None if there is nothing to say."""


class HibariEngine:
    """English by hibari; owned by one thread.

    Args:
        model: The graphs.
        front_end: Reads English into misaki's one-character symbols.
        gain: Factor on all samples, to match levels between voices.
    """

    def __init__(self, model: HibariModel, *, front_end: FrontEnd, gain: float = 1.0) -> None:
        self.capabilities = Capabilities(
            format=AudioFormat(SAMPLE_RATE),
            languages=("en",),
            exact=True,
            hop_samples=HOP,
            context_frames=0,
            paces=(MIN_SPEED, FASTEST),
        )
        self._model = model
        self._front_end = front_end
        self._gain = gain

    @classmethod
    def load(
        cls,
        files: Mapping[str, Path],
        *,
        front_end: FrontEnd,
        gain: float = 1.0,
        num_threads: int = 1,
    ) -> HibariEngine:
        """Load a voice from its files.

        Args:
            files: Paths of ``plan.onnx``, ``decoder.onnx`` and ``vocab.json``.
            front_end: Reads English into misaki's one-character symbols.
            gain: Factor on all samples.
            num_threads: Threads that one call into a model may use.

        Raises:
            VoiceNotReady: A file is missing or damaged.
        """
        if missing := sorted(_FILES - set(files)):
            raise VoiceNotReady(f"{', '.join(missing)} missing: pull the voice again with `yuliu voices pull`")
        ids = read_table(files["vocab.json"])
        if not all(isinstance(number, int) for number in ids.values()):
            raise VoiceNotReady("vocab.json is damaged: pull the voice again with `yuliu voices pull`")
        model = HibariModel(files["plan.onnx"], files["decoder.onnx"], ids=ids, num_threads=num_threads)
        return cls(model, front_end=front_end, gain=gain)

    def plan(self, segment: Segment, options: PlanOptions) -> HibariUtterance:
        """Phonemes, timings and the first sound of a segment; see :meth:`yuliu.engines.api.Engine.plan`."""
        started_s = perf_counter()
        reading = self._front_end.read(segment.text, segment.hints, segment.respelling)
        front_end_s = perf_counter() - started_s
        script = [TrackWord(unit, self._known(unit.phonemes), self._known(unit.after)) for unit in reading.units]
        lines = [line for line in script if line.symbols]
        skipped = skipped_of(segment, reading, [line.unit for line in lines])
        if not lines:
            return HibariUtterance.nothing(segment, skipped, front_end_s=front_end_s, sound=None)
        parts = split_lines(lines)
        speed = options.speak.speed
        plans = [self._model.plan(symbols_of(part), speed=speed) for part in parts]
        track = lay_track(parts, plans, speed=speed)
        utterance = self._started(segment, lines, track, skipped=skipped, options=options)
        return replace(utterance, front_end_s=front_end_s)

    def step(self, requests: Sequence[StepRequest]) -> list[StepResult]:
        """The next frames of each utterance; see :meth:`yuliu.engines.api.Engine.step`."""
        return [self._render(request) for request in requests]

    def close(self) -> None:
        """Release the graphs."""
        del self._model

    def _known(self, symbols: Iterable[str]) -> tuple[str, ...]:
        return tuple(symbol for symbol in symbols if self._model.knows(symbol))

    def _started(
        self,
        segment: Segment,
        lines: Sequence[TrackWord],
        track: Track,
        *,
        skipped: tuple[Skipped, ...],
        options: PlanOptions,
    ) -> HibariUtterance:
        """Render the first block, find in it the first sound, and let the utterance begin shortly before."""
        sound = self._model.begin(track.hidden, track.f0, seed=options.speak.seed, until=track.onset + FIRST_FRAMES)
        first_sound = self._first_sound(sound.ready, expected=track.onset * HOP)
        start = max(0, first_sound - round(options.lead_s * SAMPLE_RATE))
        num_samples = track.fade_end * HOP + round(options.tail_s * SAMPLE_RATE) - start
        num_frames = min(max(1, -(-num_samples // HOP)), (len(track.f0) * HOP - start) // HOP)
        return HibariUtterance(
            segment=segment,
            phonemes=track.symbols,
            timings=_timings(segment, lines, track, start=start, num_frames=num_frames),
            skipped=skipped,
            num_frames=num_frames,
            lead_s=(first_sound - start) / SAMPLE_RATE,
            tail_s=max(0, start + num_frames * HOP - track.fade_end * HOP) / SAMPLE_RATE,
            next_frame=0,
            done=num_frames < 1,
            sound=sound.without(start),
        )

    def _first_sound(self, samples: Floats, *, expected: int) -> int:
        loud = np.flatnonzero(np.abs(samples) * np.float32(self._gain) >= _SOUND_LEVEL)
        return int(loud[0]) if len(loud) else expected

    def _render(self, request: StepRequest) -> StepResult:
        utterance = request.utterance
        if not isinstance(utterance, HibariUtterance) or utterance.num_frames is None or utterance.sound is None:
            raise SynthesisFailed("the utterance was not planned by this engine, or has no sound")
        stop = min(utterance.next_frame + request.num_frames, utterance.num_frames)
        num_samples = (stop - utterance.next_frame) * HOP
        sound = self._model.render(utterance.sound, num_samples)
        done = stop == utterance.num_frames
        return StepResult(
            scaled(sound.ready[:num_samples], self._gain),
            replace(utterance, next_frame=stop, done=done, sound=sound.without(num_samples)),
        )


def load_oov(path: Path) -> Callable[[str], str | None]:
    """hibari's net for words that no lexicon knows: a character transformer with CTC output.

    Args:
        path: ``oov.onnx``; ``oov.json`` lies beside it.

    Returns:
        A function from a word to its phonemes (misaki's symbols in one string); None for a word without any letter
        that the net knows. Longer words than the net takes are cut. Safe to share between threads.

    Raises:
        VoiceNotReady: A file is missing or damaged.
    """
    graph = OnnxGraph(path)
    meta = read_table(path.with_suffix(".json"))
    if not {"in", "out", "maxlen"} <= set(meta):
        raise VoiceNotReady("oov.json is damaged: pull the voice again with `yuliu voices pull`")
    letters = {letter: number for number, letter in enumerate(meta["in"], start=1)}
    sounds = dict(enumerate(meta["out"], start=1))
    longest = int(meta["maxlen"])
    alone = Lock()  # one thread at a time is in a model; a word takes a millisecond or two

    def read(word: str) -> str | None:
        ids = [letters[letter] for letter in word if letter in letters][:longest]
        if not ids:
            return None
        with alone:
            best = graph.run({"chars": np.array([ids], np.int64)})[0][0]
        new = np.diff(best, prepend=0) != 0
        return "".join(sounds[number] for number in best[new].tolist() if number)

    return read


def _timings(
    segment: Segment, lines: Sequence[TrackWord], track: Track, *, start: int, num_frames: int
) -> tuple[Timing, ...]:
    """Return the time of each word, within the audible part."""
    first, last = max(0, track.onset * HOP - start), min(num_frames * HOP, track.fade_end * HOP - start)

    def at_s(frame: int) -> float:
        return min(max(frame * HOP - start, first), last) / SAMPLE_RATE

    return tuple(
        Timing(source_of(segment, line.unit.source), line.unit.text, at_s(begin), at_s(end))
        for line, (begin, end) in zip(lines, track.places, strict=True)
    )
