"""The vocoder with its real weights: faithful to the published graph, and exact for any division into steps."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from yuliu.engines.fastspeech2 import convert_melgan, melgan
from yuliu.engines.fastspeech2.engine import FastSpeech2, read_symbols
from yuliu.engines.fastspeech2.litert import LiteRtGraph
from yuliu.engines.fastspeech2.melgan import HOP_SAMPLES, LOOK_AHEAD_FRAMES, MelGan
from yuliu.engines.fastspeech2.phones import write_scripts
from yuliu.errors import SynthesisFailed, VoiceNotReady
from yuliu.text.frontend import Unit
from yuliu.types import Span

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from yuliu.engines.fastspeech2.melgan import State
    from yuliu.types import Samples

pytestmark = pytest.mark.voices

NUM_FRAMES = 150


@pytest.fixture(scope="module")
def vocoder(baker_files: dict[str, Path]) -> MelGan:
    """Return the vocoder, loaded once."""
    return MelGan(baker_files["melgan.onnx"])


def mel_of(seed: int, num_frames: int = NUM_FRAMES) -> NDArray[np.float32]:
    """Return a spectrogram of noise, which exercises every tap of every filter more than speech does."""
    return np.random.default_rng(seed).standard_normal((num_frames, 80)).astype(np.float32)


def in_steps(vocoder: MelGan, mel: NDArray[np.float32], cuts: list[int]) -> Samples:
    """Return the audio of all frames but the look-ahead, with steps ending at ``cuts``."""
    chunks: list[Samples] = []
    state: State = ()
    edges = [0, *(cut + LOOK_AHEAD_FRAMES for cut in cuts), len(mel)]
    for start, stop in pairwise(edges):
        samples, state = vocoder.step(mel[start:stop], state)
        chunks.append(samples)
    return np.concatenate(chunks)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 3), st.sets(st.integers(1, NUM_FRAMES - LOOK_AHEAD_FRAMES - 1)))
def test_any_cut_gives_the_samples_of_one_step_bit_for_bit(vocoder: MelGan, seed: int, cuts: set[int]) -> None:
    """Steps of any widths, single frames included, give the same samples as the whole."""
    mel = mel_of(seed)
    whole = in_steps(vocoder, mel, [])
    parts = in_steps(vocoder, mel, sorted(cuts))
    assert parts.dtype == np.float32
    assert len(whole) == (NUM_FRAMES - LOOK_AHEAD_FRAMES) * HOP_SAMPLES
    assert np.array_equal(parts, whole)


def test_steps_of_one_frame_are_exact(vocoder: MelGan) -> None:
    """One frame is the narrowest possible step."""
    mel = mel_of(5, 60)
    cuts = list(range(1, 60 - LOOK_AHEAD_FRAMES))
    assert np.array_equal(in_steps(vocoder, mel, cuts), in_steps(vocoder, mel, []))


@pytest.mark.parametrize(("away", "heard"), [(-23, False), (-20, True), (20, True), (22, False)])
def test_a_sample_depends_only_on_the_frames_around_it(vocoder: MelGan, away: int, heard: bool) -> None:
    """A change within the look-ahead on either side changes the audio of a frame; one further away does not."""
    mel = mel_of(7)
    at = NUM_FRAMES // 2
    changed = mel.copy()
    changed[at + away] += 3.0
    before, after = (in_steps(vocoder, each, [])[at * HOP_SAMPLES : (at + 1) * HOP_SAMPLES] for each in (mel, changed))
    assert np.array_equal(before, after) is not heard


def test_a_state_is_a_value(vocoder: MelGan) -> None:
    """A step repeated from the same state gives the same samples, regardless of steps in between."""
    mel = mel_of(2)
    _, state = vocoder.step(mel[:40])
    first, _ = vocoder.step(mel[40:60], state)
    in_steps(vocoder, mel_of(3), [50])
    again, _ = vocoder.step(mel[40:60], state)
    assert np.array_equal(first, again)
    assert sum(part.nbytes for part in state) == 114_512


def test_silence_begins_without_a_click(vocoder: MelGan) -> None:
    """The initial state causes no transient: silence is silent from its first sample on."""
    silence = np.full((4, 80), -2.0, np.float32)
    sound = in_steps(vocoder, np.concatenate([silence, mel_of(1, 40) / 4]), [])
    assert np.abs(sound[: 3 * HOP_SAMPLES]).max() < 10 ** (-60 / 20)


def test_graph_and_engine_agree_on_the_lag() -> None:
    """The engine counts with the constants that the graph was written for."""
    assert convert_melgan.LOOK_AHEAD_FRAMES == LOOK_AHEAD_FRAMES
    assert convert_melgan.EARLY_SAMPLES == melgan._EARLY_SAMPLES


def test_the_graph_equals_the_published_network(vocoder: MelGan, baker_files: dict[str, Path]) -> None:
    """On speech, the rewritten graph differs from the published one only by the latter's rounding to 8 bits."""
    ids = read_symbols(baker_files["baker_mapper.json"])
    units = [
        Unit(Span(0, 1), "", phonemes, "#1") for phonemes in [("d", "a4"), ("j", "ia1"), ("z", "ao3"), ("sh", "ang5")]
    ]
    (script,) = write_scripts(units, max_units=4)
    _, mel = FastSpeech2(baker_files["fastspeech2.tflite"], ids).speak(script, speed=1.0)
    (output,) = LiteRtGraph(baker_files["mb_melgan.tflite"]).run([mel[np.newaxis]], [0])
    published = np.asarray(output[0, :, 0], np.float32)
    sound = in_steps(vocoder, mel, [])
    inside = slice(LOOK_AHEAD_FRAMES * HOP_SAMPLES, len(sound))  # at its ends the published graph reflects
    error = (sound - published[: len(sound)])[inside]
    assert 10 * np.log10(np.mean(published[inside] ** 2) / np.mean(error**2)) > 22


def test_a_wrong_number_of_mel_bins_raises_synthesis_failed(vocoder: MelGan) -> None:
    """An error of the runtime becomes SynthesisFailed, with its cause."""
    with pytest.raises(SynthesisFailed) as caught:
        vocoder.step(np.zeros((30, 79), np.float32))
    assert caught.value.__cause__ is not None


def test_a_damaged_file_is_not_ready(tmp_path: Path) -> None:
    """The error for a damaged or missing file says that the voice must be pulled again."""
    path = tmp_path / "melgan.onnx"
    with pytest.raises(VoiceNotReady, match="yuliu voices pull"):
        MelGan(path)
    path.write_bytes(b"not a model")
    with pytest.raises(VoiceNotReady, match="yuliu voices pull"):
        MelGan(path)


def test_the_graph_of_an_older_version_is_not_ready(tmp_path: Path) -> None:
    """A graph without states was made by an older version."""
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in ("mel", "samples")]
    graph = helper.make_graph([helper.make_node("Identity", ["mel"], ["samples"])], "old", info[:1], info[1:])
    path = tmp_path / "melgan.onnx"
    opset = helper.make_opsetid("", 17)
    path.write_bytes(helper.make_model(graph, opset_imports=[opset], ir_version=8).SerializeToString())
    with pytest.raises(VoiceNotReady, match="yuliu voices pull"):
        MelGan(path)
