"""Elements at positions that are not evenly apart, loaded at once: `A[i, (j + 5) mod 56]`, `A[i, min(j, 7)]`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from mlir import ir
from mlir.dialects import arith, vector

from tir_mlir.dialect.constants.dense import dense_attr
from tir_mlir.dialect.ir import Index, apply, attrs, defining_op, read_map, step
from tir_mlir.dialect.ir.op_traits import INTEGER_RING, accessed_memref, both_signs
from tir_mlir.dialect.ir.op_views import (
    AddIOp,
    ApplyOp,
    BinaryOp,
    CastBaseOp,
    ConstantOp,
    IndexCastOp,
    IndexCastUIOp,
    MulIOp,
    isa,
)
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.memory.checks import SITE
from tir_mlir.passes.lower.memory.strides import is_padded
from tir_mlir.passes.lower.op_attrs import zero_vector

MAX_ELEMENTS = 2**31
"""Elements of a buffer that 32 bits count."""
MIN_BITS = 32
"""Bits of the elements that CPUs gather."""


def may_gather(op: ir.Operation, memref: ir.Value) -> bool:
    """Whether the elements that an op loads may be gathered: at known offsets in memory, unchecked, and wide enough."""
    type_ = ir.MemRefType(memref.type)
    strides, _ = type_.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_size(), ir.ShapedType.get_dynamic_stride_or_offset()
    if attrs.get(op, SITE) or is_padded(memref) or any(n in dynamic for n in (*type_.shape, *strides)):
        return False
    element = type_.element_type
    wide = isinstance(element, ir.F32Type | ir.F64Type) or getattr(element, "width", 0) in (MIN_BITS, 64)
    extent = sum((n - 1) * s for n, s in zip(type_.shape, strides, strict=True))
    return wide and strides[-1:] == [1] and extent < MAX_ELEMENTS and min(strides) > 0


def gather_elements(memref: ir.Value, indices: Sequence[Index | ir.Value], width: int) -> ir.Value:
    """A vector of the elements at some positions: an index of a dimension that all lanes share, or a vector of 32-bit
    integers."""
    type_ = ir.MemRefType(memref.type)
    strides, _ = type_.get_strides_and_offset()
    starts, offsets = [], None
    for index, stride in zip(indices, strides, strict=True):
        if isinstance(index, Index):
            starts.append(apply(index))
            continue
        starts.append(apply(Index.constant(0)))
        part = index if stride == 1 else arith.muli(index, _splat(ir.VectorType(index.type), stride))
        offsets = part if offsets is None else arith.addi(offsets, part)
    result = ir.VectorType.get([width], type_.element_type)
    bits = ir.VectorType.get([width], ir.IntegerType.get_signless(1))
    every = arith.constant(bits, ir.DenseElementsAttr.get_splat(bits, ir.BoolAttr.get(True)))
    return vector.gather(result, memref, starts, offsets, every, zero_vector(result))


def to_32_bits(value: ir.Value, vector_of: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """The vector of an index, in 32 bits."""
    cast = defining_op(value, IndexCastOp)
    wide = vector_of(value if cast is None else cast.source)
    element, short_type = ir.VectorType(wide.type).element_type, ir.IntegerType.get_signless(32)
    if element == short_type:
        return wide
    to = ir.VectorType.get(ir.VectorType(wide.type).shape, short_type)
    if isinstance(element, ir.IndexType):
        return arith.index_cast(to, wide)
    narrow = ir.IntegerType(element).width < 32
    unsigned = cast is not None and isa(cast.op, IndexCastUIOp)
    return (arith.extui if unsigned else arith.extsi)(to, wide) if narrow else arith.trunci(to, wide)


class LaneNumbers:
    """The values of index expressions in all lanes, as vectors of 32-bit integers. at: an expression in the first
    lane; box: the ranges of values."""

    def __init__(self, var: ir.Value, at: Callable[[Index], Index], width: int, box: intervals.ValueRanges):
        self.var, self.at, self.width, self.box = var, at, width, box
        self.type = ir.VectorType.get([width], ir.IntegerType.get_signless(32))

    def fits(self, index: Index) -> bool:
        """Whether an expression, and all that it is computed from, has 32 bits."""
        return self._fits(index.expr, index.values)

    def _fits(self, expr: ir.AffineExpr, values: Sequence[ir.Value]) -> bool:
        expr = expr.maybe_downcast()
        low, high = intervals.interval(Index(expr, tuple(values)), self.box)
        if low is None or high is None or low < -MAX_ELEMENTS or high >= MAX_ELEMENTS:
            return False
        return not isinstance(expr, ir.AffineBinaryExpr) or all(self._fits(e, values) for e in (expr.lhs, expr.rhs))

    def emit_vector(self, index: Index) -> ir.Value:
        """The values of an expression that fits."""
        grows = step(index, self.var)
        if grows is not None:
            first = arith.index_cast(ir.IntegerType.get_signless(32), apply(self.at(index)))
            numbers = np.arange(self.width, dtype=np.int32) * grows
            start = vector.broadcast(self.type, first)
            return arith.addi(start, arith.constant(self.type, dense_attr(numbers, self.type))) if grows else start
        expr, values = index.expr.maybe_downcast(), index.values
        assert isinstance(expr, ir.AffineBinaryExpr)
        left = Index(expr.lhs, values).drop_unused_values()
        right = Index(expr.rhs, values).drop_unused_values()
        if isinstance(expr, ir.AffineAddExpr):
            return arith.addi(self.emit_vector(left), self.emit_vector(right))
        if isinstance(expr, ir.AffineMulExpr):
            return arith.muli(self.emit_vector(left), self.emit_vector(right))
        return self._emit_division(expr, left, right)

    def _emit_division(self, expr: ir.AffineBinaryExpr, left: Index, right: Index) -> ir.Value:
        divisor = right.as_constant() or 1
        if isinstance(expr, ir.AffineCeilDivExpr):
            left = left + (divisor - 1)
        dividend, by = self.emit_vector(left), _splat(self.type, divisor)
        low, _ = intervals.interval(left, self.box)
        positive = low is not None and low >= 0
        quotient = arith.divui(dividend, by) if positive else arith.floordivsi(dividend, by)
        if not isinstance(expr, ir.AffineModExpr):
            return quotient
        return arith.subi(dividend, arith.muli(quotient, by))


def _splat(type_: ir.VectorType, value: int) -> ir.Value:
    return arith.constant(type_, ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(type_.element_type, value)))


# Accesses of adjacent elements at a loaded position: `A[P[i] + lane]`, `A[P[i], lane]`.


INTEGER_CASTS = IndexCastOp.names | both_signs("arith.extsi")


def is_indirect_row(op: ir.Operation, var: ir.Value, varying: AbstractSet[ir.Value]) -> bool:
    """Whether a `memref.load` or `memref.store` accesses adjacent elements in adjacent iterations of `var`.

    Sums of indices are taken not to wrap around: such an access would be outside its buffer.
    """
    if attrs.get(op, SITE):
        return False  # each element is checked
    memref = accessed_memref(op)
    strides, _ = ir.MemRefType(memref.type).get_strides_and_offset()
    if is_padded(memref) or not strides or strides[-1] != 1:
        return False
    *outer, last = list(op.operands)[-len(strides) :]
    return lane_step(last, var, varying) == 1 and all(lane_step(v, var, varying) == 0 for v in outer)


def lane_step(value: ir.Value, var: ir.Value, varying: AbstractSet[ir.Value]) -> int | None:
    """The increment of an integer when `var` increases by one, if constant; else None."""
    if value == var:
        return 1
    if value not in varying:
        return 0
    op = defining_op(value)
    if op is None:
        return None
    if isa(op, ApplyOp):
        index = read_map(attrs.map_of(op.attributes["map"]), list(op.operands))[0]
        return step(index, var) if all(v == var or v not in varying for v in index.values) else None
    if op.name in INTEGER_CASTS:
        return lane_step(CastBaseOp(op).source, var, varying)
    if op.name not in INTEGER_RING:
        return None
    a, b = (lane_step(v, var, varying) for v in op.operands)
    if a is None or b is None:
        return None
    if isa(op, MulIOp):
        return 0 if a == b == 0 else _product_step(BinaryOp(op), a, b)
    return a + b if isa(op, AddIOp) else a - b


def _product_step(product: BinaryOp, a: int, b: int) -> int | None:
    """The increment of a product with a constant."""
    for grows, factor in ((a, product.rhs), (b, product.lhs)):
        constant = defining_op(factor)
        if constant is not None and isa(constant, ConstantOp):
            return grows * ir.IntegerAttr(constant.attributes["value"]).value
    return None
