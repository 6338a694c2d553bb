"""The Mandarin engine with its real weights."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.audio.gain import scaled
from yuliu.engines.api import PlanOptions, StepRequest
from yuliu.engines.fastspeech2.engine import FastSpeech2Engine, FastSpeech2Utterance
from yuliu.errors import SynthesisFailed, VoiceNotReady
from yuliu.text.frontend import Piece, Reading, Unit
from yuliu.types import Boundary, Segment, Skipped, Span, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from yuliu.types import Hint, Respelling, Samples

pytestmark = pytest.mark.voices

AUDIBLE = 10 ** (-46 / 20)
SYLLABLES = {
    "大": ("d", "a4"), "家": ("j", "ia1"), "早": ("z", "ao3"), "上": ("sh", "ang5"), "好": ("h", "ao3"),
    "今": ("j", "in1"), "天": ("t", "ian1"), "我": ("^", "uo3"), "们": ("m", "en5"), "去": ("q", "v4"),
    "公": ("g", "ong1"), "园": ("^", "van2"), "散": ("s", "an4"), "步": ("b", "u4"), "吃": ("ch", "iii1"),
    "饭": ("f", "an4"), "是": ("sh", "iii4"), "人": ("r", "en2"), "老": ("l", "ao3"), "看": ("k", "an4"),
    "怪": ("怪", "uai4"),
}  # fmt: skip
"""The last one has an initial that the voice does not know."""


class ToyFrontEnd:
    """Knows a few characters; marks words of two and pauses at commas. A latin letter is skipped."""

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        units = [
            Unit(Span(at, at + 1), char, SYLLABLES[char], "#3" if text[at + 1 : at + 2] == "，" else f"#{at % 2}")
            for at, char in enumerate(text)
            if char in SYLLABLES
        ]
        skipped = [Skipped(Span(at, at + 1), "language_not_spoken") for at, char in enumerate(text) if char.isascii()]
        return Reading((Piece(Span(0, len(text)), text),), tuple(units), tuple(skipped))


@pytest.fixture(scope="module")
def engine(baker_files: dict[str, Path]) -> Iterator[FastSpeech2Engine]:
    """The engine, loaded once."""
    engine = load(baker_files)
    yield engine
    engine.close()


def load(files: dict[str, Path], *, gain: float = 1.0) -> FastSpeech2Engine:
    return FastSpeech2Engine.load(
        files["fastspeech2.tflite"],
        files["melgan.onnx"],
        files["baker_mapper.json"],
        front_end=ToyFrontEnd(),
        gain=gain,
    )


def segment_of(text: str, *, start: int = 0, stretch: int = 1) -> Segment:
    """A segment whose characters stand ``stretch`` apart in the source, from ``start`` on."""
    origin = tuple(start + stretch * at for at in range(len(text)))
    return Segment(text, Span(start, start + stretch * len(text)), origin, Boundary.SENTENCE, "zh")


def options(*, speed: float = 1.0, lead_s: float = 0.025, tail_s: float = 0.1) -> PlanOptions:
    return PlanOptions(SpeakOptions(speed=speed), lead_s, tail_s)


def rendered(engine: FastSpeech2Engine, utterance: FastSpeech2Utterance, sizes: list[int]) -> Samples:
    """All of an utterance in steps of ``sizes`` frames, over and over."""
    chunks: list[Samples] = []
    while not utterance.done:
        chunk, utterance = step(engine, utterance, sizes[len(chunks) % len(sizes)])
        chunks.append(chunk)
    return np.concatenate(chunks) if chunks else np.zeros(0, np.float32)


def step(engine: FastSpeech2Engine, utterance: FastSpeech2Utterance, size: int) -> tuple[Samples, FastSpeech2Utterance]:
    (result,) = engine.step([StepRequest(utterance, size)])
    assert isinstance(result.utterance, FastSpeech2Utterance)
    return result.samples, result.utterance


@settings(deadline=None, max_examples=20)
@given(
    st.text(st.sampled_from("大家早上好今天我们去公园散步，"), min_size=1, max_size=14),
    st.lists(st.integers(1, 90), min_size=1, max_size=6),
)
def test_streamed_equals_offline_bit_for_bit(engine: FastSpeech2Engine, text: str, sizes: list[int]) -> None:
    """However an utterance is cut into steps, its samples are those of one step over the whole."""
    utterance = engine.plan(segment_of(text), options())
    whole = rendered(engine, utterance, [10_000])
    assert utterance.num_frames is not None
    assert len(whole) == utterance.num_frames * engine.capabilities.hop_samples
    assert np.array_equal(rendered(engine, utterance, sizes), whole)


def test_interleaved_utterances_do_not_disturb_each_other(engine: FastSpeech2Engine) -> None:
    """Two streams stepped in turns, with plans in between, get the samples that each gets alone."""
    texts = ["大家早上好", "今天我们去公园，吃饭"]
    alone = [rendered(engine, engine.plan(segment_of(text), options()), [31]) for text in texts]
    utterances = [engine.plan(segment_of(text), options()) for text in texts]
    chunks: list[list[Samples]] = [[], []]
    while not all(utterance.done for utterance in utterances):
        for at, utterance in enumerate(utterances):
            if not utterance.done:
                engine.plan(segment_of("人看老人"), options())
                chunk, utterances[at] = step(engine, utterance, 20 + at)
                chunks[at].append(chunk)
    for parts, whole in zip(chunks, alone, strict=True):
        assert np.array_equal(np.concatenate(parts), whole)


def test_an_utterance_is_a_value(engine: FastSpeech2Engine) -> None:
    """Stepping one utterance twice gives the same samples twice, and leaves it as it was."""
    utterance = engine.plan(segment_of("大家早上好"), options())
    first, after = step(engine, utterance, 25)
    rendered(engine, after, [40])
    again, _ = step(engine, utterance, 25)
    assert np.array_equal(first, again)
    assert (utterance.next_frame, after.next_frame) == (0, 25)


def test_a_plan_is_deterministic(engine: FastSpeech2Engine) -> None:
    """The same text gives the same spectrogram, whatever was planned in between."""
    first = engine.plan(segment_of("今天散步"), options())
    engine.plan(segment_of("大家早上好，我们去公园"), options(speed=1.3))
    assert np.array_equal(first.mel, engine.plan(segment_of("今天散步"), options()).mel)


@pytest.mark.parametrize("lead_s", [0.02, 0.025, 0.03])
def test_first_sound_comes_at_once_and_is_not_clipped(engine: FastSpeech2Engine, lead_s: float) -> None:
    """Whatever sound a text begins with, it is heard within 40 ms and nothing audible was cut away before it."""
    for first in SYLLABLES.keys() - {"怪"}:
        short, long = (engine.plan(segment_of(first + "大家好"), options(lead_s=lead)) for lead in (lead_s, 9.0))
        sound, uncut = rendered(engine, short, [80]), rendered(engine, long, [80])
        assert np.flatnonzero(np.abs(sound) > AUDIBLE)[0] < 0.040 * 24_000
        assert np.abs(uncut[: len(uncut) - len(sound)]).max(initial=0.0) < AUDIBLE


@pytest.mark.parametrize("text", ["是", "大家好是", "人", "看人"])
def test_sound_dies_away_where_the_model_ends_in_its_midst(engine: FastSpeech2Engine, text: str) -> None:
    """Whatever the model's last frame is, an utterance does not end with a step in its samples."""
    sound = rendered(engine, engine.plan(segment_of(text), options()), [80])
    assert np.abs(sound[-100:]).max() < AUDIBLE


