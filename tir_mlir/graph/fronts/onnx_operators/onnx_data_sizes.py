"""Operators of ONNX whose results have sizes that data decide on."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import encoding
from tir_mlir.graph.fronts.data_sizes import coordinates, places_of, unique
from tir_mlir.graph.fronts.emitter import axis_in, static
from tir_mlir.graph.fronts.onnx_operators.onnx_emitter import OnnxEmitter, onnx_op


def _fresh(e: OnnxEmitter) -> str:
    """A name for the size of the results of the node."""
    name = encoding.free_name("count", e.builder.sizes.variables)
    e.builder.sizes.variable(name)
    return name


@onnx_op("NonZero")
def nonzero(e: OnnxEmitter, x: Any) -> Any:
    """The indices of the elements that are not 0, a column for each."""
    x = e.value(x)
    if not x.shape:
        raise GraphError("the places in a tensor without axes\n  fix: Reshape to [1]")
    shape = [static(size, "a size of the operand of a NonZero") for size in x.shape]
    mask = x if x.dtype == "bool" else e.binary("not_equal", x, 0, x.dtype)
    places = places_of(e, mask, _fresh(e))
    return e.op("stack", *coordinates(e, places, shape), axis=0)


def chosen(e: OnnxEmitter, x: Any, condition: Any, axis: int | None) -> Any:
    """The elements, or slices along an axis, at which a computed condition is true."""
    x = e.value(x)
    if axis is None:
        x, axis = e.op("reshape", x, shape=(-1,)), 0
    return e.op("take", x, places_of(e, condition, _fresh(e)), axis=axis_in(axis, len(x.shape)))


@onnx_op("Unique")
def unique_elements(e: OnnxEmitter, x: Any, axis: int | None = None, sorted: int = 1) -> list[Any]:
    """Each element once, in order; where it is first; for each element the place of its value; how often it occurs."""
    x = e.value(x)
    if axis is not None and len(x.shape) != 1:
        raise GraphError("the different slices of an axis\n  fix: Unique of a vector")
    if not sorted:
        raise GraphError("sorted=0, the order in which elements occur\n  fix: sorted=1")
    flat = e.op("reshape", x, shape=(-1,))
    count = static(flat.shape[0], "the number of elements of a Unique")
    values, order = e.op("topk", flat, k=count, axis=0, largest=False, ret_type="both", dtype="int64")
    once, places, groups, counts = unique(e, values, _fresh(e))
    zeros = e.broadcast(e.constant(0, "int64"), groups.shape)
    return [once, e.op("take", order, places, axis=0), e.op("index_put", zeros, order, groups), counts]
