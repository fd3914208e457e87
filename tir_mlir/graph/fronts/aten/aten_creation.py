"""Tensors made of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tir_mlir.graph.fronts.aten.aten_table import aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.emitter import is_number
from tir_mlir.graph.fronts.layers.sized_ranges import sized_range


def filled(e: TorchEmitter, value: Any) -> Any:
    """A tensor of the shape and type of torch's result, of one number."""
    return e.broadcast(e.cast(value, e.dtype), e.shape)


@aten("full", "full_like", "new_full")
def full(e: TorchEmitter, fill_value: Any, **_: Any) -> Any:
    return filled(e, fill_value)


@aten("zeros", "zeros_like", "new_zeros", "empty.memory_format", "empty_like", "new_empty")
def zeros(e: TorchEmitter, **_: Any) -> Any:
    """Uninitialized tensors are zero, too."""
    return filled(e, 0)


@aten("ones", "ones_like", "new_ones")
def ones(e: TorchEmitter, **_: Any) -> Any:
    return filled(e, 1)


@aten("scalar_tensor")
def number(e: TorchEmitter, s: Any, dtype: Any = None) -> Any:
    return e.cast(s, e.dtype)


@aten("arange.default", "arange.start", "arange.start_step")
def arange(e: TorchEmitter, end: Any, start: Any = 0, step: Any = 1, dtype: Any = None) -> Any:
    if all(isinstance(v, (int, float)) for v in (start, end, step)):
        (count,) = e.shape
        values = start + step * np.arange(count)
        return e.constant(values, e.dtype)
    return _symbolic_range(e, start, end, step)


def _symbolic_range(e: TorchEmitter, start: Any, end: Any, step: Any) -> Any:
    """start, start + step, .., as many as torch says. A function knows the sizes of its operands and its result: others
    need an operand that has them."""
    (count,) = e.shape
    if is_number(start, 0) and is_number(step, 1) and end == count and str(count).isidentifier():
        return e.op("arange", end={"size": end}, dtype=e.dtype)
    read = e.builder.sizes.expression
    begin, extent, by = (read(v) if isinstance(v, str) else v for v in (start, count, step))
    return sized_range(e, begin, extent, by, e.dtype, e.node.name)


@aten("linspace")
def linspace(e: TorchEmitter, start: Any, end: Any, steps: int, dtype: Any = None) -> Any:
    return e.constant(np.linspace(start, end, steps), e.dtype)


@aten("eye.default", "eye.m")
def eye(e: TorchEmitter, n: int, m: Any = None, dtype: Any = None) -> Any:
    return e.constant(np.eye(n, m), e.dtype)


@aten("tril")
def lower_triangle(e: TorchEmitter, x: Any, diagonal: int = 0) -> Any:
    return _triangle(e, "tril", x, diagonal)


@aten("triu")
def upper_triangle(e: TorchEmitter, x: Any, diagonal: int = 0) -> Any:
    return _triangle(e, "triu", x, diagonal)


def _triangle(e: TorchEmitter, kind: str, x: Any, diagonal: int) -> Any:
    return e.op(kind, x, k=diagonal)
