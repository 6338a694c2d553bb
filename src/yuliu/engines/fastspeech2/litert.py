"""A TFLite graph run by LiteRT, resized to whatever input comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from yuliu.errors import SynthesisFailed, VoiceNotReady

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


class LiteRtGraph:
    """One TFLite model. It keeps the buffers of the last call and is therefore owned by one thread.

    Args:
        path: The ``.tflite`` file.
        num_threads: Threads that kernels may use during a call.

    Raises:
        VoiceNotReady: The file is missing, or is no model that LiteRT can run.
    """

    def __init__(self, path: Path, *, num_threads: int = 1) -> None:
        try:
            # By content: truncating a file that LiteRT has mapped would end the process.
            self._interpreter = Interpreter(model_content=path.read_bytes(), num_threads=num_threads)
        except (OSError, ValueError, RuntimeError) as error:
            raise VoiceNotReady(
                f"{path.name} cannot be loaded: pull the voice again with `yuliu voices pull`"
            ) from error
        self._inputs = [int(tensor["index"]) for tensor in self._interpreter.get_input_details()]
        self._outputs = [int(tensor["index"]) for tensor in self._interpreter.get_output_details()]
        self._shapes: list[tuple[int, ...]] = []

    def run(self, inputs: Sequence[NDArray[np.generic]], wanted: Sequence[int]) -> list[NDArray[np.generic]]:
        """Run the graph once.

        Args:
            inputs: An array for each input of the graph, in its order.
            wanted: Which outputs to give, by their number in the graph's order.

        Returns:
            Copies of the outputs wanted.

        Raises:
            SynthesisFailed: An operator failed.
        """
        try:
            self._fit([array.shape for array in inputs])
            for index, array in zip(self._inputs, inputs, strict=True):
                self._interpreter.set_tensor(index, array)
            self._interpreter.invoke()
            return [np.asarray(self._interpreter.get_tensor(self._outputs[at])) for at in wanted]
        except (ValueError, RuntimeError) as error:
            self._shapes = []  # a failed call may leave tensors half resized
            raise SynthesisFailed(
                "the model failed on its input; this is a fault of the engine or the voice"
            ) from error

    def _fit(self, shapes: list[tuple[int, ...]]) -> None:
        if shapes == self._shapes:
            return
        for index, shape in zip(self._inputs, shapes, strict=True):
            self._interpreter.resize_tensor_input(index, shape)
        self._interpreter.allocate_tensors()
        self._shapes = shapes