def test_silence_at_the_end_is_cut_to_what_is_wanted(engine: FastSpeech2Engine) -> None:
    """A shorter tail is the longer one's beginning; what is cut is silent, and what is left is told."""
    long, short = (engine.plan(segment_of("我们去公园"), options(tail_s=tail_s)) for tail_s in (9.0, 0.025))
    whole, cut = rendered(engine, long, [80]), rendered(engine, short, [80])
    assert short.tail_s == pytest.approx(0.025)
    assert short.tail_s < long.tail_s
    assert np.array_equal(whole[: len(cut)], cut)
    assert np.abs(whole[len(cut) :]).max() < AUDIBLE


def test_pauses_within_the_segment_stay(engine: FastSpeech2Engine) -> None:
    """A comma is heard as silence of a tenth of a second at least, and belongs to neither neighbour's timing."""
    utterance = engine.plan(segment_of("今天散步，我们吃饭"), options())
    before, after = utterance.timings[3], utterance.timings[4]
    pause_s = after.start_s - before.end_s
    sound = rendered(engine, utterance, [80])[int(before.end_s * 24_000) : int(after.start_s * 24_000)]
    assert (before.text, after.text) == ("步", "我")
    assert pause_s > 0.1
    assert np.abs(sound).max() < 2 * AUDIBLE


