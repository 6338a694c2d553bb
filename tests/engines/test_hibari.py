"""hibari with its real weights: exact streaming, silence at the ends, timings, and unusual input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import hibari
import numpy as np
import pytest
from hibari.g2p import G2P
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.engines.api import PlanOptions, StepRequest, Utterance
from yuliu.engines.hibari.convert import split_hibari
from yuliu.engines.hibari.dsp import HOP, SAMPLE_RATE
from yuliu.engines.hibari.engine import FIRST_FRAMES, HibariEngine, load_oov
from yuliu.errors import SynthesisFailed, VoiceNotReady
from yuliu.text.frontend import Piece, Reading, Unit
from yuliu.types import Boundary, Segment, Skipped, Span, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Hint, Respelling, Samples

pytestmark = pytest.mark.voices

ASSETS = Path(hibari.__file__).parent / "assets"
SOUND = 10 ** (-46 / 20)
TEXT = "Fresh bread smells better than anything else."
FIRST_SOUNDS = [
    "Hello there.", "She sells shells.", "Five fish.", "Apples are red.", "Papa came home.", "Tea is ready.",
    "Can you see?", "Thin ice.", "The end.", "What now?", "Yes.", "No.", "Zoo animals.", "Judge him.", "Church bells.",
    "Red cars.", "Look out!", "Big dogs bark.", "Go away.", "Very well.", "Every one.", "Oh, really?", "Itchy feet.",
    "Up we go.", "Honest work.", "My name is Ann.", "Sit.", "Why, who said so?", "Houses", "Nine",
]  # fmt: skip


class LexiconFrontEnd:
    """A front end for these tests: words by the lexicon of hibari, punctuation unchanged."""

    def __init__(self) -> None:
        self.g2p = G2P()
        self.known: dict[str, str] = {"日本": "日本"}

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        units = [
            Unit(Span(*word.span(1)), word[1], tuple(self.phonemes(word[1])), word[2])
            for word in re.finditer(r"([^\W_]+(?:'\w+)?)([\W_]*)", text)
        ]
        return Reading((Piece(Span(0, len(text)), text),), tuple(units))

    def phonemes(self, word: str) -> str:
        if word not in self.known:
            self.known[word] = self.g2p(word)
        return self.known[word]


@pytest.fixture(scope="module")
def words() -> LexiconFrontEnd:
    return LexiconFrontEnd()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("heart")
    parts = split_hibari((ASSETS / "hibari.onnx").read_bytes())
    for name, content in {**parts, "vocab.json": (ASSETS / "vocab.json").read_bytes()}.items():
        (folder / name).write_bytes(content)
    return {path.name: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def engine(files: dict[str, Path], words: LexiconFrontEnd) -> HibariEngine:
    return HibariEngine.load(files, front_end=words)


def segment(text: str, *, start: int = 0) -> Segment:
    origin = tuple(range(start, start + len(text)))
    return Segment(text, Span(start, start + len(text)), origin, Boundary.SENTENCE, "en")


def options(*, speed: float = 1.0, seed: int = 0, lead_s: float = 0.025, tail_s: float = 0.1) -> PlanOptions:
    return PlanOptions(SpeakOptions(speed, seed), lead_s, tail_s)


def step(engine: HibariEngine, utterance: Utterance, num_frames: int) -> tuple[Samples, Utterance]:
    (result,) = engine.step([StepRequest(utterance, num_frames)])
    return result.samples, result.utterance


def speak(engine: HibariEngine, utterance: Utterance, steps: list[int] | None = None) -> Samples:
    """Return all samples, in steps of these numbers of frames, then the rest in one."""
    asked = iter(steps or [])
    chunks = [np.zeros(0, np.float32)]
    while not utterance.done:
        samples, utterance = step(engine, utterance, next(asked, 10**6))
        chunks.append(samples)
    return np.concatenate(chunks)


@pytest.fixture(scope="module")
def offline(engine: HibariEngine) -> Samples:
    return speak(engine, engine.plan(segment(TEXT), options()))


@settings(max_examples=20, deadline=None)
@given(steps=st.lists(st.integers(1, 130), max_size=30))
def test_streamed_equals_offline(engine: HibariEngine, offline: Samples, steps: list[int]) -> None:
    """Steps of any sizes give the samples of one step, bit for bit."""
    assert np.array_equal(speak(engine, engine.plan(segment(TEXT), options()), steps), offline)


@settings(max_examples=10, deadline=None)
@given(turns=st.lists(st.tuples(st.booleans(), st.integers(1, 60)), max_size=30))
def test_interleaved_work_does_not_change_the_samples(
    engine: HibariEngine, offline: Samples, turns: list[tuple[bool, int]]
) -> None:
    """Steps of another utterance and plans in between leave the samples unchanged."""
    ours: Utterance = engine.plan(segment(TEXT), options())
    other: Utterance = engine.plan(segment("Tea is ready."), options(seed=5))
    chunks = [np.zeros(0, np.float32)]
    for is_ours, num_frames in turns:
        if is_ours and not ours.done:
            samples, ours = step(engine, ours, num_frames)
            chunks.append(samples)
        elif not other.done:
            _, other = step(engine, other, num_frames)
        else:
            other = engine.plan(segment("No."), options())
    assert np.array_equal(np.concatenate([*chunks, speak(engine, ours)]), offline)


def test_a_step_leaves_its_utterance_unchanged(engine: HibariEngine, offline: Samples) -> None:
    """An utterance may be stepped twice from the same point and gives the same samples."""
    utterance = engine.plan(segment(TEXT), options())
    _, after = step(engine, utterance, 30)
    first, _ = step(engine, after, 50)
    again, _ = step(engine, after, 50)
    assert np.array_equal(first, again)
    assert np.array_equal(first, offline[30 * HOP : 80 * HOP])


def test_the_seed_determines_the_noise(engine: HibariEngine, offline: Samples) -> None:
    """The same seed gives the same samples, another seed other samples of the same length and loudness."""
    same = speak(engine, engine.plan(segment(TEXT), options()))
    other = speak(engine, engine.plan(segment(TEXT), options(seed=1)))
    assert np.array_equal(same, offline)
    assert not np.array_equal(other, offline)
    assert len(other) == len(offline)
    assert other.std() == pytest.approx(offline.std(), rel=0.05)


def test_samples_do_not_depend_on_the_position_in_the_stream(engine: HibariEngine, offline: Samples) -> None:
    """The same text later in a stream gives the same samples."""
    assert np.array_equal(speak(engine, engine.plan(segment(TEXT, start=700), options())), offline)


def test_the_plan_renders_the_first_step(engine: HibariEngine) -> None:
    """A plan leaves a quarter of a second of audio ready, so that the first step computes nothing."""
    utterance = engine.plan(segment(TEXT), options())
    assert utterance.sound is not None
    assert len(utterance.sound.ready) >= 20 * HOP
    _, after = step(engine, utterance, 20)
    assert after.sound.next_frame == utterance.sound.next_frame  # type: ignore[attr-defined]
    assert utterance.sound.next_frame < len(utterance.sound.f0) - FIRST_FRAMES


@pytest.mark.parametrize("text", FIRST_SOUNDS)
def test_lead_and_tail_have_the_requested_length(engine: HibariEngine, text: str) -> None:
    """For any first and last phoneme the lead and tail are as requested, and the parts cut are silent."""
    long = engine.plan(segment(text), options(lead_s=9.0, tail_s=9.0))
    short = engine.plan(segment(text), options(lead_s=0.025, tail_s=0.05))
    everything, samples = speak(engine, long), speak(engine, short)
    loud = np.flatnonzero(np.abs(samples) >= SOUND)
    assert loud[0] / SAMPLE_RATE == pytest.approx(0.025, abs=1 / SAMPLE_RATE)
    assert 0.04 <= short.tail_s < 0.05 + HOP / SAMPLE_RATE
    assert 0.04 <= (len(samples) - loud[-1]) / SAMPLE_RATE <= 0.12
    before = round((long.lead_s - short.lead_s) * SAMPLE_RATE)
    assert np.array_equal(everything[before : before + len(samples)], samples)
    cut = np.concatenate([everything[:before], everything[before + len(samples) :]])
    assert np.abs(cut).max() < SOUND
    assert np.abs(everything[before + len(samples) :]).max() < SOUND / 4


def test_silence_is_never_padded(engine: HibariEngine) -> None:
    """The utterance reports the actual silence if the model gives less than requested."""
    utterance = engine.plan(segment("Yes."), options(lead_s=9.0, tail_s=9.0))
    samples = speak(engine, utterance)
    assert np.flatnonzero(np.abs(samples) >= SOUND)[0] == round(utterance.lead_s * SAMPLE_RATE)
    assert 0.1 < utterance.lead_s < 0.5
    assert 0.1 < utterance.tail_s < 0.6


def test_timings_follow_the_words(engine: HibariEngine) -> None:
    """Each word has its position in the source and a time within the audio, in order, and is loud there."""
    text = "After the storm, the harbour was full of broken boats."
    utterance = engine.plan(segment(text, start=40), options())
    samples = speak(engine, utterance)
    assert [text[t.source.start - 40 : t.source.end - 40] for t in utterance.timings] == re.findall(r"\w+", text)
    times = [time for timing in utterance.timings for time in (timing.start_s, timing.end_s)]
    assert times == sorted(times)
    assert times[0] == pytest.approx(utterance.lead_s, abs=0.03)
    assert times[-1] == pytest.approx(len(samples) / SAMPLE_RATE - utterance.tail_s, abs=0.03)
    for timing in utterance.timings:
        said = samples[round(timing.start_s * SAMPLE_RATE) : round(timing.end_s * SAMPLE_RATE)]
        assert np.abs(said).max() > 3 * SOUND


def test_pauses_lie_between_words(engine: HibariEngine) -> None:
    """The pause at a comma belongs to neither neighbour."""
    utterance = engine.plan(segment("After the storm, the harbour was full."), options())
    storm, the = utterance.timings[2:4]
    samples = speak(engine, utterance)
    pause = samples[round(storm.end_s * SAMPLE_RATE) + HOP : round(the.start_s * SAMPLE_RATE) - HOP]
    assert len(pause) > 0.08 * SAMPLE_RATE
    assert np.abs(pause).max() < SOUND


def test_speed_changes_the_length(engine: HibariEngine) -> None:
    """Twice the speed gives about half the length, half the speed about twice the length."""
    lengths = {speed: engine.plan(segment(TEXT), options(speed=speed)).num_frames or 0 for speed in (0.5, 1.0, 2.0)}
    assert lengths[0.5] / lengths[1.0] == pytest.approx(2.0, abs=0.2)
    assert lengths[2.0] / lengths[1.0] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("speed", [0.25, 4.0])
@pytest.mark.parametrize("text", ["A", "Hm", "Nine,", TEXT])
def test_extreme_speeds_and_short_words_are_spoken(engine: HibariEngine, text: str, speed: float) -> None:
    """The shortest texts at the limits of speed give audio, streamed as offline."""
    utterance = engine.plan(segment(text), options(speed=speed))
    whole = speak(engine, utterance)
    assert np.abs(whole).max() > SOUND / 4  # the model barely voices a lone "A" at speed 4
    assert len(whole) == HOP * (utterance.num_frames or 0)
    assert np.array_equal(speak(engine, utterance, [1, 3, 50]), whole)


def test_long_segments_are_planned_in_parts(engine: HibariEngine) -> None:
    """A segment far longer than the training data is spoken to the end, with every word timed."""
    text = "the children ran outside and found a shallow lake " * 24
    utterance = engine.plan(segment(text), options())
    assert len(utterance.phonemes) > 1000
    assert len(utterance.timings) == len(text.split())
    samples = speak(engine, utterance, [20, 96, 96])
    last = utterance.timings[-1]
    assert np.abs(samples[round(last.start_s * SAMPLE_RATE) : round(last.end_s * SAMPLE_RATE)]).max() > 3 * SOUND
    pauses = np.diff(np.flatnonzero(np.abs(samples) >= SOUND)) / SAMPLE_RATE
    assert pauses.max() < 0.5


@pytest.mark.parametrize("text", ["", "   ", "...!", "—"])
def test_text_without_words_is_done_at_once(engine: HibariEngine, text: str) -> None:
    """A text without words gives an utterance of no frames that is done."""
    utterance = engine.plan(segment(text), options())
    assert (utterance.done, utterance.num_frames, utterance.timings) == (True, 0, ())


def test_unknown_phonemes_are_skipped_by_rule(engine: HibariEngine) -> None:
    """A word without any known phoneme is left out and reported; the rest is spoken."""
    utterance = engine.plan(segment("Tea 日本 now.", start=9), options())
    assert utterance.skipped == (Skipped(Span(13, 15), "phoneme_not_in_voice"),)
    assert [timing.text for timing in utterance.timings] == ["Tea", "now"]


def test_the_plan_lists_the_phonemes_given_to_the_model(engine: HibariEngine) -> None:
    """Phonemes and marks are listed in the order of the model's input."""
    assert "".join(engine.plan(segment("Hello there."), options()).phonemes) == "həlˈO ðˈɛɹ."


