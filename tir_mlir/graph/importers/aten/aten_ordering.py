"""Elements in order: the greatest, the middle, the most frequent, and positions in what is in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.graph.importers.aten.aten_table import Translation, aten
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.importers.data_sizes import number_from_data
from tir_mlir.graph.importers.emitter import FLOATS, axis_in, static_size

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value
    from tir_mlir.graph.size_code import Size


@aten("topk")
def topk(e: TorchEmitter, x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> list[Value]:
    """In order, whether or not torch is asked for it."""
    return first_sorted(e, x, k, dim, largest)


@aten("sort.default", "sort.stable")
def sort(e: TorchEmitter, x: Value, dim: int = -1, descending: bool = False, stable: bool | None = None) -> list[Value]:
    return first_sorted(e, x, x.shape[dim] if x.shape else 1, dim, descending)


@aten("argsort.default", "argsort.stable")
def argsort(e: TorchEmitter, x: Value, dim: int = -1, descending: bool = False, stable: bool | None = None) -> Value:
    return sort(e, x, dim, descending)[1]


def first_sorted(e: TorchEmitter, x: Value, k: Size, dim: int, largest: bool) -> list[Value]:
    """The first k elements in order and their positions, int64; of a tensor without axes itself. k: a size."""
    if not x.shape:
        return [e.reshape(part, ()) for part in first_sorted(e, e.reshape(x, (1,)), k, 0, largest)]
    count = {"size": k} if isinstance(k, str) else k
    return list(e.op_results("topk", x, k=count, axis=axis_in(dim, len(x.shape)), largest=largest, dtype="int64"))


@aten("kthvalue")
def kth_value(e: TorchEmitter, x: Value, k: int, dim: int = -1, keepdim: bool = False) -> list[Value]:
    """The k-th least element, and its position."""
    axis = axis_in(dim, len(x.shape))
    return [_select_index(e, part, axis, k - 1, keepdim) for part in first_sorted(e, x, k, axis, False)]


def _select_index(e: TorchEmitter, x: Value, axis: int, position: int, keepdim: bool) -> Value:
    if not x.shape:
        return x
    part = e.slice(x, axis, position, position + 1)
    return part if keepdim else e.reshape(part, [n for a, n in enumerate(x.shape) if a != axis])


def _median_of_all(skips: bool) -> Translation:
    return lambda e, x: _median(e, e.op("reshape", x, shape=(-1,)), 0, False, skips)[0]


def _median_of_axis(skips: bool) -> Translation:
    return lambda e, x, dim, keepdim=False: _median(e, x, axis_in(dim, len(x.shape)), keepdim, skips)


for _name, _skips in (("median", False), ("nanmedian", True)):
    aten(f"{_name}.default")(_median_of_all(_skips))
    aten(f"{_name}.dim")(_median_of_axis(_skips))


def _median(e: TorchEmitter, x: Value, axis: int, keepdim: bool, skips: bool) -> list[Value]:
    """The element in the middle, the lesser one of two, and its position. A NaN is the result, or (skips) left out."""
    size = x.shape[axis]
    values, positions = first_sorted(e, x, size, axis, False)
    if isinstance(size, int) and x.dtype not in FLOATS:
        return [_select_index(e, part, axis, (size - 1) // 2, keepdim) for part in (values, positions)]
    count = e.constant(size, "int64") if isinstance(size, int) else number_from_data(e, size, e.numbers)
    middle = e.constant((size - 1) // 2, "int64") if isinstance(size, int) else _middle(e, count)
    if x.dtype not in FLOATS:
        where = e.broadcast(middle, [1 if a == axis else n for a, n in enumerate(x.shape)])
    else:
        missing = e.op("sum", e.cast(e.op("isnan", x), "int64"), axis=[axis], keepdims=True)
        there = e.op("subtract", count, missing)
        has_missing = e.binary("greater", missing, 0, "int64")  # the first NaN is behind all numbers
        where = _middle(e, there) if skips else e.op("where", has_missing, there, middle)
    medians = [e.op("gather_elements", part, where, axis=axis) for part in (values, positions)]
    other_sizes = [n for a, n in enumerate(x.shape) if a != axis]
    return medians if keepdim else [e.reshape(part, other_sizes) for part in medians]


def _middle(e: TorchEmitter, count: Value) -> Value:
    """The position of the element in the middle of so many, the first one of none."""
    half = e.binary("floor_divide", e.binary("subtract", count, 1, "int64"), 2, "int64")
    return e.binary("maximum", half, 0, "int64")


@aten("mode")
def most_frequent(e: TorchEmitter, x: Value, dim: int = -1, keepdim: bool = False) -> list[Value]:
    """The most frequent element, the least of several, and the last position that it has in order."""
    axis = axis_in(dim, len(x.shape))
    size = static_size(x.shape[axis], "the size of the axis of a mode")
    values, positions = first_sorted(e, x, size, axis, False)
    row = e.reshape(e.constant(np.arange(size), "int64"), [size if a == axis else 1 for a in range(len(x.shape))])
    # the length so far of the run of equal elements: how far it is from the last position where one begins
    before = e.concat([e.slice(values, axis, 0, 1), e.slice(values, axis, 0, size - 1)], axis)
    begins = e.op("where", e.op("not_equal", values, before), row, e.constant(0, "int64"))
    length = e.binary("subtract", row, e.op_results("cummax", begins, axis=axis)[0], "int64")
    last = e.op("argmax", length, axis=axis, keepdims=True)
    modes = [e.op("gather_elements", part, last, axis=axis) for part in (values, positions)]
    other_sizes = [n for a, n in enumerate(x.shape) if a != axis]
    return modes if keepdim else [e.reshape(part, other_sizes) for part in modes]


@aten("searchsorted.Tensor", "searchsorted.Scalar")
def search(
    e: TorchEmitter,
    sorted_sequence: Value,
    x: Value,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Value | None = None,
) -> Value:
    """How many elements of a sequence in order are less than each value, right: or equal."""
    if sorter is not None:
        sorted_sequence = e.op("gather_elements", sorted_sequence, sorter, axis=len(sorted_sequence.shape) - 1)
    return _search_sorted(e, sorted_sequence, x, out_int32, right or side == "right")


@aten("bucketize.Tensor", "bucketize.Scalar")
def bucketize(e: TorchEmitter, x: Value, boundaries: Value, out_int32: bool = False, right: bool = False) -> Value:
    return _search_sorted(e, boundaries, x, out_int32, right)


def _search_sorted(e: TorchEmitter, sequence: Value, x: Value, narrow: bool, right: bool) -> Value:
    value = e.cast(x, sequence.dtype) if isinstance(x, (int, float)) else x
    common = sequence.dtype if sequence.dtype in FLOATS else value.dtype
    positions = e.op("search_sorted", e.cast(sequence, common), e.cast(value, common), right=right)
    return positions if narrow else e.cast(positions, "int64")
