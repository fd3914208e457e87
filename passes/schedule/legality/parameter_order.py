"""Whether two versions of a function access parameters that may be the same memory in the same order.

A step proves that every value is computed from the same values as before, for parameters that are distinct buffers. It
then also holds for parameters that overlap in any way if it moves, adds and removes no access to them: every read of a
parameter follows the same writes of parameters, at the same elements, and so sees the same value. What the step does
with allocated buffers, which overlap with nothing, does not matter.

The accesses of two versions correspond if they are the same list, in program order, of loads and stores, each of the
same parameter, under the same loops (by id), and of the same elements in the same iterations (equal relations, with the
bounds and guards in their domains). Two iterations run in the order of their common loops, and else in program order,
so the order of all pairs is then the same. Blocks, and what is between the loops besides, do not matter: a step may
nest the accesses in new blocks, and move others between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access
from tir_mlir.dialect.analysis.access_relations import relation_of
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import NotAffine, NotProvable
from tir_mlir.dialect.ir import Buffer, Func, Loop, is_block, is_loop, only_reads, parents
from tir_mlir.dialect.ir.op_views import AffineAccessOp, AffineIfOp, isa
from tir_mlir.dialect.presburger import question


@dataclass(frozen=True)
class _Ordered:
    """An access of a parameter. order_key: its kind, parameter and loops, which determine its order."""

    order_key: tuple[object, ...]
    relation: isl.Map


@only_reads
def parameter_accesses(func: Func) -> list[_Ordered] | None:
    """The accesses of parameters in program order; None if the elements, or the iterations, of one are not known."""
    result = []
    for access in accesses(func.op):
        if not Buffer(access.buffer).is_param:
            continue
        position = _order_key(access, func)
        if position is None:
            return None
        try:
            with question(f"which elements of {Buffer(access.buffer).name} are accessed"):
                touch = relation_of(access)
                relation = touch.relation
        except (NotAffine, NotProvable):
            return None
        if not touch.dom.exact:
            return None
        result.append(_Ordered(position, relation))
    return result


def _order_key(access: Access, func: Func) -> tuple[object, ...] | None:
    """What determines the order of an access; None for one under a condition or a loop over data, or of a kernel."""
    if not isa(access.op, AffineAccessOp) or not access.exact or access.parts:
        return None
    above = parents(access.op)
    above = above[: above.index(func.op)]
    if not all(is_loop(p) or is_block(p) or isa(p, AffineIfOp) for p in above):
        return None
    loops = tuple((Loop(p).id, Loop(p).kind) for p in above if is_loop(p))
    parameter = access.buffer
    return access.kind, ir.BlockArgument(parameter).arg_number, str(parameter.type), loops


def keeps_order(old: list[_Ordered] | None, new: list[_Ordered] | None) -> bool:
    """Whether two versions of a function access its parameters in the same order, as far as can be proved."""
    if old is None or new is None or [a.order_key for a in old] != [a.order_key for a in new]:
        return False
    try:
        with question("whether parameters that may be the same memory are accessed in the order of before"):
            return all(a.relation.is_equal(b.relation) for a, b in zip(old, new, strict=True))
    except NotProvable:
        return False