def test_gain_scales_and_soft_clips(files: dict[str, Path], words: LexiconFrontEnd, offline: Samples) -> None:
    """The gain multiplies the samples, which approach full scale without clipping; the onset is sought after it."""
    engine = HibariEngine.load(files, front_end=words, gain=4.0)
    utterance = engine.plan(segment(TEXT), options())
    loud = speak(engine, utterance)
    assert 0.99 < np.abs(loud).max() < 1.0
    assert np.flatnonzero(np.abs(loud) >= SOUND)[0] == round(utterance.lead_s * SAMPLE_RATE)
    quiet = np.abs(offline[5000:20000]) < 0.2
    shift = int(np.argmax(np.correlate(loud[:9000], offline[2000:8000], "valid"))) - 2000
    assert np.allclose(loud[5000 + shift : 20000 + shift][quiet], 4 * offline[5000:20000][quiet], atol=1e-6)


def test_missing_and_damaged_files_are_not_ready(
    files: dict[str, Path], words: LexiconFrontEnd, tmp_path: Path
) -> None:
    """Files that are absent, empty or damaged raise VoiceNotReady with the command to run."""
    damaged = tmp_path / "decoder.onnx"
    damaged.write_bytes(b"damaged")
    not_json = tmp_path / "vocab.json"
    not_json.write_text("[")
    no_numbers = tmp_path / "numbers.json"
    no_numbers.write_text('{"a": "one"}')
    for broken in (
        {"decoder.onnx": damaged},
        {"vocab.json": not_json},
        {"vocab.json": no_numbers},
        {"plan.onnx": tmp_path / "absent.onnx"},
    ):
        with pytest.raises(VoiceNotReady, match="yuliu voices pull"):
            HibariEngine.load(files | broken, front_end=words)
    with pytest.raises(VoiceNotReady, match=r"vocab\.json"):
        HibariEngine.load({k: v for k, v in files.items() if k != "vocab.json"}, front_end=words)


