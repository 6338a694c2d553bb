"""Splitting the graph of hibari: the parts together equal the whole, and a foreign graph is rejected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import hibari
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from yuliu.engines.hibari.convert import NUM_LAYERS, SIDE_FRAMES, split_hibari

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytestmark = pytest.mark.voices

MODEL = (Path(hibari.__file__).parent / "assets" / "hibari.onnx").read_bytes()
IDS = np.array([[0, 50, 83, 54, 156, 31, 16, 81, 156, 86, 123, 4, 0]], np.int64)
"""həlˈO ðˈɛɹ."""
CHANNELS, SPECTRUM = 256, 3005


@pytest.fixture(scope="module")
def parts() -> dict[str, bytes]:
    return split_hibari(MODEL)


@pytest.fixture(scope="module")
def plan(parts: dict[str, bytes]) -> list[NDArray[np.float32]]:
    return run(parts["plan.onnx"], {"ids": IDS, "speed": np.ones(1, np.float32)})


def run(model: bytes, inputs: dict[str, NDArray[np.generic]]) -> list[NDArray[np.float32]]:
    """Run a graph without fusions, which differ between the whole and its parts and change the rounding of int8."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return list(ort.InferenceSession(model, options).run(None, inputs))


def decode(session: ort.InferenceSession, hidden: NDArray[np.float32], ends: list[int]) -> NDArray[np.float32]:
    """Decode all frames in blocks that end at these frames."""
    padded = np.pad(hidden, ((0, 0), (0, 0), (SIDE_FRAMES, SIDE_FRAMES)))
    left = np.zeros((NUM_LAYERS, CHANNELS, SIDE_FRAMES), np.float32)
    spectra, at, num_frames = [], 0, hidden.shape[2]
    for end in ends:
        right = np.zeros((1, CHANNELS, SIDE_FRAMES if end == num_frames else 0), np.float32)
        window = np.ascontiguousarray(padded[:, :, at : end + 2 * SIDE_FRAMES])
        block, left = session.run(None, {"hidden": window, "left": left, "right": right})
        spectra.append(block[0])
        at = end
    return np.concatenate(spectra)


def test_the_parts_give_the_spectra_of_the_whole_graph(
    parts: dict[str, bytes], plan: list[NDArray[np.float32]]
) -> None:
    """Plan and decoder, run one after the other, equal the graph as shipped exactly."""
    whole = run(MODEL, {"ids": IDS, "speed": np.ones(1, np.float32)})
    _, hidden, f0 = plan
    padded = np.pad(hidden, ((0, 0), (0, 0), (SIDE_FRAMES, SIDE_FRAMES)))
    sides = {
        "left": np.zeros((NUM_LAYERS, CHANNELS, SIDE_FRAMES), np.float32),
        "right": np.zeros((1, CHANNELS, SIDE_FRAMES), np.float32),
    }
    spectra, _ = run(parts["decoder.onnx"], {"hidden": padded, **sides})
    assert np.array_equal(spectra[0], np.concatenate([spectrum[0] for spectrum in whole[:5]]).T)
    assert np.array_equal(f0, whole[5])


def test_durations_count_pairs_of_frames(plan: list[NDArray[np.float32]]) -> None:
    """Each id has a duration, and twice their sum is the number of frames."""
    durations, hidden, f0 = plan
    assert durations.shape == IDS[0].shape
    assert hidden.shape[2] == f0.shape[1] == 2 * durations.sum()


@settings(max_examples=15, deadline=None)
@given(cuts=st.sets(st.integers(27, 109), max_size=5))
def test_blocks_carry_all_state_for_later_blocks(
    float_decoder: ort.InferenceSession, plan: list[NDArray[np.float32]], cuts: set[int]
) -> None:
    """With float weights, which need no quantisation per call, any blocks give the spectra of one block."""
    hidden = plan[1]
    num_frames = hidden.shape[2]
    whole = decode(float_decoder, hidden, [num_frames])
    blocks = decode(float_decoder, hidden, [*sorted(cuts), num_frames])
    assert whole.shape == (num_frames, SPECTRUM)
    np.testing.assert_allclose(blocks, whole, atol=1e-4)


@pytest.fixture(scope="module")
def float_decoder(parts: dict[str, bytes]) -> ort.InferenceSession:
    """Return the decoder with its int8 products turned back to float."""
    model = onnx.load_model_from_string(parts["decoder.onnx"])
    weights = {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
    makers = {name: node for node in model.graph.node for name in node.output}
    for node in model.graph.node:
        if node.op_type == "MatMulInteger":
            activation, name = makers[node.input[0]].input[0], node.input[1]
            scale = weights[name.replace("_quantized", "_scale")]
            values = (weights[name].astype(np.float32) - weights[node.input[3]].astype(np.float32)) * scale
            model.graph.initializer.append(numpy_helper.from_array(values, f"{name}.float"))
            cast = next(n for n in model.graph.node if node.output[0] in n.input)
            scaled = next(n for n in model.graph.node if cast.output[0] in n.input)
            scaled.CopyFrom(helper.make_node("MatMul", [activation, f"{name}.float"], [scaled.output[0]]))
    return ort.InferenceSession(model.SerializeToString())


def test_the_split_is_deterministic(parts: dict[str, bytes]) -> None:
    """The same file always gives the same bytes, so that a voice store can keep their hashes."""
    assert split_hibari(MODEL) == parts


@pytest.mark.parametrize("damaged", [b"", b"no graph at all", MODEL[: len(MODEL) // 2]])
def test_a_file_without_the_graph_is_rejected(damaged: bytes) -> None:
    """Bytes without a hibari graph raise ValueError."""
    with pytest.raises(ValueError, match="not a hibari model"):
        split_hibari(damaged)


def test_another_architecture_is_rejected() -> None:
    """A graph with the same inputs and outputs but another decoder raises ValueError that names the layer."""
    model = onnx.load_model_from_string(MODEL)
    node = next(n for n in model.graph.node if "m.dec.3.dw.weight" in n.input)
    next(a for a in node.attribute if a.name == "dilations").ints[:] = [2]
    with pytest.raises(ValueError, match=r"dec\.3"):
        split_hibari(model.SerializeToString())


def test_a_graph_without_durations_is_rejected() -> None:
    """A graph without recognisable durations raises ValueError."""
    model = onnx.load_model_from_string(MODEL)
    next(n for n in model.graph.node if n.op_type == "CumSum").op_type = "Identity"
    with pytest.raises(ValueError, match="CumSum"):
        split_hibari(model.SerializeToString())
