"""Tensors with some elements replaced, added to, or counted, at positions that are data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.aten.aten_table import aten
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.importers.emitter import FLOATS, axis_in, is_number, same_shape, static_size
from tir_mlir.graph.importers.layers import sized_range

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value
    from tir_mlir.graph.size_code import Size


@aten("index_put", "_unsafe_index_put")
def index_put(
    e: TorchEmitter, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False
) -> Value:
    """x with x[i, :, j] = values: tensors of indices, which broadcast, or one mask."""
    values = e.cast(values, x.dtype)
    indexed = [axis for axis, tensor in enumerate(indices) if tensor is not None]
    tensors = [tensor for tensor in indices if tensor is not None]
    if len(tensors) == 1 and tensors[0].dtype in ("bool", "uint8"):
        return _put_where(e, x, tensors[0], indexed[0], values, accumulate)
    if any(t.dtype in ("bool", "uint8") for t in tensors):
        raise GraphError("a mask among other indices\n  fix: use torch.where")
    unindexed = [axis for axis in range(len(x.shape)) if axis not in indexed]
    together = indexed == list(range(indexed[0], indexed[0] + len(indexed)))
    if together:
        return e.op("index_put", x, *tensors, values, accumulate=accumulate, axis=indexed[0])
    order = [*indexed, *unindexed]
    written = e.op("index_put", e.permute(x, order), *tensors, values, accumulate=accumulate)
    return e.permute(written, [order.index(a) for a in range(len(x.shape))])


def _put_where(e: TorchEmitter, x: Value, mask: Value, axis: int, values: Value, accumulate: bool) -> Value:
    """Where a mask is true, one value, or one for each position behind those of the mask."""
    behind = x.shape[axis + len(mask.shape) :]
    lead = values.shape[: len(values.shape) - len(behind)] if len(values.shape) > len(behind) else ()
    if any(not is_number(n, 1) for n in lead):
        values = _spread_over_mask(e, x, mask, axis, values)
    else:
        values = e.reshape(values, values.shape[len(lead) :])
    condition = e.reshape(e.cast(mask, "bool"), [*mask.shape, *[1] * len(behind)])
    new = e.op("add", x, values) if accumulate else values
    return e.op("where", e.broadcast(condition, x.shape[axis:]), new, x)


def _spread_over_mask(e: TorchEmitter, x: Value, mask: Value, axis: int, values: Value) -> Value:
    """Values, as many as a mask has true elements, put where these are: of the shape of x behind axis."""
    behind = len(x.shape) - axis - len(mask.shape)
    if len(values.shape) != 1 + behind:
        raise GraphError("a mask behind another axis, and a value for each true element\n  fix: use masked_scatter")
    flat = e.op("reshape", e.cast(mask, "int64"), shape=(-1,))
    before = e.op("cumsum", flat, axis=0, exclusive=True)
    taken = e.op("take", values, before, axis=0)
    return e.reshape(taken, (*mask.shape, *values.shape[1:]))


@aten("scatter.src", "scatter.reduce")
def scatter(e: TorchEmitter, x: Value, dim: int, index: Value, src: Value, reduce: str = "update") -> Value:
    return _scatter_elements(e, x, dim, index, src, {"multiply": "mul"}.get(reduce, reduce))


@aten("scatter.value", "scatter.value_reduce")
def scatter_number(
    e: TorchEmitter, x: Value, dim: int, index: Value, value: Value | float, reduce: str = "update"
) -> Value:
    values = e.broadcast(e.cast(value, x.dtype), index.shape)
    return _scatter_elements(e, x, dim, index, values, {"multiply": "mul"}.get(reduce, reduce))


@aten("scatter_add")
def scatter_add(e: TorchEmitter, x: Value, dim: int, index: Value, src: Value) -> Value:
    return _scatter_elements(e, x, dim, index, src, "add")


def _scatter_elements(e: TorchEmitter, x: Value, dim: int, index: Value, src: Value, reduction: str) -> Value:
    """x with x[index[i, j], j] combined with src[i, j], for dim 0 and the elements that index has."""
    if not x.shape:
        parts = [e.reshape(part, (1,)) for part in (x, index, src)]
        return e.reshape(e.op("scatter_elements", *parts, axis=0, reduction=reduction), ())
    if not same_shape(index.shape, src.shape):
        for axis, size in enumerate(index.shape):
            src = e.slice(src, axis, 0, size)
    return e.op("scatter_elements", x, index, src, axis=axis_in(dim, len(x.shape)), reduction=reduction)


_REDUCTIONS = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}


@aten("scatter_reduce.two")
def scatter_reduce(
    e: TorchEmitter, x: Value, dim: int, index: Value, src: Value, reduce: str, include_self: bool = True
) -> Value:
    """As scatter; include_self=False: without the old value of what is written."""
    if not include_self:
        start = e.broadcast(e.constant(_neutral_element(reduce, x.dtype), x.dtype), index.shape)
        x = _scatter_elements(e, x, dim, index, start, "update")
    reduced = _scatter_elements(e, x, dim, index, src, _REDUCTIONS[reduce])
    if reduce != "mean":
        return reduced
    ones = e.broadcast(e.constant(1, x.dtype), index.shape)
    count = e.broadcast(e.constant(int(include_self), x.dtype), x.shape)
    count = e.binary("maximum", _scatter_elements(e, count, dim, index, ones, "add"), 1, x.dtype)
    return e.op("divide" if x.dtype in FLOATS else "floor_divide", reduced, count)


def _neutral_element(reduce: str, dtype: str) -> float:
    """What a reduction begins with."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    if dtype in FLOATS:
        return float("-inf") if reduce == "amax" else float("inf")
    bits = 8 if dtype == "bool" else int(dtype.removeprefix("u").removeprefix("int"))
    signed = not dtype.startswith("u")
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return least if reduce == "amax" else most