def test_a_failing_graph_raises_synthesis_failed(files: dict[str, Path], words: LexiconFrontEnd) -> None:
    """An error inside the runtime is raised as SynthesisFailed with its cause, without the text."""
    engine = HibariEngine.load(files | {"decoder.onnx": files["plan.onnx"]}, front_end=words)
    with pytest.raises(SynthesisFailed) as raised:
        engine.plan(segment("secret"), options())
    assert raised.value.__cause__ is not None
    assert "secret" not in raised.value.message


def test_an_utterance_of_another_engine_is_rejected(engine: HibariEngine) -> None:
    """Stepping an utterance that this engine did not plan raises SynthesisFailed."""
    planned = engine.plan(segment("Yes."), options())
    foreign = Utterance(planned.segment, (), (), (), 9, 0.0, 0.0, 0, False)
    with pytest.raises(SynthesisFailed, match="not planned by this engine"):
        engine.step([StepRequest(foreign, 1)])


def test_unknown_words_get_phonemes(files: dict[str, Path]) -> None:
    """The net for unknown words reads letters of any case and gives phonemes that the voice has."""
    read, vocabulary = load_oov(ASSETS / "oov.onnx"), set(json.loads(files["vocab.json"].read_bytes()))
    for word in ("yuliu", "Kubernetes", "O'Brien", "x" * 200):
        phonemes = read(word)
        assert phonemes
        assert set(phonemes) <= vocabulary
    assert read("blick") == "blˈɪk"


def test_words_without_letters_have_no_phonemes() -> None:
    """The net for unknown words gives None for text without known letters."""
    read = load_oov(ASSETS / "oov.onnx")
    assert read("") is None
    assert read("语流") is None


def test_the_net_for_unknown_words_needs_its_files(tmp_path: Path) -> None:
    """Missing files raise VoiceNotReady."""
    with pytest.raises(VoiceNotReady, match="yuliu voices pull"):
        load_oov(tmp_path / "oov.onnx")
    (tmp_path / "oov.onnx").write_bytes((ASSETS / "oov.onnx").read_bytes())
    (tmp_path / "oov.json").write_text("{}")
    with pytest.raises(VoiceNotReady, match=r"oov\.json"):
        load_oov(tmp_path / "oov.onnx")


@pytest.mark.parametrize("text", [TEXT, "..."])
def test_reading_is_timed_within_the_plan(engine: HibariEngine, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A plan has the duration of the front end, with and without text to speak."""
    monkeypatch.setattr("yuliu.engines.hibari.engine.perf_counter", iter([7.0, 7.25]).__next__)
    assert engine.plan(segment(text), options()).front_end_s == 0.25
