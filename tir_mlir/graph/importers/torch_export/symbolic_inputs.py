"""The sizes of example inputs as symbols of torch: to record a forward whose sizes vary."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from tir_mlir.graph.importers.torch_export.dynamic_sizes import Dimensions


class SymbolicInputs:
    """shapes: of tensors with sizes that vary, by their ids, each such size a symbol of its own."""

    def __init__(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], spec: Any):
        self._env, self.text = ShapeEnv(), ""
        self.shapes: dict[int, tuple[Any, ...]] = {}
        self.tracing: Any = nullcontext()
        """What makes tensors without data that may have such sizes, while it is entered."""
        if spec is None:
            return
        mode = self.tracing = FakeTensorMode(shape_env=self._env)
        dimensions = Dimensions(model, args, kwargs, spec)
        self.text = str(dimensions.shapes) + _limits(dimensions.shapes)
        for number, (tensor, dims) in enumerate(dimensions.leaves()):
            axes = _axes(dims)
            if not isinstance(tensor, torch.Tensor) or not axes:
                continue
            if id(tensor) in self.shapes or not tensor.is_contiguous():
                raise ValueError("a tensor with sizes that vary is given twice, or has strides")
            kinds = [DimDynamic.DYNAMIC if axis in axes else DimDynamic.STATIC for axis in range(tensor.dim())]
            context: Any = StatelessSymbolicContext(dynamic_sizes=kinds)
            source = ConstantSource(f"input_{number}")
            self.shapes[id(tensor)] = tuple(mode.from_tensor(tensor, source=source, symbolic_context=context).shape)

    def conditions(self) -> list[str]:
        """What was asked of the sizes, each with its answer."""
        return [str(guard.expr) for guard in self._env.guards]


def _axes(dims: Any) -> set[int]:
    pairs = dims.items() if isinstance(dims, Mapping) else enumerate(dims or ())
    return {axis for axis, dim in pairs if dim is not None and not isinstance(dim, int)}


def _limits(spec: Any) -> str:
    """The ranges of Dims, which their text may lack."""
    if isinstance(spec, Mapping):
        return "".join(_limits(value) for value in spec.values())
    if isinstance(spec, (tuple, list)):
        return "".join(_limits(value) for value in spec)
    return f" {getattr(spec, 'min', '')}..{getattr(spec, 'max', '')}"