def test_timings_tell_when_each_character_sounds(engine: FastSpeech2Engine) -> None:
    """One timing for each character, in order, within the utterance, at its place in the source."""
    utterance = engine.plan(segment_of("大家早上好，今天去公园", start=100, stretch=2), options())
    assert "".join(timing.text for timing in utterance.timings) == "大家早上好今天去公园"
    assert utterance.timings[6].source == Span(114, 115)
    assert utterance.num_frames is not None
    edges = [edge for timing in utterance.timings for edge in (timing.start_s, timing.end_s)]
    assert edges == sorted(edges)
    assert 0 <= edges[0] < 0.04
    assert edges[-1] <= utterance.num_frames * 300 / 24_000 + 1e-9
    assert all(0.04 < timing.end_s - timing.start_s < 0.6 for timing in utterance.timings)


def test_friction_falls_into_its_syllable(engine: FastSpeech2Engine) -> None:
    """The hiss of an initial lies within the timing of its own character, not of the one before."""
    utterance = engine.plan(segment_of("老是"), options())
    mel = utterance.mel[utterance.first_frame :]
    hiss = mel[:, 55:].mean(axis=1) - mel[:, 5:25].mean(axis=1)
    at_s = (np.flatnonzero((hiss > 0.5) & (mel.max(axis=1) > 0.5)) + 0.5) * 300 / 24_000
    assert len(at_s) > 3
    assert np.all((utterance.timings[1].start_s < at_s) & (at_s < utterance.timings[1].end_s))


@pytest.mark.parametrize(
    ("speed", "low", "high"), [(0.25, 3.3, 4.4), (0.5, 1.8, 2.2), (2.0, 0.42, 0.6), (4.0, 0.15, 0.4)]
)
def test_speed_changes_the_pace(engine: FastSpeech2Engine, speed: float, low: float, high: float) -> None:
    """Twice the speed takes about half the time; the whole range of the API can be spoken."""
    usual, changed = (engine.plan(segment_of("今天我们去公园散步"), options(speed=at)) for at in (1.0, speed))
    assert usual.num_frames is not None
    assert changed.num_frames is not None
    assert low < changed.num_frames / usual.num_frames < high


@pytest.mark.parametrize("text", ["大，家，早，上，好，今，天，散，步，人，看，公，园，去，" * 4, "大家好" * 20])
def test_the_slowest_speech_fits_the_model(engine: FastSpeech2Engine, text: str) -> None:
    """A pause behind every syllable at the lowest speed does not exceed the model's 2048 positions."""
    utterance = engine.plan(segment_of(text), options(speed=0.25))
    assert len(utterance.timings) == len(text.replace("，", ""))


