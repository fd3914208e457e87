"""Accumulators of a reduction over vector lanes: one partial result for each lane, combined at the end."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, vector

from tir_mlir.dialect.ir import Buffer, Loop, create, emit_map, is_loop, walk
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, AFFINE_STORE
from tir_mlir.passes.lower.vector.peel_first import may_hoist, peel_first_iteration
from tir_mlir.passes.lower.vector.reductions import LaneReduction, is_invariant


@dataclass(frozen=True)
class Accumulator:
    """A vector accumulator: one row of a small buffer."""

    buffer: ir.Value
    start: int

    def load(self, width: int) -> ir.Value:
        type_ = ir.VectorType.get([width], ir.MemRefType(self.buffer.type).element_type)
        return ir.Operation.create("affine.vector_load", [type_], [self.buffer], self._map()).results[0]

    def store(self, value: ir.Value) -> None:
        ir.Operation.create("affine.vector_store", [], [value, self.buffer], self._map())

    def _map(self) -> dict[str, ir.Attribute]:
        return {"map": ir.AffineMapAttr.get(ir.AffineMap.get(0, 0, [ir.AffineExpr.get_constant(self.start)]))}


class PartialSums:
    """The accumulators of one reduction: `count` rows of `width` lanes, initialized before the outermost loop of the
    reduction and combined after it.
    """

    def __init__(self, sum_: LaneReduction, loop: Loop, width: int, count: int):
        self.sum, self.width, self.count = sum_, width, count
        self.top = _outermost_loop(sum_, loop)
        element = sum_.type
        with ir.InsertionPoint(self.top), self.top.location:
            self.buffer = create.alloc("parts", [width * count], Buffer(sum_.root).dtype)
            type_ = ir.VectorType.get([width], element)
            start = arith.constant(type_, ir.DenseElementsAttr.get_splat(type_, identity(sum_.chain[0].name, element)))
            for row in range(count):
                self.row_accumulator(row).store(start)

    def row_accumulator(self, row: int) -> Accumulator:
        return Accumulator(self.buffer, row * self.width)

    def finish(self) -> None:
        """Combine the accumulators pairwise, and with the old value."""
        sum_ = self.sum
        with ir.InsertionPoint.after(self.top), self.top.location:
            rows = [self.row_accumulator(row).load(self.width) for row in range(self.count)]
            while len(rows) > 1:
                half = len(rows) // 2
                rows = [sum_.combine(a, b) for a, b in zip(rows[:half], rows[half:], strict=True)]
            value = rows[0]
            size = self.width
            while size > 1:
                size //= 2
                low, high = (
                    vector.extract_strided_slice(ir.VectorType.get([size], sum_.type), value, [offset], [size], [1])
                    for offset in (0, size)
                )
                value = sum_.combine(low, high)
            total = vector.extract(value, [], [0])
            map_, operands = emit_map(sum_.indices)
            attributes = {"map": ir.AffineMapAttr.get(map_)}
            old = ir.Operation.create(AFFINE_LOAD, [sum_.type], [sum_.root, *operands], attributes).results[0]
            ir.Operation.create(AFFINE_STORE, [], [sum_.combine(old, total), sum_.root, *operands], attributes)


def _outermost_loop(sum_: LaneReduction, loop: Loop) -> ir.Operation:
    """The outermost loop around that the reduction runs over."""
    top = loop.op
    for parent in walk.parents(loop.op):
        if not is_loop(parent) or len(parent.results):
            break
        outer = Loop(parent)
        if outer.kind not in ("serial", "unrolled"):
            break
        peel_first_iteration(outer)
        if not may_hoist(outer) or not is_invariant(sum_, outer):
            break
        top = parent
    return top


def identity(name: str, element: ir.Type) -> ir.Attribute:
    """The identity of a combiner."""
    kind = name.removeprefix("arith.")
    if isinstance(element, ir.FloatType):
        value = {"addf": -0.0, "mulf": 1.0, "maximumf": -math.inf, "maxnumf": -math.inf}.get(kind, math.inf)
        return ir.FloatAttr.get(element, value)
    bits = 64 if isinstance(element, ir.IndexType) else ir.IntegerType(element).width
    least, ones = -(1 << (bits - 1)), -1
    identities = {"muli": 1, "maxsi": least, "minsi": -least - 1, "minui": ones, "andi": ones}
    return ir.IntegerAttr.get(element, identities.get(kind, 0))
