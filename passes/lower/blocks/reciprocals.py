"""Divide by multiplying with a reciprocal, where a block allows it."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import Block, Loop, defining_op, edit, is_block, is_loop, walk
from tir_mlir.dialect.ir.op_traits import ROUNDINGS
from tir_mlir.dialect.ir.op_views import DivFOp, ElementLoadOp, isa
from tir_mlir.passes.lower.registry import Content, lowering, programs

KEY = "reciprocal"


@lowering(
    "tir-lower-reciprocals",
    "Multiply with the reciprocal of divisors that are the same in all iterations",
    works_on=Content(annotations={KEY}),
)
def run(module: ir.Module) -> None:
    """Divide once for the innermost loop around a block with the annotation "reciprocal".

        for %j {                                           for %j {
          %s = affine.load %total[%vi]                       %s = affine.load %total[%vi]
          %q = arith.divf %x, %s : f32              -->      %r = arith.divf 1.0, %s : f32
        }                                                    %q = arith.mulf %x, %r : f32
                                                           }
    Applies to divisors that are loaded, or computed from loaded values, the same for all iterations of the loop: later
    passes move their reciprocal out of it. The quotient is rounded twice, so one that is compared or rounded to an
    integer remains: floor(x / x) is 1. Requires blocks.
    """
    for func in programs(module):
        for block in [Block(op) for op in walk.ops(func.op) if is_block(op)]:  # before divisions are erased
            if KEY in block.annotations:
                _rewrite(block)


def _rewrite(block: Block) -> None:
    for quotient in walk.views_in(block.op, DivFOp):
        op = quotient.op
        loop = next((Loop(p) for p in walk.parents(op) if is_loop(p)), None)
        if loop is not None and _is_row_value(quotient.rhs, loop) and not _steps(op):
            with ir.InsertionPoint(op), op.location:
                unit = arith.constant(quotient.result.type, 1.0)
                product = arith.mulf(quotient.lhs, arith.divf(unit, quotient.rhs))
            edit.replace_uses(quotient.result, product)
            edit.erase(op)


def _steps(quotient: ir.Operation) -> bool:
    """Whether a function that jumps depends on a value, within its block: an error of one ulp may change it by 1."""
    pending, seen = list(quotient.results), set()
    while pending:
        for use in pending.pop().uses:
            user = use.owner
            if user.name in ROUNDINGS:
                return True
            new = [r for r in user.results if r not in seen]
            seen.update(new)
            pending += new
    return False


def _is_row_value(divisor: ir.Value, loop: Loop) -> bool:
    """Whether a value depends on memory, and is the same for all iterations of a loop."""
    varying, loaded, pending = _varying(loop), False, [divisor]
    while pending:
        value = pending.pop()
        if value in varying:
            return False
        source = defining_op(value)
        if source is not None and walk.is_inside(source, loop.op):
            loaded |= isa(source, ElementLoadOp)
            pending += list(source.operands)
    return loaded


def _varying(loop: Loop) -> set[ir.Value]:
    """The variable of a loop, and the iters below it that are bound to expressions of it."""
    varying = {loop.var}
    for op in walk.ops(loop.op):
        if is_block(op):
            varying |= {it.var for it in Block(op).iters if any(v in varying for v in it.binding.values)}
    return varying
