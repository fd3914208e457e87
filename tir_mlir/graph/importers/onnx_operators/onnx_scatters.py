"""Operators that write to positions that are data, or put elements in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.emitter import Attribute, OnnxValue, Operand, Size, axis_in, static_size
from tir_mlir.graph.importers.onnx_operators.onnx_data_sizes import select_by_condition
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, onnx_op, rank_of
from tir_mlir.graph.importers.onnx_operators.onnx_shapes import check_indices

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value

_REDUCTIONS = {"none": "update", "add": "add", "mul": "mul", "min": "min", "max": "max"}


def _reduction(name: str) -> str:
    if name not in _REDUCTIONS:
        raise GraphError(f"reduction={name}\n  fix: one of {', '.join(_REDUCTIONS)}")
    return _REDUCTIONS[name]


@onnx_op("ScatterElements", "Scatter")
def scatter_elements(
    e: OnnxEmitter, x: OnnxValue, indices: OnnxValue, updates: OnnxValue, axis: int = 0, reduction: str = "none"
) -> Value:
    axis = axis_in(axis, rank_of(x))
    check_indices(indices, x.shape[axis : axis + 1])
    return _scatter_with_reduction(e, "scatter_elements", x, indices, updates, reduction, axis=axis, key="reduction")


@onnx_op("ScatterND")
def scatter_nd(e: OnnxEmitter, x: OnnxValue, indices: OnnxValue, updates: OnnxValue, reduction: str = "none") -> Value:
    if isinstance(indices, np.ndarray) and indices.ndim:
        check_indices(indices, x.shape[: indices.shape[-1]], by_column=True)
    return _scatter_with_reduction(e, "scatter_nd", x, indices, updates, reduction, key="mode")


def _scatter_with_reduction(
    e: OnnxEmitter,
    operator: str,
    x: OnnxValue,
    indices: Operand,
    updates: OnnxValue,
    reduction: str,
    key: str,
    **attrs: Attribute,
) -> Value:
    """The operator; of bools a sum is "or" and a product "and"."""
    kind, x, updates = _reduction(reduction), e.value(x), e.value(updates)
    if x.dtype != "bool" or kind == "update":
        return e.op(operator, x, indices, updates, **attrs, **{key: kind})
    numbers = [e.cast(v, "uint8") for v in (x, updates)]
    kind = "max" if kind in ("add", "max") else "min"
    return e.cast(e.op(operator, numbers[0], indices, numbers[1], **attrs, **{key: kind}), "bool")


@onnx_op("TensorScatter")
def tensor_scatter(
    e: OnnxEmitter, past: OnnxValue, update: OnnxValue, positions: Input = None, axis: int = -2, mode: str = "linear"
) -> Value:
    """A cache with rows written from a position on, one for each batch; "circular": modulo its length."""
    past, update = e.value(past), e.value(update)
    axis, batch = axis_in(axis, len(past.shape)), past.shape[0]
    count = static_size(update.shape[axis], "the number of rows that are written")
    begins = e.constant(np.zeros(1), "int64") if positions is None else e.cast(e.value(positions), "int64")
    rows = e.op("add", e.reshape(begins, (begins.shape[0], 1)), e.constant(np.arange(count), "int64"))
    if mode == "circular":
        rows = e.binary("floor_mod", rows, static_size(past.shape[axis], "the length of a circular cache"), "int64")
    shape: list[Size] = [1] * len(past.shape)
    shape[0], shape[axis] = begins.shape[0], count
    indices = e.broadcast(e.reshape(rows, shape), [batch, *update.shape[1:]])
    return e.op("scatter_elements", past, indices, update, axis=axis)


@onnx_op("TopK")
def topk(
    e: OnnxEmitter,
    x: Operand,
    count: Input = None,
    axis: int = -1,
    largest: int = 1,
    sorted: int = 1,
    k: int | None = None,
) -> tuple[Value, ...]:
    """The count is an attribute before opset 10."""
    number = k if count is None else e.known_integer(count, "the count of a TopK")
    return e.op_results("topk", x, k=number, axis=axis, largest=bool(largest), ret_type="both", dtype="int64")


@onnx_op("ReverseSequence")
def reverse_sequence(
    e: OnnxEmitter, x: OnnxValue, lengths: OnnxValue, batch_axis: int = 1, time_axis: int = 0
) -> Value:
    """The first lengths[b] elements of row b in reverse order."""
    x, rank = e.value(x), rank_of(x)
    time, batch = axis_in(time_axis, rank), axis_in(batch_axis, rank)
    lengths = e.cast(e.value(lengths), "int64")
    wide = [lengths.shape[0] if a == batch else 1 for a in range(rank)]
    steps = np.arange(static_size(x.shape[time], "the time axis of a ReverseSequence"))
    positions = e.constant(steps.reshape([-1 if a == time else 1 for a in range(rank)]), "int64")
    ends = e.reshape(lengths, wide)
    mirrored = e.subtract(e.op("subtract", ends, positions), 1)
    indices = e.op("where", e.op("less", positions, ends), mirrored, positions)
    return e.op("gather_elements", x, e.broadcast(indices, x.shape), axis=time)


@onnx_op("Compress")
def compress(e: OnnxEmitter, x: OnnxValue, condition: OnnxValue, axis: int | None = None) -> Value:
    """The elements, or slices along an axis, at which a condition is true."""
    if not isinstance(condition, np.ndarray):
        return select_by_condition(e, x, condition, axis)
    positions = np.flatnonzero(e.known_integers(condition, "the condition of a Compress"))
    x = e.value(x)
    if axis is None:
        x, axis = e.op("reshape", x, shape=(-1,)), 0
    check_indices(positions, x.shape[axis_in(axis, len(x.shape)) :][:1])
    return e.op("take", x, positions, axis=axis_in(axis, len(x.shape)))


@onnx_op("Hardmax")
def hardmax(e: OnnxEmitter, x: OnnxValue, axis: int | None = None) -> Value:
    """1 at the first maximum of each row, else 0. Before opset 13 all axes from this one on are one row."""
    x, rank = e.value(x), rank_of(x)
    axis = axis_in((-1 if e.opset >= 13 else 1) if axis is None else axis, rank)
    flat = x if e.opset >= 13 else e.op("reshape", x, shape=(*x.shape[:axis], -1))
    positions = e.op("argmax", flat, axis=axis, keepdims=False, dtype="int64")
    depth = static_size(flat.shape[axis], "the axis of a Hardmax")
    return e.reshape(e.op("one_hot", positions, depth=depth, axis=axis, dtype=x.dtype), x.shape)


@onnx_op("EyeLike")
def eye_like(e: OnnxEmitter, x: OnnxValue, k: int = 0, dtype: int | None = None) -> Value:
    import onnx

    rows, columns = (static_size(s, "a size of an EyeLike") for s in x.shape)
    to = onnx.helper.tensor_dtype_to_np_dtype(dtype).name if dtype else e.value(x).dtype
    return e.op("eye", n=rows, m=columns, k=k, dtype=to)


@onnx_op("MaxUnpool")
def max_unpool(
    e: OnnxEmitter,
    x: OnnxValue,
    indices: Operand,
    shape: Input = None,
    kernel_shape: Sequence[int] = (),
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
) -> Value:
    """Each element at its index of the flat image, of the given shape or the smallest one of the window."""
    x, axes = e.value(x), rank_of(x) - 2
    if shape is None:
        strides, pads = strides or [1] * axes, pads or [0] * 2 * axes
        spatial = zip(x.shape[2:], strides, kernel_shape, pads[:axes], pads[axes:], strict=True)
        sizes = [static_size(n, "an image") for n in x.shape[:2]]
        sizes += [(static_size(n, "an image") - 1) * s + k - p - q for n, s, k, p, q in spatial]
    else:
        sizes = e.known_integers(shape, "the shape of a MaxUnpool")
    flat = e.broadcast(e.constant(0, x.dtype), (int(np.prod(sizes)),))
    written = e.op(
        "scatter_elements", flat, e.op("reshape", indices, shape=(-1,)), e.op("reshape", x, shape=(-1,)), axis=0
    )
    return e.reshape(written, sizes)


@onnx_op("Det")
def determinant(e: OnnxEmitter, x: OnnxValue) -> Value:
    """The determinants of square matrices, by elimination with the greatest pivot of each column."""
    x, rank = e.value(x), rank_of(x)
    outer, n = list(x.shape[:-2]), static_size(x.shape[-1], "the rows of a matrix")
    if x.shape[-2] != n or not 0 < n <= 32:
        raise GraphError(f"matrices {x.shape}\n  fix: square ones of up to 32 rows")
    result: Value | None = None
    for size in range(n, 0, -1):
        column = e.reshape(e.slice(x, rank - 1, 0, 1), [*outer, size])
        pivot_index = e.op("argmax", e.op("abs", column), axis=rank - 2, keepdims=False, dtype="int64")
        hot = e.op("one_hot", pivot_index, depth=size, axis=-1, dtype="bool")
        pivot = e.op("sum", e.op("where", hot, column, e.constant(0, x.dtype)), axis=[rank - 2], keepdims=False)
        swapped = e.binary("greater", pivot_index, 0, "int64")
        signed = e.op("where", swapped, e.op("negative", pivot), pivot)
        result = signed if result is None else e.op("multiply", result, signed)
        if size > 1:
            x = _eliminate_pivot(e, x, hot, pivot, outer, size)
    assert result is not None  # of at least one row
    return result


def _eliminate_pivot(e: OnnxEmitter, x: Value, hot: OnnxValue, pivot: Value, outer: Sequence[Size], size: int) -> Value:
    """The rows behind the first one, once it is exchanged with the pivot's and taken out of them."""
    rank = len(outer) + 2
    chosen = e.reshape(hot, [*outer, size, 1])
    row = e.op("sum", e.op("where", chosen, x, e.constant(0, x.dtype)), axis=[rank - 2], keepdims=True)
    first = e.slice(x, rank - 2, 0, 1)
    rest = e.slice(e.op("where", chosen, first, x), rank - 2, 1, size)
    zero = e.binary("equal", pivot, 0, pivot.dtype)
    safe = e.op("where", zero, e.constant(1, x.dtype), pivot)
    factor = e.op("divide", e.slice(rest, rank - 1, 0, 1), e.reshape(safe, [*outer, 1, 1]))
    return e.slice(e.op("subtract", rest, e.op("multiply", factor, row)), rank - 1, 1, size)
