"""Cuts hibari's ONNX graph in two, so that sound can be made block by block.

hibari (package ``hibari-tts`` 0.2.1, Apache-2.0) ships one graph from phoneme ids to the spectra of a whole
sentence. Text nets, a duration net and a prosody net look at the whole sentence; the decoder behind them is made of
convolutions over frames and sees 27 frames to each side. :func:`split_hibari` makes of it

- ``plan.onnx``: ``ids`` int64 [1, L], ``speed`` float32 [1] -> ``durations`` int64 [L] (units of two frames),
  ``hidden`` float32 [1, 130, F], ``f0`` float32 [1, F] (Hz; below 40: unvoiced). The last row of ``hidden`` is
  the predicted loudness of a frame;
- ``decoder.onnx``: the decoder for a block of n frames, with the last inputs of its layers passed in and out:
  ``hidden`` float32 [1, 130, n + 6] (3 more frames on each side; zeros stand outside the sentence), ``left``
  float32 [8, 256, k] (3 frames of zeros before the first block, afterwards the ``left_next`` of the block before),
  ``right`` float32 [1, 256, r] (no frames, or 3 of zeros for the last block) -> ``spectra`` float32
  [1, n + delay, 3005] (log magnitudes and phases, frame by frame), ``left_next`` float32 [8, 256, 6]. The first
  block gives 24 frames fewer than it was given, the last one 24 more (as many, if it is also the first).

Weights stay as they are: int8, multiplied with activations that are quantised at run time over the inputs of one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NUM_LAYERS = 8
"""Depthwise convolutions in the decoder, behind its first, dense one."""
SIDE_FRAMES = 3
"""Frames that each of its convolutions sees to each side."""
_KERNEL = 2 * SIDE_FRAMES + 1
_HIDDEN_CHANNELS = 130
_CHANNELS = 256
_SPECTRUM_CHANNELS = 3005
_SPECTRA = ["lh", "theta", "ln", "lr", "phi"]
_END = 2**31 - 1


def split_hibari(model: bytes) -> dict[str, bytes]:
    """Cut the graph of a hibari voice into ``plan.onnx`` and ``decoder.onnx``; pure and deterministic.

    Args:
        model: The voice's ONNX file, ``hibari/assets/hibari.onnx`` in the package.

    Returns:
        File names and contents.

    Raises:
        ValueError: The file is no ONNX model, or not the graph that this knows how to cut.
    """
    graph = _Graph(_parse(model))
    return {"plan.onnx": _plan(graph), "decoder.onnx": _decoder(graph)}


def _parse(model: bytes) -> ModelProto:
    try:
        parsed = onnx.load_model_from_string(model)
    except DecodeError as error:
        raise ValueError("not a hibari model: the file is no ONNX graph") from error
    inputs = [value.name for value in parsed.graph.input]
    outputs = [value.name for value in parsed.graph.output]
    if inputs != ["ids", "speed"] or outputs != [*_SPECTRA, "f0"]:
        raise ValueError("not a hibari model: inputs or outputs of the graph are not ids, speed -> lh ... phi, f0")
    return parsed


class _Graph:
    """The parsed graph with the look-ups that cutting needs; each rejects unknown parts."""

    def __init__(self, model: ModelProto) -> None:
        self.model = model
        self.nodes = list(model.graph.node)
        self.shapes = {weight.name: list(weight.dims) for weight in model.graph.initializer}

    def only(self, kind: str, *reads: str) -> NodeProto:
        """The one node of this kind that reads these tensors."""
        found = [n for n in self.nodes if n.op_type == kind and set(reads) <= set(n.input)]
        if len(found) != 1:
            raise ValueError(f"not the hibari graph known: {len(found)} nodes {kind} read {', '.join(reads) or 'it'}")
        node: NodeProto = found[0]
        return node

    def convolution(self, layer: str, weight_shape: list[int]) -> NodeProto:
        """The convolution of the decoder with this name: stride 1, no dilation, padded to keep its length."""
        weight = f"m.{layer}.weight"
        node = self.only("Conv", weight)
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        known = {"pads": [SIDE_FRAMES, SIDE_FRAMES], "dilations": [1], "strides": [1]}
        if self.shapes.get(weight) != weight_shape or any(
            attributes.get(name) != value for name, value in known.items()
        ):
            raise ValueError(f"not the hibari graph known: convolution {layer} has another shape")
        return node

    def cut(self, nodes: Iterable[NodeProto], inputs: list[ValueInfoProto], outputs: list[ValueInfoProto]) -> bytes:
        """A model of those of the nodes (in order) that lie between the inputs and the outputs."""
        given, wanted = {value.name for value in inputs}, {value.name for value in outputs}
        kept: list[NodeProto] = []
        for node in reversed(list(nodes)):
            if wanted.intersection(node.output) - given:
                kept.append(node)
                wanted.update(node.input)
        weights = [weight for weight in self.model.graph.initializer if weight.name in wanted]
        graph = helper.make_graph(kept[::-1], "hibari", inputs, outputs, weights)
        model = helper.make_model(graph, opset_imports=self.model.opset_import, ir_version=self.model.ir_version)
        try:
            onnx.checker.check_model(model)
        except onnx.checker.ValidationError as error:
            raise ValueError("not the hibari graph known: its parts do not hold together") from error
        return bytes(model.SerializeToString(deterministic=True))


def _plan(graph: _Graph) -> bytes:
    entry = graph.convolution("dec_in", [_CHANNELS, _HIDDEN_CHANNELS, _KERNEL])
    names = {graph.only("CumSum").input[0]: "durations", entry.input[0]: "hidden"}
    inputs = [_value("ids", [1, "L"], TensorProto.INT64), _value("speed", [1])]
    outputs = [
        _value("durations", ["L"], TensorProto.INT64),
        _value("hidden", [1, _HIDDEN_CHANNELS, "F"]),
        _value("f0", [1, "F"]),
    ]
    return graph.cut(_renamed(graph.nodes, names), inputs, outputs)


def _decoder(graph: _Graph) -> bytes:
    entry = graph.convolution("dec_in", [_CHANNELS, _HIDDEN_CHANNELS, _KERNEL])
    if f"m.dec.{NUM_LAYERS}.dw.weight" in graph.shapes:
        raise ValueError(f"not the hibari graph known: more than {NUM_LAYERS} layers in the decoder")
    lefts = [f"left.{layer}" for layer in range(NUM_LAYERS)]
    lasts = [f"last.{layer}" for layer in range(NUM_LAYERS)]
    replacing = {entry.output[0]: [_unpadded(entry, entry.input[0])]}
    for layer in range(NUM_LAYERS):
        replacing |= _carried(graph, layer)
    nodes = [*_slice_bounds(), helper.make_node("Split", ["left"], lefts, axis=0)]
    for node in graph.nodes:
        nodes += replacing.get(node.output[0], [node])
    nodes.append(helper.make_node("Concat", lasts, ["left_next"], axis=0))
    inputs = [
        _value("hidden", [1, _HIDDEN_CHANNELS, "N"]),
        _value("left", [NUM_LAYERS, _CHANNELS, "K"]),
        _value("right", [1, _CHANNELS, "R"]),
    ]
    outputs = [
        _value("spectra", [1, "M", _SPECTRUM_CHANNELS]),
        _value("left_next", [NUM_LAYERS, _CHANNELS, 2 * SIDE_FRAMES]),
    ]
    names = {entry.input[0]: "hidden", _frame_major_spectra(graph): "spectra"}
    return graph.cut(_renamed(nodes, names), inputs, outputs)


def _frame_major_spectra(graph: _Graph) -> str:
    """The tensor [1, F, 3005] that the graph transposes and splits into its outputs."""
    split = graph.only("Split")
    makers = [node for node in graph.nodes if split.input[0] in node.output]
    if list(split.output) != _SPECTRA or [node.op_type for node in makers] != ["Transpose"]:
        raise ValueError("not the hibari graph known: its spectra are made in another way")
    return str(makers[0].input[0])


def _carried(graph: _Graph, layer: int) -> dict[str, list[NodeProto]]:
    """Return the nodes that replace a layer's convolution and closing sum, keyed by their outputs.

    The layer's input stands between its last inputs (``left``) and the zeros at the sentence's end (``right``);
    the convolution pads no more, and the sum takes the frames that the convolution gives.
    """
    convolution = graph.convolution(f"dec.{layer}.dw", [_CHANNELS, 1, _KERNEL])
    given = convolution.input[0]
    closing = graph.only("Add", given)
    seen, last, window, skip = (f"{name}.{layer}" for name in ("seen", "last", "window", "skip"))
    before = [
        helper.make_node("Concat", [f"left.{layer}", given], [seen], axis=2),
        helper.make_node("Slice", [seen, "slice.last", "slice.end", "slice.axis"], [last]),
        helper.make_node("Concat", [seen, "right"], [window], axis=2),
        helper.make_node("Slice", [window, "slice.side", "slice.inner", "slice.axis"], [skip]),
    ]
    return {
        convolution.output[0]: [*before, _unpadded(convolution, window)],
        closing.output[0]: list(_renamed([closing], {given: skip})),
    }


def _slice_bounds() -> list[NodeProto]:
    bounds = {"last": -2 * SIDE_FRAMES, "end": _END, "side": SIDE_FRAMES, "inner": -SIDE_FRAMES, "axis": 2}
    return [helper.make_node("Constant", [], [f"slice.{name}"], value_ints=[value]) for name, value in bounds.items()]


def _unpadded(convolution: NodeProto, reads: str) -> NodeProto:
    copied = NodeProto()
    copied.CopyFrom(convolution)
    copied.input[0] = reads
    for attribute in copied.attribute:
        if attribute.name == "pads":
            attribute.ints[:] = [0, 0]
    return copied


def _renamed(nodes: Iterable[NodeProto], names: Mapping[str, str]) -> Iterable[NodeProto]:
    for node in nodes:
        copied = NodeProto()
        copied.CopyFrom(node)
        copied.input[:] = [names.get(name, name) for name in node.input]
        copied.output[:] = [names.get(name, name) for name in node.output]
        yield copied


def _value(name: str, shape: list[int | str], kind: int = TensorProto.FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)
