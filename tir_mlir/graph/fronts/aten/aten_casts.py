"""Conversions of element types; copies and checks, which a graph does not need."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.fronts.aten.aten_table import aten, same
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter


@aten("to.dtype", "to.dtype_layout", "to.device", "to.other", "_to_copy", "type_as", "float", "half", "int", "long")
def to_type(e: TorchEmitter, x: Any, dtype: Any = None, other: Any = None) -> Any:
    return e.cast(x, e.dtype)


aten("clone", "contiguous", "alias", "detach", "detach_", "lift_fresh_copy", "lift", "lift_fresh", "positive")(same)


@aten("_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range", "sym_size", "sym_numel")
def check(e: TorchEmitter, **_: Any) -> Any:
    """A check of torch's own of what the export has fixed."""
    return None


@aten("copy")
def copy(e: TorchEmitter, x: Any, src: Any) -> Any:
    """src in the type and shape of x."""
    return e.broadcast(e.cast(src, e.dtype), e.shape)
