"""The names of linalg for generics, as upstream finds them."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import attrs, walk
from tir_mlir.passes.linalg import upstream

_KINDS = "iterator_types"
_KEPT = "tir.kinds"


def specialize(module: ir.Module) -> None:
    """Give every generic that is a named op its name, in place.

    Upstream takes a convolution of a plain image for `conv_1d`, `conv_2d`, `conv_3d` also where its windows lie some
    way apart, which these cannot say: generics like that are made unlike a convolution while it looks.
    """
    for op in walk.ops(module.operation):
        if op.name == "linalg.generic" and _is_spaced(op):
            kinds = op.attributes[_KINDS]
            op.attributes[_KEPT] = kinds
            op.attributes[_KINDS] = ir.ArrayAttr.get([_parallel()] * len(ir.ArrayAttr(kinds)))
    upstream.run(module, ["func.func(linalg-specialize-generic-ops)"])
    for op in walk.ops(module.operation):
        if _KEPT in op.attributes:
            op.attributes[_KINDS] = op.attributes[_KEPT]
            del op.attributes[_KEPT]


def _parallel() -> ir.Attribute:
    return ir.Attribute.parse("#linalg.iterator_type<parallel>")


def _is_spaced(op: ir.Operation) -> bool:
    """Whether a generic is a convolution without batches and channels whose windows are not neighbours."""
    maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(op.attributes["indexing_maps"])]
    if attrs.integers(op, "operandSegmentSizes") != [2, 1] or maps[0].n_dims != 2 * len(maps[-1].results):
        return False
    return any(_has_factor(e.maybe_downcast()) for map_ in maps[:-1] for e in map_.results)


def _has_factor(expr: ir.AffineExpr) -> bool:
    if isinstance(expr, ir.AffineMulExpr):
        return True
    return isinstance(expr, ir.AffineAddExpr) and any(_has_factor(e.maybe_downcast()) for e in (expr.lhs, expr.rhs))
