"""An ONNX graph run by onnxruntime on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from yuliu.errors import SynthesisFailed, VoiceNotReady

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_RUN_ERRORS = (
    RuntimeError,
    ValueError,
    ort_errors.EPFail,
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
)
_LOAD_ERRORS = (
    *_RUN_ERRORS,
    OSError,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NoModel,
    ort_errors.NoSuchFile,
)


class OnnxGraph:
    """One ONNX model; its threads do not spin, so an idle voice costs nothing.

    Args:
        path: The ``.onnx`` file.
        num_threads: Threads that kernels may use during a call.

    Raises:
        VoiceNotReady: The file is missing, or is no model that onnxruntime can run.
    """

    def __init__(self, path: Path, *, num_threads: int = 1) -> None:
        self._name = path.name
        options = ort.SessionOptions()
        options.intra_op_num_threads = num_threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        try:
            self._session = ort.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])
        except _LOAD_ERRORS as error:
            raise VoiceNotReady(
                f"{path.name} cannot be loaded: pull the voice again with `yuliu voices pull`"
            ) from error

    @property
    def input_shapes(self) -> dict[str, list[int | str]]:
        """The shape of each input by its name; a dimension that may vary has a name, too."""
        return {value.name: list(value.shape) for value in self._session.get_inputs()}

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """All outputs of the graph, in its order.

        Raises:
            SynthesisFailed: An operator failed.
        """
        try:
            return list(self._session.run(None, dict(inputs)))
        except _RUN_ERRORS as error:
            raise SynthesisFailed(
                f"{self._name} failed on its input; this is a fault of the engine or the voice"
            ) from error
