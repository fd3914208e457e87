"""Operators of torch whose results have sizes that data decide on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.aten.aten_ordering import first_sorted
from tir_mlir.graph.importers.aten.aten_table import aten
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.importers.data_sizes import argsort_rows, coordinates, true_positions, unique
from tir_mlir.graph.importers.emitter import axis_in, same_shape, static_size

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value
    from tir_mlir.graph.size_code import Size


@aten("nonzero", "argwhere")
def nonzero(e: TorchEmitter, x: Value) -> Value:
    """The indices of the elements that are not 0, a row for each."""
    if not x.shape:
        raise GraphError("the positions in a tensor without axes\n  fix: x.reshape(1)")
    positions = true_positions(e, _truth(e, x), e.shape[0])
    return e.op("stack", *coordinates(e, positions, [x.shape[0], *_static(x, 1)]), axis=1)


def _truth(e: TorchEmitter, x: Value) -> Value:
    return x if x.dtype == "bool" else e.binary("not_equal", x, 0, x.dtype)


def _static(x: Value, first: int = 0) -> list[int]:
    return [static_size(size, "a size of a tensor of which positions are asked") for size in x.shape[first:]]


@aten("masked_select")
def masked_select(e: TorchEmitter, x: Value, mask: Value) -> Value:
    """The elements at which a mask is true."""
    shape = x.shape if same_shape(x.shape, mask.shape) else np.broadcast_shapes(_static(x), _static(mask))
    flat = e.op("reshape", e.broadcast(x, shape), shape=(-1,))
    return e.op("take", flat, true_positions(e, e.broadcast(mask, shape), e.shape[0]), axis=0)


def select_by_mask(e: TorchEmitter, x: Value, indices: Sequence[Value | None]) -> Value:
    """x[:, mask]: one mask, of one or several axes."""
    (axis, mask), *others = [(axis, tensor) for axis, tensor in enumerate(indices) if tensor is not None]
    if others:
        raise GraphError("a mask among other indices\n  fix: mask.nonzero() as indices")
    rank = len(mask.shape)
    if not rank or not same_shape(mask.shape, x.shape[axis : axis + rank]):
        raise GraphError(f"a mask of shape {list(mask.shape)} for {list(x.shape)}\n  fix: a mask of the same shape")
    merged = e.op("reshape", x, shape=(*x.shape[:axis], -1, *x.shape[axis + rank :]))
    return e.op("take", merged, true_positions(e, _truth(e, mask), e.shape[axis]), axis=axis)


@aten("_unique2", "_unique")
def unique_elements(
    e: TorchEmitter, x: Value, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> list[Value | None]:
    """Each element once, in order; for each element of x the position of its value there; how often each occurs."""
    flat = e.op("reshape", x, shape=(-1,))
    values, order = first_sorted(e, flat, flat.shape[0], 0, False)
    once, _, groups, counts = unique(e, values, e.shape[0])
    inverse = None
    if return_inverse:
        inverse = e.reshape(
            e.op("index_put", e.broadcast(e.constant(0, "int64"), groups.shape), order, groups), x.shape
        )
    return [once, inverse, counts if return_counts else None]


@aten("unique_dim")
def unique_slices(
    e: TorchEmitter, x: Value, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> list[Value]:
    """As unique, of the slices along an axis, in the order of their first elements, then of the second ones."""
    axis, sizes = axis_in(dim, len(x.shape)), _static(x)
    order = [axis, *(a for a in range(len(sizes)) if a != axis)]
    rows = e.op("reshape", e.permute(x, order), shape=(sizes[axis], -1))
    positions = argsort_rows(e, rows)
    once, _, groups, counts = unique(e, e.op("take", rows, positions, axis=0), e.shape[axis])
    shaped = e.op("reshape", once, shape=(once.shape[0], *(sizes[a] for a in order[1:])))
    inverse = e.op("index_put", e.broadcast(e.constant(0, "int64"), groups.shape), positions, groups)
    return [e.permute(shaped, [order.index(a) for a in range(len(order))]), inverse, counts]


@aten("repeat_interleave.self_Tensor")
def repeat_by_data(
    e: TorchEmitter, x: Value, repeats: Value, dim: int | None = None, output_size: Size | None = None
) -> Value:
    """Each row as often as a tensor says, which sum up to a known number."""
    if not isinstance(output_size, int):
        raise GraphError("rows that are repeated as data say, without a limit\n  fix: output_size=, if it is known")
    if dim is None:
        x, dim = e.op("reshape", x, shape=(-1,)), 0
    axis = axis_in(dim, len(x.shape))
    ends = e.op("cumsum", e.broadcast(e.cast(repeats, "int64"), (x.shape[axis],)), axis=0)
    rows = e.op("search_sorted", ends, e.constant(np.arange(output_size), "int64"), right=True)
    return e.op("take", x, rows, axis=axis)


@aten("unique_consecutive")
def unique_consecutive(
    e: TorchEmitter, x: Value, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> list[Value | None]:
    """As unique, of each run of equal elements one."""
    if dim is not None and len(x.shape) != 1:
        raise GraphError("the different slices of an axis\n  fix: unique_consecutive of a vector")
    flat = e.op("reshape", x, shape=(-1,))
    once, _, groups, counts = unique(e, flat, e.shape[0])
    return [once, e.reshape(groups, x.shape) if return_inverse else None, counts if return_counts else None]