@aten("index_reduce")
def index_reduce(
    e: TorchEmitter, x: Value, dim: int, index: Value, source: Value, reduce: str, include_self: bool = True
) -> Value:
    """Slices of an axis combined with those of source."""
    axis = axis_in(dim, len(x.shape))
    spread = e.reshape(index, [-1 if a == axis else 1 for a in range(len(x.shape))])
    return scatter_reduce(
        e, x, axis, e.broadcast(spread, source.shape), source, {"sum": "sum"}.get(reduce, reduce), include_self
    )


@aten("put")
def put(e: TorchEmitter, x: Value, index: Value, source: Value, accumulate: bool = False) -> Value:
    """The elements at positions in row-major order."""
    flat = [e.op("reshape", part, shape=(-1,)) for part in (x, index, source)]
    return e.reshape(e.op("index_put", *flat, accumulate=accumulate), x.shape)


@aten("masked_scatter")
def masked_scatter(e: TorchEmitter, x: Value, mask: Value, source: Value) -> Value:
    """Where a mask is true, the elements of source in order."""
    whole = e.op("reshape", e.broadcast(mask, x.shape), shape=(-1,))
    before = e.op("cumsum", e.cast(whole, "int64"), axis=0, exclusive=True)
    taken = e.op("take", e.op("reshape", source, shape=(-1,)), before, axis=0)
    return e.op("where", e.broadcast(mask, x.shape), e.reshape(taken, x.shape), x)


@aten("histc")
def histogram(e: TorchEmitter, x: Value, bins: int = 100, min: int = 0, max: int = 0) -> Value:
    """How many elements are in each of `bins` equal parts of min..max; both equal: of the least to the greatest."""
    flat = e.op("reshape", x, shape=(-1,))
    kind = x.dtype if x.dtype in FLOATS else "float32"
    values = e.cast(flat, kind)
    if min == max == 0:
        low, high = e.op("min", values, axis=None), e.op("max", values, axis=None)
        same = e.op("equal", low, high)
        low = e.op("where", same, e.subtract(low, 1), low)
        high = e.op("where", same, e.add(high, 1), high)
    else:
        low, high = (e.constant(v + (d if min == max else 0), kind) for v, d in ((min, -1), (max, 1)))
    # torch's order of operations: which of two parts a border is in depends on it
    share = e.op(
        "divide", e.op("multiply", e.op("subtract", values, low), e.constant(bins, kind)), e.op("subtract", high, low)
    )
    bin_index = e.cast(e.binary("minimum", e.op("floor", share), bins - 1, kind), "int32")
    inside = e.op("logical_and", e.op("greater_equal", values, low), e.op("less_equal", values, high))
    bin_index = e.op("where", inside, bin_index, e.constant(bins, "int32"))  # no part: it is not written
    return e.cast(_count_occurrences(e, bin_index, None, bins, x.dtype), e.dtype)


