"""Guards and init regions become plain conditions, and those that the loop ranges decide go away."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import attrs, edit, walk
from tir_mlir.dialect.presburger import sets
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-conditions", "drop the tags of where and init; fold conditions that the loop ranges decide")
def run(module: ir.Module) -> None:
    """Fold what is known, keep the rest.

        affine.if (%i * 16 + %j < 1024) {       -->   body          (with %i < 64, %j < 16)
          body
        } {tir.where}

    A constraint that always holds is left out of its condition; a condition that never holds loses its body. Values of
    an `if` with results come from the branch taken. Requires nothing; what isl cannot decide stays.
    """
    for func in programs(module):
        for op in walk.ops(func.op):
            if op.name == "affine.if":
                for tag in (attrs.WHERE, attrs.INIT):
                    attrs.put(op, tag, None)
        for op in reversed([o for o in walk.ops(func.op) if o.name == "affine.if"]):
            fold(op)


def fold(op: ir.Operation) -> None:
    """Decide one `affine.if` if possible."""
    verdict = _decide(op)
    if verdict is True:
        _splice(op, op.regions[0])
    elif verdict is False:
        _splice(op, op.regions[1])
    elif verdict is not None:
        edit.rebuild_guard(op, verdict)


def _decide(op: ir.Operation) -> bool | list | None:
    """True, False, the constraints that remain, or None when nothing is known."""
    conditions = walk.constraints(op)
    open_ = [c for c in conditions if not (c.is_eq and c.index.as_constant() == 0)]
    if not open_:
        return True
    try:
        domain = sets.domain(op, extra=[c.index for c in open_])
        with sets.question("a condition"):
            if domain.set.is_disjoint(sets.guard_set(domain, op)):
                return False
            kept = [c for c in open_ if not sets.holds(domain, c.index, c.is_eq)]
    except (NotProvable, KeyError):  # a value that isl does not know
        return None
    if not kept:
        return True
    return kept if len(kept) < len(conditions) else None


def _splice(op: ir.Operation, region: ir.Region) -> None:
    """Put the branch taken in place of the `if`."""
    if len(region.blocks):
        *body, end = list(region.blocks[0].operations)
        for inner in body:
            inner.move_before(op)
        for result, value in zip(op.results, end.operands, strict=True):
            result.replace_all_uses_with(value)
    op.erase()
