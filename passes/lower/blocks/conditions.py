"""Lower guards and init regions to plain conditions; fold those that the loop ranges decide."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import attrs, edit, walk
from tir_mlir.dialect.ir.op_views import AffineIfOp, isa
from tir_mlir.dialect.presburger import sets
from tir_mlir.passes.lower.registry import lowering, programs


@lowering(
    "tir-lower-conditions", "Lower T.where and T.init to plain conditions, and fold those that the loop ranges decide"
)
def run(module: ir.Module) -> None:
    """Lower guards and init regions, and fold conditions.

        affine.if (%i * 16 + %j < 1024) {       -->   body          (with %i < 64, %j < 16)
          body
        } {tir.where}

    Drops constraints that always hold; erases the body of a condition that never holds. The results of an `if` come
    from the branch taken. Requires nothing; undecided conditions are kept.
    """
    for func in programs(module):
        for op in walk.ops(func.op):
            if isa(op, AffineIfOp):
                for tag in (attrs.WHERE, attrs.INIT):
                    attrs.put(op, tag, None)
        for op in reversed([o for o in walk.ops(func.op) if isa(o, AffineIfOp)]):
            fold(op)


def fold(op: ir.Operation) -> None:
    """Fold one `affine.if` if possible."""
    verdict = _decide(op)
    if verdict is True:
        _splice(op, op.regions[0])
    elif verdict is False:
        _splice(op, op.regions[1])
    elif verdict is not None:
        edit.rebuild_guard(op, verdict)


def _decide(op: ir.Operation) -> bool | list | None:
    """True, False, the remaining constraints, or None if undecided."""
    conditions = walk.constraints(op)
    open_ = [c for c in conditions if not (c.is_eq and c.index.as_constant() == 0)]
    if not open_:
        return True
    try:
        domain = sets.domain(op, extra=[c.index for c in open_])
        with sets.question("a condition"):
            if domain.set.is_disjoint(sets.guard_set(domain, op)):
                return False
            undecided = [c for c in open_ if not sets.holds(domain, c.index, c.is_eq)]
    except (NotProvable, KeyError):  # a value that isl cannot express
        return None
    if not undecided:
        return True
    return undecided if len(undecided) < len(conditions) else None


def _splice(op: ir.Operation, region: ir.Region) -> None:
    """Replace the `if` by one of its branches."""
    if len(region.blocks):
        *body, end = list(region.blocks[0].operations)
        for inner in body:
            inner.move_before(op)
        for result, value in zip(op.results, end.operands, strict=True):
            result.replace_all_uses_with(value)
    op.erase()
