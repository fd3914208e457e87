"""Operators that move elements, and those of shapes, which are evaluated where they are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import linear
from tir_mlir.graph.importers.emitter import OnnxValue, Operand, Size, axis_in, known_sizes, static_size
from tir_mlir.graph.importers.layers import sized_range
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import (
    Input,
    OnnxEmitter,
    all_known,
    dtype_of,
    onnx_op,
    rank_of,
)
from tir_mlir.graph.importers.onnx_operators.onnx_tensors import array_of, check_bytes
from tir_mlir.topi.sizes import simple

if TYPE_CHECKING:
    import onnx

    from tir_mlir import te
    from tir_mlir.graph.builder import Value

_END = 2**31 - 1


@onnx_op("Constant")
def constant(
    e: OnnxEmitter,
    value: onnx.TensorProto | None = None,
    value_float: float | None = None,
    value_int: int | None = None,
    **lists: Sequence[float],
) -> np.ndarray:
    if value is not None:
        return array_of(value)
    if value_float is not None or value_int is not None:
        return np.asarray(value_float, "float32") if value_int is None else np.asarray(value_int, "int64")
    for name, dtype in (("value_floats", "float32"), ("value_ints", "int64")):
        if name in lists:
            return np.asarray(lists[name], dtype)
    raise GraphError("a constant of strings, or a sparse one, is not supported")


@onnx_op("Shape")
def shape(e: OnnxEmitter, x: OnnxValue, start: int = 0, end: int | None = None) -> np.ndarray:
    return _sizes(e.sizes(x.shape)[start:end])


@onnx_op("Size")
def size(e: OnnxEmitter, x: OnnxValue) -> np.ndarray:
    return _sizes([math.prod(e.sizes(x.shape))]).reshape(())


def _sizes(values: Sequence[te.Expr | int]) -> np.ndarray:
    if all(isinstance(v, int) for v in values):
        return np.asarray(values, "int64")
    array = np.empty(len(values), object)
    array[:] = values
    return array


@onnx_op("Reshape")
def reshape(e: OnnxEmitter, x: OnnxValue, shape_input: OnnxValue, allowzero: int = 0) -> OnnxValue:
    sizes = e.known_sizes(shape_input, "the shape of a Reshape")
    zeros = [] if allowzero else [n for n, size in enumerate(sizes) if _equals_number(size, 0)]
    if zeros and zeros[-1] >= rank_of(x):
        raise GraphError(
            f"the size 0 of axis {zeros[-1]} stands for that of the input, which has {rank_of(x)} axes\n"
            "  fix: write the size"
        )
    shape = [x.shape[n] if n in zeros else size for n, size in enumerate(sizes)]
    if isinstance(x, np.ndarray):
        return x.reshape([static_size(s, "the shape of a constant") for s in shape])
    if any(_equals_number(size, 0) for size in shape):
        return e.broadcast(e.constant(0, x.dtype), _empty_shape(x, shape))
    return e.op("reshape", x, shape=tuple(shape))


def _empty_shape(x: Value, sizes: Sequence[Size]) -> list[Size]:
    """The shape of a tensor without elements; -1 is what is left, so none."""
    if math.prod(s for s in x.shape if isinstance(s, int)) != 0:
        raise GraphError(f"the shape {sizes} for {x.shape}, which has elements\n  fix: a shape of as many elements")
    return [0 if _equals_number(size, -1) else size for size in sizes]


def _equals_number(value: object, number: int) -> bool:
    return isinstance(value, int) and value == number


@onnx_op("Flatten")
def flatten(e: OnnxEmitter, x: OnnxValue, axis: int = 1) -> Value:
    x = e.value(x)
    axis = axis if axis >= 0 else axis + len(x.shape)
    return e.op("reshape", x, shape=(math.prod(e.sizes(x.shape[:axis])), -1))


@onnx_op("Transpose")
def transpose(e: OnnxEmitter, x: OnnxValue, perm: Sequence[int] | None = None) -> Value:
    x = e.value(x)
    return e.permute(x, list(perm or range(len(x.shape))[::-1]))


@onnx_op("Squeeze")
def squeeze(e: OnnxEmitter, x: OnnxValue, axes_input: Input = None, axes: Sequence[int] | None = None) -> OnnxValue:
    """The axes are an input since opset 13."""
    raw_axes = axes if axes_input is None else e.known_integers(axes_input, "the axes of a Squeeze")
    rank = rank_of(x)
    drop = (
        [n for n, s in enumerate(x.shape) if _equals_number(s, 1)]
        if raw_axes is None
        else [axis_in(a, rank) for a in raw_axes]
    )
    new_shape = [s for n, s in enumerate(x.shape) if n not in drop]
    return x.reshape(new_shape) if isinstance(x, np.ndarray) else e.reshape(x, new_shape)


@onnx_op("Unsqueeze")
def unsqueeze(e: OnnxEmitter, x: OnnxValue, axes_input: Input = None, axes: Sequence[int] | None = None) -> OnnxValue:
    raw_axes = axes or () if axes_input is None else e.known_integers(axes_input, "the axes of an Unsqueeze")
    rank = rank_of(x) + len(raw_axes)
    new = {axis_in(a, rank) for a in raw_axes}
    old = iter(x.shape)
    new_shape = [1 if n in new else next(old) for n in range(rank)]
    return x.reshape(new_shape) if isinstance(x, np.ndarray) else e.reshape(x, new_shape)


@onnx_op("Expand")
def expand(e: OnnxEmitter, x: OnnxValue, shape_input: OnnxValue) -> Value:
    x = e.value(x)
    sizes = e.texts(e.known_elements(shape_input, "the shape of an Expand"))
    rank = max(len(sizes), len(x.shape))
    lhs, rhs = [1] * (rank - len(x.shape)) + list(x.shape), [1] * (rank - len(sizes)) + sizes
    return e.broadcast(x, [b if _equals_number(a, 1) else a for a, b in zip(lhs, rhs, strict=True)])


@onnx_op("Concat")
def concat(e: OnnxEmitter, *parts: OnnxValue, axis: int) -> OnnxValue:
    if all_known(parts) and rank_of(parts[0]) == 1:
        return np.concatenate(parts, axis)
    values = [e.value(p) for p in parts]
    return e.concat(values, axis_in(axis, len(values[0].shape)))


@onnx_op("Split")
def split(
    e: OnnxEmitter,
    x: OnnxValue,
    sizes: Input = None,
    axis: int = 0,
    num_outputs: int | None = None,
    split: Sequence[int] | None = None,
) -> list[Value]:
    """The sizes are an attribute before opset 13; without them, equal parts, the last one smaller."""
    x = e.value(x)
    axis = axis_in(axis, len(x.shape))
    lengths = split if sizes is None else e.known_sizes(sizes, "the sizes of a Split")
    extent, count = x.shape[axis], num_outputs or len(e.results)
    if lengths is None:
        if not isinstance(extent, int):
            raise GraphError(f"a Split of {extent} elements in {count} parts\n  fix: give the sizes of the parts")
        part = -(-extent // count)
        lengths = [max(min(part, extent - n * part), 0) for n in range(count)]
    if len(lengths) != len(e.results):
        raise GraphError(
            f"{len(lengths)} parts, and the node has {len(e.results)} outputs\n  fix: an output for each part"
        )
    numbers = known_sizes(lengths)
    if numbers is not None and isinstance(extent, int) and (sum(numbers) != extent or min(numbers) < 0):
        raise GraphError(f"parts of {lengths} elements of {extent}\n  fix: parts whose sum is {extent}")
    if len(lengths) == 1:
        return [x]
    ends = [sum(lengths[: n + 1]) for n in range(len(lengths) - 1)]
    return list(e.op_results("split", x, indices_or_sections=ends, axis=axis))


@onnx_op("Slice")
def slice_of(
    e: OnnxEmitter,
    x: OnnxValue,
    starts: OnnxValue | Sequence[int] | None = None,
    ends: OnnxValue | Sequence[int] | None = None,
    axes: OnnxValue | Sequence[int] | None = None,
    steps: Input = None,
) -> OnnxValue:
    """The bounds are attributes before opset 10 (lists), inputs since."""
    begin, end = _bounds(e, starts), _bounds(e, ends)
    if begin is None or end is None:
        raise GraphError("a Slice without bounds")
    given, by = _bounds(e, axes), _bounds(e, steps) or [1] * len(begin)
    chosen = [axis_in(static_size(a, "an axis of a Slice"), rank_of(x)) for a in given or range(len(begin))]
    if isinstance(x, np.ndarray) and all(isinstance(bound, int) for bound in (*begin, *end)):
        cut = {a: slice(b, s, d) for a, b, s, d in zip(chosen, begin, end, by, strict=True)}
        return x[tuple(cut.get(a, slice(None)) for a in range(x.ndim))]
    x, stop = e.value(x), [max(min(v, _END), -_END) if isinstance(v, int) else v for v in end]
    whole = []
    for n, (axis, first, last, step) in enumerate(zip(chosen, begin, stop, by, strict=True)):
        if step == 1 and isinstance(x.shape[axis], int) and not (isinstance(first, int) and isinstance(last, int)):
            x = _slice_at_sizes(e, x, axis, first, last)
        else:
            whole.append(n)
    if not whole:
        return x
    axes, begin, stop, by = ([part[n] for n in whole] for part in (chosen, list(begin), stop, by))
    return e.op("strided_slice", x, axes=axes, begin=begin, end=stop, strides=by)


def _bounds(e: OnnxEmitter, given: OnnxValue | Sequence[int] | None) -> Sequence[te.Expr | int] | None:
    return given if given is None or isinstance(given, Sequence) else e.known_sizes(given, "a bound of a Slice")


def _slice_at_sizes(e: OnnxEmitter, x: Value, axis: int, begin: te.Expr | int, end: te.Expr | int) -> Value:
    """x[begin:end] along an axis of a known number of elements, of bounds that are sizes; the graph is made for sizes
    inside of the axis only: where they are beyond, ONNX cuts at the end, and the result has another shape."""
    size = static_size(x.shape[axis], "the axis of a Slice")
    first, last = (_clamp_bound(e, bound, size) for bound in (begin, end))
    if isinstance(first, int) and (isinstance(last, int) or linear(str(e.builder.sizes.text(last)))):
        return e.slice(x, axis, first, last)
    rows = sized_range(e, first, simple(last - first), 1, "int64", e.name)
    return e.op("take", x, rows, axis=axis, mode="clip")


def _clamp_bound(e: OnnxEmitter, bound: te.Expr | int, size: int) -> te.Expr | int:
    """A bound of a Slice as a position in 0..size: a number, or an expression that the graph is limited to."""
    if isinstance(bound, int):
        return min(max(bound + size if bound < 0 else bound, 0), size)
    text, negated = (str(e.builder.sizes.text(b)) for b in (bound, -bound))
    if (solved := linear(negated)) is not None and solved[2] >= 0:  # -n counts from the end, where n is not 0
        e.limit(negated, size)
        e.outermost.size_range(solved[0], 1)
        return simple(bound + size)
    if (solved := linear(text)) is not None and solved[2] >= size:
        return size
    e.limit(text, size)
    return bound


@onnx_op("Gather")
def gather(e: OnnxEmitter, x: OnnxValue, indices: OnnxValue, axis: int = 0) -> OnnxValue:
    """Negative indices count from the end."""
    axis = axis_in(axis, rank_of(x))
    check_indices(indices, x.shape[axis : axis + 1])
    if isinstance(x, np.ndarray) and isinstance(indices, np.ndarray) and (x.dtype == object or x.ndim == 1):
        return np.asarray(np.take(x, indices, axis))
    return e.op("take", x, indices, axis=axis, mode="wrap")


def check_indices(indices: OnnxValue, sizes: Sequence[Size], by_column: bool = False) -> None:
    """Refuse constant indices outside of an axis. sizes: those of one axis for all indices, or of one for each index
    along their last axis (by_column, or several)."""
    if not isinstance(indices, np.ndarray) or indices.dtype == object or not indices.size:
        return
    for n, size in enumerate(sizes):
        column = indices[..., n] if by_column or len(sizes) > 1 else indices
        if isinstance(size, int) and not (-size <= column.min() and column.max() < size):
            wrong = column.max() if column.max() >= size else column.min()
            raise GraphError(f"the index {wrong} of an axis of {size} elements\n  fix: indices in {-size}..{size - 1}")


@onnx_op("GatherElements")
def gather_elements(e: OnnxEmitter, x: OnnxValue, indices: OnnxValue, axis: int = 0) -> Value:
    axis = axis_in(axis, rank_of(x))
    check_indices(indices, x.shape[axis : axis + 1])
    return e.op("gather_elements", x, indices, axis=axis)


@onnx_op("GatherND")
def gather_nd(e: OnnxEmitter, x: OnnxValue, indices: OnnxValue, batch_dims: int = 0) -> Value:
    """The elements, or slices, of x at indices along the last axis."""
    if isinstance(indices, np.ndarray) and indices.ndim:
        check_indices(indices, x.shape[batch_dims : batch_dims + indices.shape[-1]])
    return e.op("gather_nd", x, indices, batch_dims=batch_dims)


@onnx_op("Tile")
def tile(e: OnnxEmitter, x: OnnxValue, repeats: OnnxValue) -> Value:
    counts, rank = e.known_sizes(repeats, "the repeats of a Tile"), rank_of(x)
    if len(counts) != rank:
        raise GraphError(f"{len(counts)} repeats of a tensor of {rank} axes\n  fix: {rank} repeats, one for each axis")
    return e.op("tile", x, repeats=counts)


@onnx_op("Pad")
def pad(
    e: OnnxEmitter,
    x: OnnxValue,
    pads_input: Input = None,
    value_input: Input = None,
    axes: Input = None,
    mode: str = "constant",
    pads: Sequence[int] | None = None,
    value: float = 0.0,
) -> Value:
    """The widths, before all axes and then after, and the number are inputs since opset 11."""
    raw_pads = pads or () if pads_input is None else e.known_integers(pads_input, "the widths of a Pad")
    rank = rank_of(x)
    chosen = range(rank) if axes is None else [axis_in(a, rank) for a in e.known_integers(axes, "the axes of a Pad")]
    sides = {a: (raw_pads[n], raw_pads[n + len(raw_pads) // 2]) for n, a in enumerate(chosen)}
    x = e.value(x)
    for axis, (before, after) in sides.items():  # negative widths cut
        if min(before, after) < 0:
            size = static_size(x.shape[axis], "an axis that is cut by a Pad")
            x = e.slice(x, axis, max(-before, 0), size - max(-after, 0))
    widths = [max(w, 0) for a in range(rank) for w in sides.get(a, (0, 0))]
    if mode == "wrap":
        return _wrap_pad(e, x, widths)
    if mode not in ("constant", "reflect", "edge"):
        raise GraphError(f"a Pad of mode {mode} is not supported\n  fix: constant, reflect, edge or wrap")
    if mode == "constant" and value_input is not None and not isinstance(value_input, np.ndarray):
        return _pad_with_tensor(e, x, widths, e.op("reshape", value_input, shape=()))
    number = value if value_input is None else e.known_numbers(value_input, "the number of a Pad")[0]
    return e.op("nn.pad", x, pad_width=widths, pad_value=number if mode == "constant" else None, pad_mode=mode)


def _wrap_pad(e: OnnxEmitter, x: Value, widths: list[int]) -> Value:
    """x with its other end before and behind it, along each axis."""
    for axis, (before, after) in enumerate(zip(widths[::2], widths[1::2], strict=True)):
        if before or after:
            size = static_size(x.shape[axis], "an axis that is wrapped")
            x = e.op("take", x, np.arange(-before, size + after) % size, axis=axis)
    return x


def _pad_with_tensor(e: OnnxEmitter, x: Value, widths: list[int], number: Value) -> Value:
    """x with a number that is data around it."""
    if x.dtype == "bool":
        raise GraphError(
            "a Pad of bools with a number that is data is not supported\n  fix: make the number a constant"
        )
    inside = e.op("nn.pad", e.op("ones_like", x), pad_width=widths, pad_value=0)
    inner = e.op("nn.pad", x, pad_width=widths, pad_value=0)
    return e.op("where", e.binary("greater", inside, 0, x.dtype), inner, number)


@onnx_op("DepthToSpace")
def depth_to_space(e: OnnxEmitter, x: OnnxValue, blocksize: int, mode: str = "DCR") -> Value:
    n, c, h, w = _image(e, x)
    b = _block(blocksize, {"channels": (c, blocksize**2)})
    inner = (b, b, c // b**2) if mode == "DCR" else (c // b**2, b, b)
    order = [0, 3, 4, 1, 5, 2] if mode == "DCR" else [0, 1, 4, 2, 5, 3]
    x = e.permute(e.op("reshape", x, shape=(n, *inner, h, w)), order)
    return e.op("reshape", x, shape=(n, c // b**2, h * b, w * b))


@onnx_op("SpaceToDepth")
def space_to_depth(e: OnnxEmitter, x: OnnxValue, blocksize: int) -> Value:
    n, c, h, w = _image(e, x)
    b = _block(blocksize, {"rows": (h, blocksize), "columns": (w, blocksize)})
    x = e.permute(e.op("reshape", x, shape=(n, c, h // b, b, w // b, b)), [0, 3, 5, 1, 2, 4])
    return e.op("reshape", x, shape=(n, c * b**2, h // b, w // b))


def _image(e: OnnxEmitter, x: OnnxValue) -> list[te.Expr | int]:
    if rank_of(x) != 4:
        raise GraphError(f"an image of {rank_of(x)} axes\n  fix: the 4 axes n, c, h, w")
    return e.sizes(x.shape)


def _block(blocksize: int, parted: dict[str, tuple[te.Expr | int, int]]) -> int:
    """The size of a block, if it is positive and the sizes that it parts are multiples of their factors."""
    if blocksize < 1:
        raise GraphError(f"blocksize={blocksize}\n  fix: a block of at least 1")
    for what, (size, factor) in parted.items():
        if isinstance(size, int) and size % factor:
            raise GraphError(
                f"blocksize={blocksize}: {size} {what} are not multiples of {factor}\n  fix: one that parts them"
            )
    return blocksize


@onnx_op("ConstantOfShape")
def constant_of_shape(e: OnnxEmitter, shape_input: OnnxValue, value: onnx.TensorProto | None = None) -> OnnxValue:
    number = np.zeros(1, "float32") if value is None else array_of(value)
    sizes = e.known_sizes(shape_input, "the shape of a ConstantOfShape")
    if negative := [size for size in sizes if isinstance(size, int) and size < 0]:
        raise GraphError(f"the size {negative[0]} in the shape {sizes}\n  fix: sizes from 0 on")
    if (numbers := known_sizes(sizes)) is not None:
        check_bytes(tuple(numbers), number.dtype)
        return np.full(numbers, number.item(), number.dtype)
    return e.broadcast(e.constant(number.reshape(()), number.dtype.name), e.texts(sizes))


@onnx_op("Range")
def span(e: OnnxEmitter, start: OnnxValue, limit: OnnxValue, delta: OnnxValue) -> OnnxValue:
    """start, start + delta, ... below limit."""
    first, last, step = (e.known_elements(v, "a bound of a Range")[0] for v in (start, limit, delta))
    if isinstance(first, (int, float)) and isinstance(last, (int, float)) and isinstance(step, (int, float)):
        if step == 0:
            raise GraphError(f"a Range from {first} to {last} of step 0\n  fix: another step")
        check_bytes((max(math.ceil((last - first) / step), 0),), dtype_of(start))
        return np.arange(first, last, step).astype(dtype_of(start))
    if step != 1 or isinstance(first, float) or isinstance(last, float):
        raise GraphError(f"a Range of step {step} to a size is not supported\n  fix: make this dimension static")
    return sized_range(e, first, simple(last - first), 1, "int64", e.name)


@onnx_op("Trilu")
def triangle(e: OnnxEmitter, x: Operand, k: Input = None, upper: int = 1) -> Value:
    """The part of x above a diagonal, or below; 0 elsewhere."""
    offset = 0 if k is None else e.known_integer(k, "the diagonal of a Trilu")
    return e.op("triu" if upper else "tril", x, k=offset)


@onnx_op("OneHot")
def one_hot(e: OnnxEmitter, indices: OnnxValue, depth: OnnxValue, values: OnnxValue, axis: int = -1) -> Value:
    """Negative indices count from the end."""
    off, on = e.known_numbers(values, "the values of a OneHot")
    count, positions = e.known_integer(depth, "the depth of a OneHot"), e.value(indices)
    positions = e.cast(positions, "int64") if positions.dtype[:3] not in ("int", "uin") else positions
    positions = e.op("where", e.binary("less", positions, 0, positions.dtype), e.add(positions, count), positions)
    hot = e.op("one_hot", positions, depth=count, axis=axis, dtype="bool")
    dtype = dtype_of(values)
    return e.op("where", hot, e.constant(on, dtype), e.constant(off, dtype))