@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0])
def test_long_segments_are_spoken_whole(engine: FastSpeech2Engine, speed: float) -> None:
    """A segment beyond the model's 2048 positions is planned in several runs and heard as one."""
    text = "大家早上好今天我们去公园散步吃饭，" * 12
    utterance = engine.plan(segment_of(text), options(speed=speed))
    assert len(utterance.timings) == 16 * 12
    assert all(first.end_s <= second.start_s + 1e-9 for first, second in pairwise(utterance.timings))
    assert utterance.phonemes.count("sil") > 2
    assert utterance.num_frames is not None
    mid = utterance.num_frames // 2
    chunk, _ = step(engine, utterance, mid)
    assert len(chunk) == mid * 300


def test_one_syllable_is_spoken(engine: FastSpeech2Engine) -> None:
    """The shortest texts give sound."""
    for char in SYLLABLES.keys() - {"怪"}:
        sound = rendered(engine, engine.plan(segment_of(char), options(speed=1.0)), [7])
        assert np.abs(sound).max() > 0.02


@pytest.mark.parametrize("text", ["", "。", "，，"])
def test_nothing_to_say_is_done_at_once(engine: FastSpeech2Engine, text: str) -> None:
    """A segment without syllables has no sound and no error."""
    utterance = engine.plan(segment_of(text), options())
    assert (utterance.done, utterance.num_frames, utterance.timings) == (True, 0, ())


def test_what_cannot_be_said_is_skipped_by_name(engine: FastSpeech2Engine) -> None:
    """Skips of the front end and phonemes that the voice lacks are told with their places in the source."""
    utterance = engine.plan(segment_of("大x怪好", start=50), options())
    assert utterance.skipped == (
        Skipped(Span(51, 52), "language_not_spoken"),
        Skipped(Span(52, 53), "phoneme_not_in_voice"),
    )
    assert [timing.text for timing in utterance.timings] == ["大", "好"]


def test_gain_scales_and_never_leaves_the_range(engine: FastSpeech2Engine, baker_files: dict[str, Path]) -> None:
    """Gain is a plain factor; what would come close to full scale is bent, and no two samples are flat there."""
    segment = segment_of("大家早上好")
    usual = rendered(engine, engine.plan(segment, options()), [80])
    for gain in (0.5, 40.0):
        changed = rendered(load(baker_files, gain=gain), engine.plan(segment, options()), [80])
        np.testing.assert_allclose(changed, scaled(usual, gain), rtol=1e-6)
        assert np.abs(changed).max() < 1.0


def test_a_failing_model_fails_the_plan_and_nothing_else(engine: FastSpeech2Engine) -> None:
    """An operator's error becomes SynthesisFailed with its cause, and the next plan works as ever."""
    expected = engine.plan(segment_of("大家好"), options()).mel
    with pytest.raises(SynthesisFailed) as caught:
        engine.plan(segment_of("大家好"), options(speed=0.01))
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert np.array_equal(engine.plan(segment_of("大家好"), options()).mel, expected)


@pytest.mark.parametrize("name", ["fastspeech2.tflite", "melgan.onnx", "baker_mapper.json"])
@pytest.mark.parametrize("content", [None, b"", b"not what it should be", json.dumps({"symbol_to_id": 3}).encode()])
def test_damaged_files_are_told_before_anything_is_spoken(
    baker_files: dict[str, Path], tmp_path: Path, name: str, content: bytes | None
) -> None:
    """A missing or damaged file stops loading with the command to run."""
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(VoiceNotReady, match=rf"{name} cannot be .*: pull the voice again"):
        load({**baker_files, name: path})


@pytest.mark.parametrize("text", ["大家好", "。"])
def test_reading_is_timed_within_the_plan(
    engine: FastSpeech2Engine, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """A plan tells how long the front end took, whether there was anything to say or not."""
    monkeypatch.setattr("yuliu.engines.fastspeech2.engine.perf_counter", iter([7.0, 7.25]).__next__)
    utterance = engine.plan(segment_of(text), options())
    assert utterance.front_end_s == 0.25
    _, after = step(engine, utterance, 5) if not utterance.done else (None, utterance)
    assert after.front_end_s == 0.25
