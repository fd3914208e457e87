"""Loops that only find a value become the value."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import constant_integer, walk
from tir_mlir.dialect.ir.op_views import CompareIntegersOp, IfOp, ScfForOp, ScfIfOp, YieldOp, isa, matches
from tir_mlir.passes.lower.registry import Content, lowering

_EQ, _SLE, _SLT = 0, 3, 2  # predicates of arith.cmpi


@lowering(
    "tir-lower-bindings", "Take a value directly where a loop only searches for it", works_on=Content(ops={*IfOp.names})
)
def run(module: ir.Module) -> None:
    """Replace a search by the value that it finds.

        scf.for %i = %low to %high step 1 {              %in = %low <= %x and %x < %high
          %same = arith.cmpi eq, %i, %x          -->     scf.if %in { use(%x) }
          scf.if %same { use(%i) }
        }

    Such loops stand for iters whose binding is not affine. Runs on scf loops.
    """
    for op in [o for o in walk.ops(module.operation) if isa(o, ScfForOp)]:  # what a search has in it is erased
        if (searched := _match_search(op)) is not None:
            _take(op, *searched)


def _match_search(op: ir.Operation) -> tuple[ir.Value, ir.Operation] | None:
    """The value that a loop searches for, and the `scf.if` of its body; None for any other loop."""
    variable, *carried = op.regions[0].blocks[0].arguments
    body = [o.operation for o in op.regions[0].blocks[0].operations]
    if carried or constant_integer(ScfForOp(op).step) != 1 or not matches(body, CompareIntegersOp, ScfIfOp, YieldOp):
        return None
    test, branch = body[:2]
    if CompareIntegersOp(test).predicate != _EQ or ScfIfOp(branch).condition != test.results[0]:
        return None
    if len(branch.results) or len(branch.regions[1].blocks) or variable not in test.operands:
        return None
    value = next((v for v in test.operands if v != variable), None)
    return None if value is None else (value, branch)


def _take(op: ir.Operation, value: ir.Value, branch: ir.Operation) -> None:
    low, high = ScfForOp(op).lower, ScfForOp(op).upper
    with ir.InsertionPoint(op), op.location:
        in_range = arith.andi(arith.cmpi(_SLE, low, value), arith.cmpi(_SLT, value, high))
    branch.move_before(op)
    ScfIfOp(branch).condition = in_range
    op.regions[0].blocks[0].arguments[0].replace_all_uses_with(value)
    op.erase()