def _count_occurrences(e: TorchEmitter, positions: Value, weights: Value | None, bins: Size, dtype: str) -> Value:
    """How many times each of 0..bins - 1 is a position, or the sum of their weights."""
    ones = e.broadcast(e.constant(1, dtype), positions.shape) if weights is None else weights
    zeros = e.broadcast(e.constant(0, ones.dtype), (bins,))
    return e.op("index_put", zeros, positions, ones, accumulate=True)


@aten("bincount")
def bincount(e: TorchEmitter, x: Value, weights: Value | None = None, minlength: int = 0) -> Value:
    """How many times each number occurs; where only the first `minlength` counts are used, of no others."""
    (bins,) = e.shape
    if not isinstance(bins, int) and _uses_first_elements(e, minlength):
        bins = minlength
    if not isinstance(bins, int):
        raise GraphError(
            "its size is one more than the greatest element, known only when the model runs\n"
            "  fix: torch.bincount(x, minlength=bins)[:bins], or torch.zeros(bins).scatter_add(0, x, ones)"
        )
    return _count_occurrences(e, x, weights, bins, e.dtype)


def _uses_first_elements(e: TorchEmitter, count: int) -> bool:
    """Whether all uses of a vector are of its first `count` elements, or of its size."""
    for user in e.node.users:
        dim, start, end, *_ = (*user.args[1:], *(0, None, None)[len(user.args) - 1 :])
        is_first = str(user.target) == "aten.slice.Tensor" and dim in (0, -1) and start in (0, None)
        if "sym_size" not in str(user.target) and not (is_first and isinstance(end, int) and 0 <= end <= count):
            return False
    return True


_OF_BAGS = {0: "sum", 1: "mean", 2: "max"}
"""What torch's numbers for the mode of embedding_bag stand for."""


def _length_of_bags(offsets: object, count: Size) -> int | None:
    """The length of all bags, if they begin at 0, n, 2n, .. and are as long, as those of an input of two axes."""
    if not isinstance(offsets, torch.fx.Node) or str(offsets.target) not in (
        "aten.arange.start_step",
        "aten.arange.default",
        "aten.arange.start",
    ):
        return None
    start, end, step = (0, offsets.args[0], 1) if len(offsets.args) == 1 else (*offsets.args, 1)[:3]
    if start != 0 or end != count or not isinstance(step, int) or not isinstance(count, int):
        return None
    return None if count % step else step


@aten("embedding_bag.default", "embedding_bag.padding_idx", "_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(
    e: TorchEmitter,
    weight: Value,
    indices: Value,
    offsets: Value,
    mode: int = 0,
    per_sample_weights: Value | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = -1,
) -> list[Value | None]:
    """The sum, mean or maximum of the rows of each bag; offsets: where the bags begin. Only the first result."""
    (count,), (begins,) = indices.shape, offsets.shape
    bags = static_size(begins, "the number of bags") - 1 if include_last_offset else begins
    each = _length_of_bags(e.node.args[2], count)
    shape = (bags, each) if each and not include_last_offset and (padding_idx is None or padding_idx < 0) else (count,)
    rows = e.op("take", weight, e.reshape(indices, shape), axis=0)
    if per_sample_weights is not None:
        rows = e.op("multiply", rows, e.reshape(per_sample_weights, (*shape, 1)))
    if len(shape) > 1:
        return [e.op(_OF_BAGS[mode], rows, axis=1), None, None, None]
    if isinstance(count, int):
        positions = e.op("arange", start=0, end=count, step=1, dtype=offsets.dtype)
    else:
        positions = sized_range(e, 0, e.builder.sizes.expression(count), 1, offsets.dtype, "positions")
    bag = e.binary("subtract", e.op("search_sorted", offsets, positions, right=True), 1, "int32")
    if padding_idx is not None and padding_idx >= 0:
        padding = e.binary("equal", indices, padding_idx, indices.dtype)
        no_bag = e.constant(static_size(bags, "the number of bags"), "int32")
        bag = e.op("where", padding, no_bag, bag)  # it is not written
    zeros = e.broadcast(e.constant(0, weight.dtype), (bags, weight.shape[1]))
    size = _count_occurrences(e, bag, None, bags, weight.dtype)
    if mode == 2:
        index = e.broadcast(e.reshape(bag, (count, 1)), rows.shape)
        return [scatter_reduce(e, zeros, 0, index, rows, "amax", False), None, None, None]
    added = e.op("index_put", zeros, bag, rows, accumulate=True)
    if mode == 1:
        added = e.op("divide", added, e.reshape(e.binary("maximum", size, 1, size.dtype), (bags, 1)))
    return [added, None, None, None]
