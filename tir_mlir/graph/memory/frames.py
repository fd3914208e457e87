"""The memory of one run of a model as arrays: what each position of its plan is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tir_mlir.graph import size_code
from tir_mlir.graph.memory.buffer_assignment import INPUT, OUTPUT, WEIGHT, BufferSlot, ExecutionPlan

if TYPE_CHECKING:
    import torch

Array: TypeAlias = "np.ndarray | torch.Tensor"
"""An array of a caller."""
Runner: TypeAlias = "Callable[[Sequence[Array]], Any]"
"""What runs a model on its inputs, and returns the output, or a tuple of several."""


class ArrayFrame:
    """The arrays of a run: inputs and outputs as given, and views of the buffers of weights and of the arena."""

    def __init__(
        self,
        plan: ExecutionPlan,
        sizes: Mapping[str, int],
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        weights: np.ndarray,
        arena: np.ndarray,
    ):
        self.sizes = sizes
        self._spaces = {INPUT: list(map(as_array, inputs)), OUTPUT: list(map(as_array, outputs))}
        self._weights, self._arena = weights, arena
        self._offsets = plan.arena.layout(sizes)[0]

    def array(self, storage: BufferSlot) -> np.ndarray:
        """The array of a position, without a copy."""
        shape = tuple(size_code.value(size, self.sizes) for size in storage.type.shape)
        if storage.space in self._spaces:
            return self._spaces[storage.space][storage.index].reshape(shape)
        dtype = numpy_type(storage.type.dtype)
        base = self._weights if storage.space == WEIGHT else self._arena
        start = storage.index if storage.space == WEIGHT else self._offsets[storage.index]
        size = int(np.prod(shape)) * dtype.itemsize
        return base[start : start + size].view(dtype).reshape(shape)


def numpy_type(name: str) -> np.dtype:
    """The NumPy type of an element type; bfloat16 as its bits."""
    return np.dtype("uint16" if name == "bfloat16" else name)


def as_array(value: Array) -> np.ndarray:
    """A NumPy view of an array or tensor."""
    return value if isinstance(value, np.ndarray) else np.from_dlpack(value)
