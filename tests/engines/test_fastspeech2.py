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
"""Readings of characters; the last one has an initial that the voice does not know."""


class ToyFrontEnd:
    """Reads a few characters; marks words of two and pauses at commas. A Latin letter is skipped."""

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
    """Yield the engine, loaded once."""
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
    """Return a segment with its characters ``stretch`` apart in the source, from ``start`` on."""
    origin = tuple(start + stretch * at for at in range(len(text)))
    return Segment(text, Span(start, start + stretch * len(text)), origin, Boundary.SENTENCE, "zh")


def options(*, speed: float = 1.0, lead_s: float = 0.025, tail_s: float = 0.1) -> PlanOptions:
    return PlanOptions(SpeakOptions(speed=speed), lead_s, tail_s)


def rendered(engine: FastSpeech2Engine, utterance: FastSpeech2Utterance, sizes: list[int]) -> Samples:
    """Render a whole utterance in steps of ``sizes`` frames, repeated as needed."""
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
    """Any division into steps gives the samples of one step over the whole utterance."""
    utterance = engine.plan(segment_of(text), options())
    whole = rendered(engine, utterance, [10_000])
    assert utterance.num_frames is not None
    assert len(whole) == utterance.num_frames * engine.capabilities.hop_samples
    assert np.array_equal(rendered(engine, utterance, sizes), whole)


def test_interleaved_utterances_do_not_affect_each_other(engine: FastSpeech2Engine) -> None:
    """Two utterances stepped in turns, with plans in between, have the same samples as alone."""
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
    """Stepping one utterance twice gives the same samples twice, and leaves it unchanged."""
    utterance = engine.plan(segment_of("大家早上好"), options())
    first, after = step(engine, utterance, 25)
    rendered(engine, after, [40])
    again, _ = step(engine, utterance, 25)
    assert np.array_equal(first, again)
    assert (utterance.next_frame, after.next_frame) == (0, 25)


def test_a_plan_is_deterministic(engine: FastSpeech2Engine) -> None:
    """The same text gives the same spectrogram, regardless of plans in between."""
    first = engine.plan(segment_of("今天散步"), options())
    engine.plan(segment_of("大家早上好，我们去公园"), options(speed=1.3))
    assert np.array_equal(first.mel, engine.plan(segment_of("今天散步"), options()).mel)


@pytest.mark.parametrize("lead_s", [0.02, 0.025, 0.03])
def test_audio_starts_at_once_and_is_not_cut(engine: FastSpeech2Engine, lead_s: float) -> None:
    """For any first phoneme, audio is audible within 40 ms and no audible part before it was cut."""
    for first in SYLLABLES.keys() - {"怪"}:
        short, long = (engine.plan(segment_of(first + "大家好"), options(lead_s=lead)) for lead in (lead_s, 9.0))
        sound, uncut = rendered(engine, short, [80]), rendered(engine, long, [80])
        assert np.flatnonzero(np.abs(sound) > AUDIBLE)[0] < 0.040 * 24_000
        assert np.abs(uncut[: len(uncut) - len(sound)]).max(initial=0.0) < AUDIBLE


@pytest.mark.parametrize("text", ["是", "大家好是", "人", "看人"])
def test_audio_fades_out_if_the_model_ends_abruptly(engine: FastSpeech2Engine, text: str) -> None:
    """An utterance never ends with a jump in its samples."""
    sound = rendered(engine, engine.plan(segment_of(text), options()), [80])
    assert np.abs(sound[-100:]).max() < AUDIBLE


def test_final_silence_is_cut_to_the_requested_length(engine: FastSpeech2Engine) -> None:
    """A shorter tail is a prefix of the longer one; the part cut is silent, and the remaining length is reported."""
    long, short = (engine.plan(segment_of("我们去公园"), options(tail_s=tail_s)) for tail_s in (9.0, 0.025))
    whole, cut = rendered(engine, long, [80]), rendered(engine, short, [80])
    assert short.tail_s == pytest.approx(0.025)
    assert short.tail_s < long.tail_s
    assert np.array_equal(whole[: len(cut)], cut)
    assert np.abs(whole[len(cut) :]).max() < AUDIBLE


def test_pauses_within_a_segment_are_kept(engine: FastSpeech2Engine) -> None:
    """A comma gives silence of at least a tenth of a second, outside the timings of both neighbours."""
    utterance = engine.plan(segment_of("今天散步，我们吃饭"), options())
    before, after = utterance.timings[3], utterance.timings[4]
    pause_s = after.start_s - before.end_s
    sound = rendered(engine, utterance, [80])[int(before.end_s * 24_000) : int(after.start_s * 24_000)]
    assert (before.text, after.text) == ("步", "我")
    assert pause_s > 0.1
    assert np.abs(sound).max() < 2 * AUDIBLE


