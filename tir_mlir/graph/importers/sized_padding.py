"""Padding by widths that depend on named sizes: to a multiple of 8, say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.emitter import OperatorEmitter
from tir_mlir.topi.sizes import simple

MODES = ("constant", "edge", "reflect", "wrap")


def pad_by_sizes(e: OperatorEmitter, x: Any, pairs: Sequence[tuple[Any, Any]], mode: str, value: Any, name: str) -> Any:
    """x with elements before and after each axis, a pair for each: numbers, or expressions of named sizes as text.

    mode: "constant" (`value`), "edge", "reflect" or "wrap", as of `nn.pad`. Negative widths cut off. Errors: GraphError
    for another mode, and for a size that no input has.
    """
    if mode not in MODES:
        raise GraphError(f"padding of mode {mode!r} by widths of named sizes\n  fix: one of {', '.join(MODES)}")
    widths = [[e.builder.sizes.expression(width) for width in pair] for pair in pairs]
    carriers = e.carriers([width for pair in pairs for width in pair if isinstance(width, str)])

    def pad_tensor(tensor: te.Tensor, *_: te.Tensor) -> te.Tensor:
        sizes = tensor.shape
        shape = tuple(simple(n + low + high) for n, (low, high) in zip(sizes, widths, strict=True))

        def element(*index: Any) -> Any:
            positions = [i - low for i, (low, _) in zip(index, widths, strict=True)]
            wide = [axis for axis, pair in enumerate(pairs) if tuple(pair) != (0, 0)]
            if mode != "constant":
                return tensor(*(_source(p, sizes[a], mode) if a in wide else p for a, p in enumerate(positions)))
            inside = [test for axis in wide for test in (positions[axis] >= 0, positions[axis] < sizes[axis])]
            return te.if_then_else(te.all(*inside), tensor(*positions), te.cast(value, tensor.dtype))

        return te.compute(shape, element, name="PadInput")

    return e.builder.call_te(pad_tensor, x, *carriers, name_hint=name)


def _source(position: Any, size: Any, mode: str) -> Any:
    """The element that stands at a position outside of 0..size - 1."""
    if mode == "wrap":
        return position % size
    if mode == "reflect":
        position = te.Select(position < 0, 0 - position, position)
        position = te.Select(position > size - 1, (size - 1) * 2 - position, position)
    return te.max(te.min(position, size - 1), 0)
