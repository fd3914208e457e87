"""Small constants, the order of elements, and bounds that hold at an op."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Index, walk
from tir_mlir.dialect.presburger import intervals, sets
from tir_mlir.dialect.symbolic import Symbol, from_affine


def is_row_major(type_: ir.MemRefType) -> bool:
    """Whether the elements of a memref follow each other, the last index first."""
    return type_.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))


def index_text(index: Index) -> str:
    """An index with the names of loops: `i * 16 + k`."""
    names = [Symbol(walk.enclosing_loop_name(value) or "size") for value in index.values]
    return str(from_affine(index.expr, names))


def zero_vector(type_: ir.Type) -> ir.Value:
    """Emit a vector of zeros."""
    element = ir.VectorType(type_).element_type
    zero = ir.FloatAttr.get(element, 0) if isinstance(element, ir.FloatType) else ir.IntegerAttr.get(element, 0)
    return arith.constant(type_, ir.DenseElementsAttr.get_splat(type_, zero))


def is_nonnegative(op: ir.Operation, index: Index) -> bool:
    """Whether `index >= 0` in every iteration of the loops around an op, by intervals, then isl."""
    if intervals.at_least_zero(index, intervals.enclosing_ranges(op)):
        return True
    try:
        domain = sets.domain(op, extra=[index])
        with sets.question("a bound"):
            return sets.holds(domain, index)
    except (NotProvable, KeyError):  # a value that isl cannot express
        return False