def test_each_character_has_a_timing(engine: FastSpeech2Engine) -> None:
    """Timings are in order, within the utterance, at the position of the character in the source."""
    utterance = engine.plan(segment_of("大家早上好，今天去公园", start=100, stretch=2), options())
    assert "".join(timing.text for timing in utterance.timings) == "大家早上好今天去公园"
    assert utterance.timings[6].source == Span(114, 115)
    assert utterance.num_frames is not None
    edges = [edge for timing in utterance.timings for edge in (timing.start_s, timing.end_s)]
    assert edges == sorted(edges)
    assert 0 <= edges[0] < 0.04
    assert edges[-1] <= utterance.num_frames * 300 / 24_000 + 1e-9
    assert all(0.04 < timing.end_s - timing.start_s < 0.6 for timing in utterance.timings)


def test_frication_lies_within_its_own_syllable(engine: FastSpeech2Engine) -> None:
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
    """Twice the speed takes about half the time; the whole range of the API works."""
    usual, changed = (engine.plan(segment_of("今天我们去公园散步"), options(speed=at)) for at in (1.0, speed))
    assert usual.num_frames is not None
    assert changed.num_frames is not None
    assert low < changed.num_frames / usual.num_frames < high


@pytest.mark.parametrize("text", ["大，家，早，上，好，今，天，散，步，人，看，公，园，去，" * 4, "大家好" * 20])
def test_the_slowest_speech_fits_the_model(engine: FastSpeech2Engine, text: str) -> None:
    """A pause behind every syllable at the lowest speed does not exceed the 2048 positions of the model."""
    utterance = engine.plan(segment_of(text), options(speed=0.25))
    assert len(utterance.timings) == len(text.replace("，", ""))


@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0])
def test_long_segments_are_spoken_completely(engine: FastSpeech2Engine, speed: float) -> None:
    """A segment beyond the 2048 positions of the model is planned in several runs and joined."""
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
    """The shortest texts give audio."""
    for char in SYLLABLES.keys() - {"怪"}:
        sound = rendered(engine, engine.plan(segment_of(char), options(speed=1.0)), [7])
        assert np.abs(sound).max() > 0.02


@pytest.mark.parametrize("text", ["", "。", "，，"])
def test_a_segment_without_speech_is_done_at_once(engine: FastSpeech2Engine, text: str) -> None:
    """A segment without syllables gives no audio and no error."""
    utterance = engine.plan(segment_of(text), options())
    assert (utterance.done, utterance.num_frames, utterance.timings) == (True, 0, ())


def test_unspeakable_parts_are_reported_as_skipped(engine: FastSpeech2Engine) -> None:
    """Skips of the front end and unknown phonemes are reported with their positions in the source."""
    utterance = engine.plan(segment_of("大x怪好", start=50), options())
    assert utterance.skipped == (
        Skipped(Span(51, 52), "language_not_spoken"),
        Skipped(Span(52, 53), "phoneme_not_in_voice"),
    )
    assert [timing.text for timing in utterance.timings] == ["大", "好"]


def test_gain_scales_and_never_leaves_the_range(engine: FastSpeech2Engine, baker_files: dict[str, Path]) -> None:
    """Gain is a plain factor; samples near full scale are bent, and no two adjacent ones are flat there."""
    segment = segment_of("大家早上好")
    usual = rendered(engine, engine.plan(segment, options()), [80])
    for gain in (0.5, 40.0):
        changed = rendered(load(baker_files, gain=gain), engine.plan(segment, options()), [80])
        np.testing.assert_allclose(changed, scaled(usual, gain), rtol=1e-6)
        assert np.abs(changed).max() < 1.0


def test_a_failing_model_fails_only_its_plan(engine: FastSpeech2Engine) -> None:
    """An error of an operator becomes SynthesisFailed with its cause, and the next plan works."""
    expected = engine.plan(segment_of("大家好"), options()).mel
    with pytest.raises(SynthesisFailed) as caught:
        engine.plan(segment_of("大家好"), options(speed=0.01))
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert np.array_equal(engine.plan(segment_of("大家好"), options()).mel, expected)


@pytest.mark.parametrize("name", ["fastspeech2.tflite", "melgan.onnx", "baker_mapper.json"])
@pytest.mark.parametrize("content", [None, b"", b"not what it should be", json.dumps({"symbol_to_id": 3}).encode()])
def test_damaged_files_are_reported_at_loading(
    baker_files: dict[str, Path], tmp_path: Path, name: str, content: bytes | None
) -> None:
    """A missing or damaged file fails the load with the command to run."""
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(VoiceNotReady, match=rf"{name} cannot be .*: pull the voice again"):
        load({**baker_files, name: path})


@pytest.mark.parametrize("text", ["大家好", "。"])
def test_reading_is_timed_within_the_plan(
    engine: FastSpeech2Engine, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """A plan has the duration of the front end, with and without text to speak."""
    monkeypatch.setattr("yuliu.engines.fastspeech2.engine.perf_counter", iter([7.0, 7.25]).__next__)
    utterance = engine.plan(segment_of(text), options())
    assert utterance.front_end_s == 0.25
    _, after = step(engine, utterance, 5) if not utterance.done else (None, utterance)
    assert after.front_end_s == 0.25
