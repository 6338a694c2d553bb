"""The vocoder with its real weights: faithful to the published graph, and exact in windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.engines.fastspeech2 import FastSpeech2, read_symbols
from yuliu.engines.litert import Graph
from yuliu.engines.melgan import CONTEXT_FRAMES, HOP_SAMPLES, MelGan
from yuliu.engines.phones import write_scripts
from yuliu.errors import SynthesisFailed, VoiceNotReady
from yuliu.text.reading import Unit
from yuliu.types import Span

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

pytestmark = pytest.mark.voices

NUM_FRAMES = 150


@pytest.fixture(scope="module")
def vocoder(baker_files: dict[str, Path]) -> MelGan:
    """The vocoder, loaded once."""
    return MelGan(baker_files["melgan.onnx"])


def mel_of(seed: int, num_frames: int = NUM_FRAMES) -> NDArray[np.float32]:
    """Any spectrogram: noise makes every tap of every filter matter, more than speech does."""
    return np.random.default_rng(seed).standard_normal((num_frames, 80)).astype(np.float32)


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_windows_equal_the_whole_bit_for_bit(vocoder: MelGan, data: st.DataObject) -> None:
    """Any window of any spectrogram, at the edges and inside, gives the very samples of the whole."""
    mel = mel_of(data.draw(st.integers(0, 3)))
    start = data.draw(st.integers(0, NUM_FRAMES - 1))
    stop = data.draw(st.integers(start + 1, NUM_FRAMES))
    whole = vocoder.render(mel, 0, NUM_FRAMES)
    part = vocoder.render(mel, start, stop)
    assert part.dtype == np.float32
    assert np.array_equal(part, whole[start * HOP_SAMPLES : stop * HOP_SAMPLES])


@pytest.mark.parametrize("side", [-1, 1])
def test_context_frames_are_all_that_a_sample_depends_on(vocoder: MelGan, side: int) -> None:
    """A change beyond the context changes no sample; one at its edge does."""
    mel = mel_of(7)
    at = NUM_FRAMES // 2
    before = vocoder.render(mel, 0, NUM_FRAMES)[at * HOP_SAMPLES : (at + 1) * HOP_SAMPLES]

    def after_changing(frame: int) -> NDArray[np.float32]:
        changed = mel.copy()
        changed[frame] += 3.0
        return vocoder.render(changed, 0, NUM_FRAMES)[at * HOP_SAMPLES : (at + 1) * HOP_SAMPLES]

    assert np.array_equal(before, after_changing(at + side * (CONTEXT_FRAMES + 1)))
    assert not np.array_equal(before, after_changing(at + side * (CONTEXT_FRAMES - 1)))


def test_it_is_the_published_network(vocoder: MelGan, baker_files: dict[str, Path]) -> None:
    """On speech, the graph written anew differs from the published one by the latter's rounding to 8 bits."""
    ids = read_symbols(baker_files["baker_mapper.json"])
    units = [
        Unit(Span(0, 1), "", phonemes, "#1") for phonemes in [("d", "a4"), ("j", "ia1"), ("z", "ao3"), ("sh", "ang5")]
    ]
    (script,) = write_scripts(units, max_units=4)
    _, mel = FastSpeech2(baker_files["fastspeech2.tflite"], ids).speak(script, speed=1.0)
    (output,) = Graph(baker_files["mb_melgan.tflite"]).run([mel[np.newaxis]], [0])
    published = np.asarray(output[0, :, 0], np.float32)
    error = vocoder.render(mel, 0, len(mel)) - published
    assert 10 * np.log10(np.mean(published**2) / np.mean(error**2)) > 22


@pytest.mark.parametrize("num_frames", [1, 2, 3, 9, 10])
def test_the_shortest_spectrograms_are_rendered_exactly(vocoder: MelGan, num_frames: int) -> None:
    """Too few frames for the network to reflect give sound all the same, and the same in windows."""
    mel = mel_of(0, num_frames)
    whole = vocoder.render(mel, 0, num_frames)
    parts = [vocoder.render(mel, at, at + 1) for at in range(num_frames)]
    assert len(whole) == num_frames * HOP_SAMPLES
    assert np.array_equal(np.concatenate(parts), whole)


def test_a_wrong_number_of_mel_bins_fails_as_synthesis(vocoder: MelGan) -> None:
    """What the runtime refuses becomes SynthesisFailed, with its cause."""
    with pytest.raises(SynthesisFailed) as caught:
        vocoder.render(np.zeros((30, 79), np.float32), 0, 30)
    assert caught.value.__cause__ is not None


def test_a_damaged_file_is_not_ready(tmp_path: Path) -> None:
    """A file that is no model, or is missing, says that the voice must be pulled again."""
    path = tmp_path / "melgan.onnx"
    with pytest.raises(VoiceNotReady, match="yuliu voices pull"):
        MelGan(path)
    path.write_bytes(b"not a model")
    with pytest.raises(VoiceNotReady, match="yuliu voices pull"):
        MelGan(path)
