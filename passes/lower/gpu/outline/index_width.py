"""Whether 32 bits hold all indices of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir import ir

from tir_mlir.dialect.ir import Index, Loop, attrs, is_loop, over_dims, walk
from tir_mlir.dialect.ir.lowering_op_views import GPUModuleOp
from tir_mlir.dialect.ir.op_views import AffineAccessOp, AffineIfOp, ConstantOp, IndexCastOp, MappedOp, isa
from tir_mlir.dialect.presburger import intervals

INDEX_BITS = "tir.index_bits"
"""On a `gpu.module`: 32 if that is enough for all indices of its kernels."""
_END = 2**31


def fits_32_bits(nest: ir.Operation) -> bool:
    """Whether all indices, offsets of elements and bounds in a nest, and what they are computed from, are less than
    2**31. False: not shown, as with sizes that only a call knows."""
    return all(_fits(op) for op in walk.ops(nest))


def _fits(op: ir.Operation) -> bool:
    if isa(op, IndexCastOp) or (
        op.name.startswith("arith.") and any(isinstance(v.type, ir.IndexType) for v in op.results)
    ):
        return isa(op, ConstantOp) and abs(ir.IntegerAttr(op.attributes["value"]).value) < _END
    if any(isinstance(v.type, ir.MemRefType) and not _is_small(ir.MemRefType(v.type)) for v in op.operands):
        return False
    box = intervals.body_ranges(op) if is_loop(op) else intervals.enclosing_ranges(op)
    return all(_expr_fits_32_bits(expr, dims) for expr, dims in _expressions(op, box))


def _is_small(type_: ir.MemRefType) -> bool:
    """Whether all elements of a buffer have offsets of less than 2**31."""
    if not type_.has_static_shape:
        return False
    strides, offset = type_.get_strides_and_offset()
    last = offset + sum((n - 1) * stride for n, stride in zip(type_.shape, strides, strict=True))
    return min(offset, *strides, 0) >= 0 and last < _END


def _expressions(op: ir.Operation, box: intervals.ValueRanges) -> Iterator[tuple[ir.AffineExpr, list[intervals.Range]]]:
    """The affine expressions of an op, each with the ranges of its dimensions."""
    if isa(op, AffineAccessOp):
        indices: Sequence[Index] = walk.access_indices(op)
    elif isa(op, AffineIfOp):
        indices = [constraint.index for constraint in walk.constraints(op)]
    elif is_loop(op):
        indices = [*Loop(op).lowers, *Loop(op).uppers]
    elif isa(op, MappedOp):
        map_ = attrs.map_of(op.attributes["map"])
        indices = [Index(expr, tuple(op.operands)) for expr in over_dims(map_)]
    else:
        indices = []
    for index in indices:
        yield index.expr, [intervals.known_range(value, box) for value in index.values]


def _expr_fits_32_bits(expr: ir.AffineExpr, dims: Sequence[intervals.Range]) -> bool:
    """Whether an expression and all parts of it are between -2**31 and 2**31."""
    low, high = intervals.expr_interval(expr, dims)
    if low is None or high is None or low < -_END or high >= _END:
        return False
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return True
    return _expr_fits_32_bits(expr.lhs, dims) and _expr_fits_32_bits(expr.rhs, dims)


def index_bits(module: ir.Module) -> int:
    """The width of an index in all kernels of a module."""
    holders = [op.operation for op in module.body.operations if isa(op, GPUModuleOp)]
    return 32 if all(attrs.get(op, INDEX_BITS, 64) == 32 for op in holders) else 64
