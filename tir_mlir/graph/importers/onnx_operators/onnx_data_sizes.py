"""Operators of ONNX whose results have sizes that data decide on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import encoding
from tir_mlir.graph.builder import value_list
from tir_mlir.graph.importers.data_sizes import argsort_rows, coordinates, true_positions, unique
from tir_mlir.graph.importers.emitter import OnnxValue, Operand, axis_in, static_size
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, onnx_op

if TYPE_CHECKING:
    from tir_mlir.graph.builder import GraphBuilder, Value


def fresh_size(e: OnnxEmitter) -> str:
    """A name for the size of the results of the node."""
    name = encoding.free_name("count", e.builder.sizes.variables)
    e.builder.sizes.variable(name)
    return name


@onnx_op("NonZero")
def nonzero(e: OnnxEmitter, x: OnnxValue) -> Value:
    """The indices of the elements that are not 0, a column for each."""
    x = e.value(x)
    if not x.shape:
        raise GraphError("the positions in a tensor without axes\n  fix: Reshape to [1]")
    shape = [static_size(size, "a size of the operand of a NonZero") for size in x.shape]
    mask = x if x.dtype == "bool" else e.binary("not_equal", x, 0, x.dtype)
    positions = true_positions(e, mask, fresh_size(e))
    return e.op("stack", *coordinates(e, positions, shape), axis=0)


def select_by_condition(e: OnnxEmitter, x: OnnxValue, condition: Value, axis: int | None) -> Value:
    """The elements, or slices along an axis, at which a computed condition is true."""
    x = e.value(x)
    if axis is None:
        x, axis = e.op("reshape", x, shape=(-1,)), 0
    return e.op("take", x, true_positions(e, condition, fresh_size(e)), axis=axis_in(axis, len(x.shape)))


@onnx_op("Unique")
def unique_elements(e: OnnxEmitter, x: OnnxValue, axis: int | None = None, sorted: int = 1) -> list[Value]:
    """Each element, or slice along an axis, once; where it is first; for each the position of its value; how often it
    occurs. In order, by the first elements of slices first, or sorted=0 as they occur."""
    x = e.value(x)
    if axis is None:
        x, axis = e.op("reshape", x, shape=(-1,)), 0
    axis, sizes = axis_in(axis, len(x.shape)), [static_size(n, "a size of the operand of a Unique") for n in x.shape]
    along = [axis, *(a for a in range(len(sizes)) if a != axis)]
    rows = e.op("reshape", e.permute(x, along), shape=(sizes[axis], -1))
    order = argsort_rows(e, rows)
    values = e.op("take", rows, order, axis=0)
    once, positions, groups, counts = unique(e, values if len(sizes) > 1 else e.reshape(values, sizes), fresh_size(e))
    zeros = e.broadcast(e.constant(0, "int64"), groups.shape)
    first, inverse = e.op("take", order, positions, axis=0), e.op("index_put", zeros, order, groups)
    if not sorted:
        by_place = e.op("argsort", first, axis=0, dtype="int64")
        once, first, counts = (e.op("take", part, by_place, axis=0) for part in (once, first, counts))
        inverse = e.op("take", e.op("argsort", by_place, axis=0, dtype="int64"), inverse, axis=0)
    shaped = e.op("reshape", once, shape=(once.shape[0], *(sizes[a] for a in along[1:])))
    return [e.permute(shaped, [along.index(a) for a in range(len(along))]), first, inverse, counts]


@onnx_op("NonMaxSuppression")
def non_max_suppression(
    e: OnnxEmitter,
    boxes: OnnxValue,
    scores: OnnxValue,
    most: Input = None,
    overlap: Input = None,
    least: Input = None,
    center_point_box: int = 0,
) -> OnnxValue:
    """boxes (n, m, 4), scores (n, classes, m) -> int64 (count, 3): batch, class and box of those that are kept.

    A loop takes, for all batches and classes at once, the box of the best score that is left (of equal ones the first),
    and drops those that overlap it by more than a part. `most` of a class; scores above `least` only.
    """
    boxes, scores = e.value(boxes), e.value(scores)
    batches, classes, count = (static_size(n, "a size of the scores of a NonMaxSuppression") for n in scores.shape)
    known = most is None or isinstance(most, np.ndarray)
    slots = min(0 if most is None else e.known_integer(most, ""), count) if known else count
    if min(slots, batches, classes) <= 0:
        return np.zeros((0, 3), "int64")
    alive, lowest = e.reshape(scores, (batches * classes, count)), e.constant(-np.inf, scores.dtype)
    if least is not None:
        alive = e.op("where", e.op("greater", alive, e.reshape(e.value(least), ())), alive, lowest)
    limit = e.constant(0, scores.dtype) if overlap is None else e.reshape(e.cast(e.value(overlap), scores.dtype), ())
    corners, areas = _corners(e, boxes, bool(center_point_box))
    rows = e.constant(np.repeat(np.arange(batches), classes), "int64")
    shapes = [e.op("take", x, rows, axis=0) for x in (*corners, areas)]
    steps = slots if most is None or known else e.reshape(e.value(most), ())
    kept = _select_boxes(e, alive, shapes, limit, slots, steps)
    found = true_positions(e, e.binary("greater_equal", kept, 0, "int64"), fresh_size(e))
    batch, of_class, _ = coordinates(e, found, [batches, classes, slots])
    return e.op("stack", batch, of_class, e.op("take", e.op("reshape", kept, shape=(-1,)), found, axis=0), axis=1)


def _select_boxes(
    e: OnnxEmitter, alive: Value, shapes: Sequence[Value], limit: Value, slots: int, steps: int | Value
) -> Value:
    """For each row of scores the boxes that are kept, best first, int64 (rows, slots), and -1 behind them.

    alive: scores (rows, boxes), -inf for boxes that are not to be kept. shapes: see `_corners`, (rows, boxes) each.
    """
    rows, count = alive.shape
    lowest = e.constant(-np.inf, alive.dtype)
    columns, positions = e.constant(np.arange(slots)[None], "int64"), e.constant(np.arange(count)[None], "int64")

    def iteration(region: GraphBuilder, number: Value, alive: Value, kept: Value) -> list[Value]:
        inner = OnnxEmitter(region, e.opset)
        best = inner.op("argmax", alive, axis=1, keepdims=True, dtype="int64")
        there = inner.op("greater", inner.op("max", alive, axis=[1], keepdims=True), lowest)
        taken = inner.op("equal", positions, best)
        over = inner.op("greater", _overlap(inner, shapes, best), limit)
        gone = inner.op("logical_and", inner.op("logical_or", taken, over), there)
        alive = inner.op("where", gone, lowest, alive)
        here = inner.op("logical_and", inner.op("equal", columns, number), there)
        left = inner.op("any", inner.op("greater", alive, lowest), axis=[0, 1], keepdims=False)
        return [left, alive, inner.op("where", here, best, kept)]

    none = e.broadcast(e.constant(-1, "int64"), (rows, slots))
    start = e.op("any", e.op("greater", alive, lowest), axis=[0, 1], keepdims=False)
    return value_list(e.builder.loop(iteration, [alive, none], steps=steps, condition=start, name_hint=e.name or "lv"))[
        1
    ]


def _corners(e: OnnxEmitter, boxes: Value, centered: bool) -> tuple[list[Value], Value]:
    """Boxes (n, m, 4) -> [top, left, bottom, right] and the area of each, (n, m)."""
    parts = [e.reshape(e.slice(boxes, 2, n, n + 1), boxes.shape[:2]) for n in range(4)]
    if centered:
        (x, y, width, height), half = parts, e.constant(2, boxes.dtype)
        spans = [(at, e.op("divide", size, half)) for at, size in ((y, height), (x, width))]
        low = [e.op("subtract", at, size) for at, size in spans]
        high = [e.op("add", at, size) for at, size in spans]
    else:
        low = [e.op("minimum", parts[n], parts[n + 2]) for n in (0, 1)]
        high = [e.op("maximum", parts[n], parts[n + 2]) for n in (0, 1)]
    sides = [e.op("subtract", h, b) for b, h in zip(low, high, strict=True)]
    return [*low, *high], e.op("multiply", *sides)


def _overlap(e: OnnxEmitter, shapes: Sequence[Value], best: Operand) -> Value:
    """How much of each box and the best of its row together both have, (rows, m); 0 for boxes without an area."""
    top, left, bottom, right, areas = shapes
    zero = e.constant(0, areas.dtype)
    own = [e.op("gather_elements", x, best, axis=1) for x in shapes]
    sides = [
        e.op("subtract", e.op("minimum", high, own_high), e.op("maximum", low, own_low))
        for low, high, own_low, own_high in ((top, bottom, own[0], own[2]), (left, right, own[1], own[3]))
    ]
    common = e.op("multiply", *(e.op("maximum", side, zero) for side in sides))
    together = e.op("subtract", e.op("add", areas, own[4]), common)
    whole = [e.op("greater", x, zero) for x in (areas, own[4], common, together)]
    proper = whole[0]
    for other in whole[1:]:
        proper = e.op("logical_and", proper, other)
    part = e.op("divide", common, e.op("where", proper, together, e.constant(1, areas.dtype)))
    return e.op("where", proper, part, e.constant(-1, areas.dtype))
