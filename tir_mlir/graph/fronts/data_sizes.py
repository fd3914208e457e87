"""Tensors whose sizes data decide on: all rows that there may be, and the number of those that there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir.dialect.symbolic import Symbol, parse
from tir_mlir.graph.fronts.emitter import Emitter, is_number


def places_of(e: Emitter, mask: Any, size: Any) -> Any:
    """The places at which the elements of a mask, in row-major order, are true: int64[size].

    size: the name of their number, which becomes a size of the graph; one that it has already; or a number.
    """
    flat = e.op("reshape", e.cast(mask, "bool"), shape=(-1,))
    places, count = e.op("true_places", flat)
    return first_rows(e, places, count, size)


def first_rows(e: Emitter, x: Any, count: Any, size: Any) -> Any:
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


def _numbers_along(e: Emitter, x: Any, axis: int) -> Any:
    """0, 1, .. along an axis of a tensor."""
    for other in range(len(x.shape)):
        if other != axis:
            x = e.slice(x, other, 0, 1)
    ones = e.op("ones_like", e.cast(x, "int64"))
    return e.op("cumsum", ones, axis=axis, exclusive=True)


def coordinates(e: Emitter, places: Any, shape: Sequence[Any]) -> list[Any]:
    """Places in row-major order as an index for each axis of a shape of numbers, or whose first size only is a name."""
    indices: list[Any] = []
    for size in reversed(shape[1:]):
        indices.insert(0, e.binary("floor_mod", places, size, places.dtype))
        places = e.binary("floor_divide", places, size, places.dtype)
    return [places, *indices]


def unique(e: Emitter, values: Any, size: Any) -> tuple[Any, Any, Any, Any]:
    """Of a vector in which equal elements are neighbours: each once, the places where they begin, the number of the
    group of each element, and the sizes of the groups.

    size: the name of the number of groups.
    """
    (count,) = values.shape
    first = e.broadcast(e.constant(True, "bool"), (1,))
    if is_number(count, 1):
        begins = first
    else:
        differs = e.op("not_equal", e.slice(values, 0, 1, count), e.slice(values, 0, 0, _less_one(count)))
        begins = e.concat([first, differs], 0)
    places = places_of(e, begins, size)
    groups = e.add(e.op("cumsum", e.cast(begins, "int64"), axis=0), -1)
    ones, zeros = (e.broadcast(e.constant(n, "int64"), (count,)) for n in (1, 0))
    counts = e.op("index_put", zeros, groups, ones, accumulate=True)
    return (
        e.op("take", values, places, axis=0),
        places,
        groups,
        e.op("take", counts, e.op("take", groups, places, axis=0), axis=0),
    )


def _less_one(size: Any) -> Any:
    return size - 1 if isinstance(size, int) else str(parse(size) - 1)


def is_name(size: Any) -> bool:
    """Whether a size is a name alone."""
    return isinstance(size, str) and isinstance(parse(size), Symbol)
