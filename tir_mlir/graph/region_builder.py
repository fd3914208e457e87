"""Branches and loops of a graph that is being built: their regions, and what these read of the graph around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import LoopFacts, TensorType, encoding, node_of
from tir_mlir.dialect.ir import enter_context
from tir_mlir.extensions import implement
from tir_mlir.graph.builder import GraphBuilder, Value, Values, value_list
from tir_mlir.graph.memory.data_sizes import upper_bound


class RegionBuilder(GraphBuilder):
    """Writes a region: a graph that may read the values of the graphs around it.

    captured: what it reads of the one around it, in the order of its inputs that are no weights, behind the first ones.
    """

    def __init__(self, name: str, around: GraphBuilder):
        super().__init__(name, around.module, kind=encoding.REGION)
        self.around, self.sizes, self.captured = around, around.sizes, list[Value]()
        self.outputs: list[Value] = []
        self._read: dict[ir.Value, Value] = {}

    def weight(self, name: str, array: np.ndarray, dtype: str | None = None) -> Value:
        """A weight of the whole graph: it is an input of the outermost one."""
        return self.read(self.around.weight(name, array, dtype))

    def read(self, value: Value) -> Value:
        """A value of a graph around this one, here: a weight under its name, a copy of a constant, or an input."""
        if value.builder is self:
            return value
        if value.builder is not self.around:
            value = self.around.read(value) if isinstance(self.around, RegionBuilder) else self._foreign(value)
        if value.value not in self._read:
            self._read[value.value] = self._read_first(value)
        return self._read[value.value]

    def _read_first(self, value: Value) -> Value:
        with enter_context():
            node, owner = node_of(value.value), self.around.func
            number = None if node is not None else ir.BlockArgument(value.value).arg_number
            weight = None if number is None else owner.weight(number)
            if node is not None and node.kind == "constant":
                with self._symbol_scope(), self._at_end():
                    copy = node.op.clone()
                return Value(self, copy.results[0], self._fresh(value.name), value.type)
        if weight is None:
            self.captured.append(value)
        return self.input(value.name, value.shape, value.dtype, weight)

    def _foreign(self, value: Value) -> Value:
        raise GraphError(f"{value.name} is of another graph; fix: a value of this graph, or of one around it")

    def _as_values(self, what: str, operands: Sequence[object]) -> list[Value]:
        inner_operands = [self.read(operand) if isinstance(operand, Value) else operand for operand in operands]
        return super()._as_values(what, inner_operands)

    def output(self, *values: Value) -> None:
        super().output(*values)
        self.outputs = list(self._outputs or ())


Counted: TypeAlias = Mapping[int, tuple[int, str]]
"""Of results, by their numbers: an axis whose size data decide on, and the name of that size."""
CountedOf: TypeAlias = Counted | Callable[[Sequence[Value], Sequence[Value]], Counted]
"""This, or what tells it of the results of both sides."""
Region: TypeAlias = Callable[..., Value | Sequence[Value]]
"""A function of a RegionBuilder and of values: what a region computes of them, one value or several."""


@implement(GraphBuilder.branch)
def branch(
    builder: GraphBuilder,
    condition: Value,
    then: Region,
    otherwise: Region,
    inputs: Sequence[Value] = (),
    counted: CountedOf | None = None,
    name_hint: str | Sequence[str] = "lv",
) -> Values:
    """See `GraphBuilder.branch`."""
    (condition,) = builder._as_values("the condition of a branch", [condition])
    if condition.dtype != "bool" or any(size != 1 for size in condition.shape):
        raise GraphError(f"the condition of a branch is one bool, not {condition.type}; fix: a comparison of numbers")
    if condition.shape:
        condition = builder.op("reshape", condition, shape=())
    regions = [RegionBuilder(name, builder) for name in ("then", "otherwise")]
    made: list[list[Value]] = []
    for region, function in zip(regions, (then, otherwise), strict=True):
        if region is regions[1]:
            for value in regions[0].captured:
                region.read(value)
        made.append(value_list(function(region, *map(region.read, inputs))))
    counted = counted(made[0], made[1]) if callable(counted) else counted or {}
    if all(number < len(values) for number in counted for values in made):
        made = _pad_to_common_bound(regions, made, counted)
    for region, values in zip(regions, made, strict=True):
        region.output(*values)
    first, second = regions
    for value in second.captured[len(first.captured) :]:
        first.read(value)
    if [v.type for v in first.outputs] != [v.type for v in second.outputs]:
        types = [f"({', '.join(str(v.type) for v in region.outputs)})" for region in regions]
        raise GraphError(f"both sides of a branch have results of the same types, not {types[0]} and {types[1]}")
    results = [(v.shape, v.dtype) for v in first.outputs]
    values = builder.control([r.func.name for r in regions], [condition, *second.captured], results, None, name_hint)
    return _cut(builder, value_list(values), counted) if counted else values


def _pad_to_common_bound(
    regions: Sequence[RegionBuilder], made: Sequence[Sequence[Value]], counted: Counted
) -> list[list[Value]]:
    """The results of both sides, those that are counted with the greatest size that one may have, the axis first; then
    how many slices of each there are: (u0, 4) float32 -> (8, 4) float32 .. () int64."""
    bounds = [region.counted_sizes() for region in regions]
    whole = [list(values) for values in made]
    for number, (axis, name) in counted.items():
        sizes = [values[number].shape[axis] for values in made]
        most = {upper_bound(size, known) for size, known in zip(sizes, bounds, strict=True)}
        numbers = [size for size in most if isinstance(size, int)]
        if len(most) > 1 and len(numbers) < len(most):
            raise GraphError(
                f"the size {name} of a branch is at most {' or '.join(sorted(map(str, most)))}, as the side is, and "
                "memory is for one of them; fix: sizes that are numbers, or one size"
            )
        bound = max(numbers) if numbers else most.pop()
        for region, values in zip(regions, whole, strict=True):
            values[number], count = _pad_to_bound(region, values[number], axis, bound)
            values.append(count)
    return whole


def _pad_to_bound(region: RegionBuilder, x: Value, axis: int, bound: int | str) -> tuple[Value, Value]:
    """x with its axis first and as many slices as the bound, those behind its own are 0; the number of its own."""
    order = [axis, *(a for a in range(len(x.shape)) if a != axis)]
    x = region.op("permute_dims", x, axes=order) if axis else x
    positions = region.op("arange", end=region.sizes.expression(x.shape[0]), dtype="int64")
    zeros = region.op("broadcast_to", region.constant(np.zeros((), x.dtype)), shape=(bound, *x.shape[1:]))
    count = region.op("sum", region.op("ones_like", positions), axis=None)
    return region.op("index_put", zeros, positions, x), count


def _cut(builder: GraphBuilder, values: Sequence[Value], counted: Counted) -> Values:
    """The results of a branch, those that are counted with the slices that there are, in their own order of axes."""
    results, counts = list(values[: -len(counted)]), values[-len(counted) :]
    for (number, (axis, name)), count in zip(counted.items(), counts, strict=True):
        rows = builder.op("first_rows", results[number], count, rows={"size": name})
        order = [axis, *(a for a in range(len(rows.shape)) if a != axis)]
        back = [order.index(a) for a in range(len(order))]
        results[number] = builder.op("permute_dims", rows, axes=back) if axis else rows
    return results[0] if len(results) == 1 else tuple(results)


@implement(GraphBuilder.loop)
def loop(
    builder: GraphBuilder,
    body: Region,
    carried: Sequence[Value],
    scanned: Sequence[Value] = (),
    steps: int | str | Value | None = None,
    condition: Value | None = None,
    backward: bool = False,
    name_hint: str | Sequence[str] = "lv",
) -> Values:
    """See `GraphBuilder.loop`."""
    carried, scanned = builder._as_values("a loop", carried), builder._as_values("a loop", scanned)
    before = [_scalar(builder, v, t) for v, t in ((steps, "int64"), (condition, "bool")) if isinstance(v, Value)]
    if scanned and steps is None:
        steps = scanned[0].shape[0]
    at_most = None if isinstance(steps, Value) else steps
    if at_most is None and not before:
        raise GraphError("a loop has a number of steps, or a condition; fix: steps=... or condition=...")
    region = RegionBuilder("body", builder)
    region_inputs = [region.input("step", (), "int64")]
    region_inputs += [region.input(v.name, v.shape, v.dtype) for v in carried]
    region_inputs += [region.input(f"{v.name}_row", v.shape[1:], v.dtype) for v in scanned]
    region.output(*value_list(body(region, *region_inputs)))
    facts = LoopFacts(
        len(carried), len(scanned), at_most, isinstance(steps, Value), condition is not None, backward=backward
    )
    results = region.outputs[facts.tests :]
    _check_body(facts, region.outputs, carried)
    if len(results) > len(carried) and at_most is None:
        raise GraphError("a loop that stacks rows has a number of steps that is known; fix: steps=... as a number")
    if len(results) > len(carried) and facts.tests:
        raise GraphError(
            "a loop that stacks rows runs all its steps, or the number of rows depends on data; fix: no condition, and "
            "rows that are masked"
        )
    types = [(v.shape, v.dtype) for v in carried]
    types += [((at_most or 0, *v.shape), v.dtype) for v in results[len(carried) :]]
    inputs = [*before, *carried, *scanned, *region.captured]
    return builder.control([region.func.name], inputs, types, facts, name_hint)


def _scalar(builder: GraphBuilder, value: Value, dtype: str) -> Value:
    if any(size != 1 for size in value.shape):
        raise GraphError(f"{value.name} is {value.type}, and a loop takes one {dtype}; fix: one element")
    value = builder.op("reshape", value, shape=()) if value.shape else value
    return value if value.dtype == dtype else builder.op("astype", value, dtype=dtype)


def _check_body(facts: LoopFacts, outputs: Sequence[Value], carried: Sequence[Value]) -> None:
    """Errors: GraphError for a body that does not return the types that it is given."""
    if facts.tests and (not outputs or outputs[0].type != TensorType((), "bool")):
        raise GraphError("the body of a loop with a condition returns the next one first, a bool of no dimensions")
    for number, value in enumerate(carried):
        result = outputs[facts.tests + number] if facts.tests + number < len(outputs) else None
        if result is None or result.type != value.type:
            actual = "nothing" if result is None else str(result.type)
            raise GraphError(
                f"a loop carries {value.name}, {value.type}, and its body returns {actual} for it; fix: the same type"
            )
