"""Tensors whose sizes data decide on: all rows that there may be, and the number of those that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError, TirError
from tir_mlir.dialect.symbolic import Constant, Symbol, fold, names_in, parse, sources
from tir_mlir.graph.importers.emitter import OnnxValue, Operand, OperatorEmitter, is_number, static_size

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


def true_positions(e: OperatorEmitter, mask: OnnxValue, size: int | str) -> Value:
    """The positions at which the elements of a mask, in row-major order, are true: int64[size].

    size: the name of their number, which becomes a size of the graph; one that it has already; or a number.
    """
    flat = e.op("reshape", e.cast(mask, "bool"), shape=(-1,))
    positions, count = e.op_results("true_places", flat)
    return first_rows(e, positions, count, size)


def first_rows(e: OperatorEmitter, x: Value, count: Operand, size: int | str) -> Value:
    """The first `count` rows of x, whose number is the size."""
    if isinstance(size, int):
        return e.slice(x, 0, 0, size)
    if any(size in known.shape for known in e.inputs):  # of another node: torch knows that both are equal
        (carrier,) = e.carriers([size])[:1]
        axis = carrier.shape.index(size)
        rows = e.op("reshape", _numbers_along(e, carrier, axis), shape=(size,))
        return e.op("take", x, rows, axis=0)
    cut = e.op("first_rows", x, count, rows={"size": size})
    e.inputs.append(cut)  # what computes with this size reads it from here
    return cut


def slice_by_data(
    e: OperatorEmitter,
    x: Value,
    axis: int,
    begin: int | str,
    end: int | str,
    size: int | str,
    numbers: Mapping[str, Value],
) -> Value | None:
    """x[begin:end] along an axis, of bounds with names in `numbers`: tensors of one integer; None where there are none.

    Negative bounds are counted from the end, those outside are the ends, as Python has it. size: the name of the number
    of rows. Errors: GraphError for an axis that is not a number, and for names that are sizes of inputs.
    """
    if not data_dependent_names([begin, end], numbers):
        return None
    rows = static_size(x.shape[axis], "the size of an axis that is cut at a number from data")
    first, last = (_clamp_bound(e, number_from_data(e, bound, numbers), rows) for bound in (begin, end))
    order = [axis, *(a for a in range(len(x.shape)) if a != axis)]
    x = e.permute(x, order)
    if not is_number(begin, 0):
        positions = e.add(e.constant(np.arange(rows), "int64"), first)
        x = e.op("take", x, e.clip(positions, None, rows - 1), axis=0)
    cut = first_rows(e, x, e.clip(e.subtract(last, first), 0, None), size)
    return e.permute(cut, [order.index(a) for a in range(len(order))])


def data_dependent_names(size: object, numbers: Mapping[str, Value]) -> list[str]:
    """The names of numbers from data in a size, or in several."""
    if isinstance(size, list):
        return [name for one in size for name in data_dependent_names(one, numbers)]
    if not numbers or not isinstance(size, str):
        return []
    try:
        return sorted(names_in(parse(size)) & set(numbers))
    except TirError:  # a text that is not a size
        return []


def number_from_data(e: OperatorEmitter, size: int | str, numbers: Mapping[str, Value]) -> Value:
    """The value of an expression of sizes, and of numbers from data by their names: int64[]. Errors: GraphError."""
    words = {"+": "add", "-": "subtract", "*": "multiply", "//": "floor_divide", "%": "floor_mod"}

    def leaf(part: Constant | Symbol) -> Value:
        if not isinstance(part, Symbol):
            return e.constant(part.value, "int64")
        return e.cast(numbers[part.name], "int64") if part.name in numbers else number_of_rows(e, part.name)

    value = fold(parse(size), leaf, lambda symbol, left, right: e.binary(words[symbol], left, right, "int64"))
    return e.reshape(value, ())


def row_by_data(e: OperatorEmitter, x: Value, axis: int, index: int | str, numbers: Mapping[str, Value]) -> Value:
    """x[index] along an axis, of an index from data; a negative one is counted from the end."""
    rows = static_size(x.shape[axis], "the size of an axis whose row is chosen by a number from data")
    position = number_from_data(e, index, numbers)
    from_end = e.op("where", e.op("less", position, e.constant(0, "int64")), e.add(position, rows), position)
    return e.op("take", x, from_end, axis=axis)


def _clamp_bound(e: OperatorEmitter, bound: Value, rows: int) -> Value:
    """A bound of a slice as one from 0 to the number of rows."""
    from_end = e.op("where", e.op("less", bound, e.constant(0, "int64")), e.add(bound, rows), bound)
    return e.clip(from_end, 0, rows)


def number_of_rows(e: OperatorEmitter, size: str) -> Value:
    """The value of a size of a tensor, a name: int64[]. Errors: GraphError for one that no tensor has."""
    (carrier,) = e.carriers([size])
    source = sources([carrier.shape])[size]
    rows = e.op("sum", _ones_along(e, carrier, source.axis), axis=None)
    return e.binary("floor_divide", e.binary("subtract", rows, source.rest, "int64"), source.factor, "int64")


def _numbers_along(e: OperatorEmitter, x: Value, axis: int) -> Value:
    """0, 1, .. along an axis of a tensor."""
    return e.op("cumsum", _ones_along(e, x, axis), axis=axis, exclusive=True)


def _ones_along(e: OperatorEmitter, x: Value, axis: int) -> Value:
    """1 for each element of an axis of a tensor."""
    for other in range(len(x.shape)):
        if other != axis:
            x = e.slice(x, other, 0, 1)
    return e.op("ones_like", e.cast(x, "int64"))


def coordinates(e: OperatorEmitter, positions: Value, shape: Sequence[int | str]) -> list[Value]:
    """Positions in row-major order as an index for each axis of a shape of numbers, or whose first size only is a
    name."""
    indices: list[Value] = []
    for size in reversed([static_size(n, "a size of a tensor of positions") for n in shape[1:]]):
        indices.insert(0, e.binary("floor_mod", positions, size, positions.dtype))
        positions = e.binary("floor_divide", positions, size, positions.dtype)
    return [positions, *indices]


def unique(e: OperatorEmitter, values: Value, size: int | str) -> tuple[Value, Value, Value, Value]:
    """Of a vector in which equal elements are neighbours, or a matrix in which equal rows are: each once, the positions
    where they begin, the number of the group of each element, and the sizes of the groups.

    size: the name of the number of groups.
    """
    count = values.shape[0]
    if is_number(count, 1):
        begins = e.broadcast(e.constant(True, "bool"), (1,))
    else:
        rows = e.op("reshape", _numbers_along(e, values, 0), shape=(count,))
        before = e.op("take", values, e.clip(e.add(rows, -1), 0, None), axis=0)
        differs = e.op("not_equal", values, before)
        if len(values.shape) > 1:
            differs = e.cast(e.op("max", e.cast(differs, "int32"), axis=[1]), "bool")
        begins = e.op("logical_or", e.binary("equal", rows, 0, "int64"), differs)
    positions = true_positions(e, begins, size)
    groups = e.add(e.op("cumsum", e.cast(begins, "int64"), axis=0), -1)
    ones, zeros = (e.broadcast(e.constant(n, "int64"), (count,)) for n in (1, 0))
    counts = e.op("index_put", zeros, groups, ones, accumulate=True)
    return (
        e.op("take", values, positions, axis=0),
        positions,
        groups,
        e.op("take", counts, e.op("take", groups, positions, axis=0), axis=0),
    )


MOST_COLUMNS = 64
"""The most columns of a matrix whose rows are put in order: each is put in order by itself."""


def argsort_rows(e: OperatorEmitter, rows: Value) -> Value:
    """The numbers of the rows of a matrix by their first elements, then by the second ones; equal rows keep their
    order. Errors: GraphError for many columns."""
    count, columns = (static_size(n, "a size of a matrix whose rows are put in order") for n in rows.shape)
    if columns > MOST_COLUMNS:
        raise GraphError(f"the order of slices of {columns} elements\n  fix: slices of at most {MOST_COLUMNS}")
    positions = e.constant(np.arange(count), "int64")
    for column in reversed(range(columns)):  # by the last column first: equal elements remain in order
        values = e.op("take", e.reshape(e.slice(rows, 1, column, column + 1), (count,)), positions, axis=0)
        positions = e.op("take", positions, e.op("argsort", values, axis=0, dtype="int64"), axis=0)
    return positions
