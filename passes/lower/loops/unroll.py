"""Lower loops of kind `unrolled` to straight-line code."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Loop, apply, attrs, edit, is_loop, walk
from tir_mlir.dialect.ir.op_views import ConstantOp, isa
from tir_mlir.passes.lower.loops.keep_rolled import is_repeated_chain
from tir_mlir.passes.lower.outcomes import Outcomes
from tir_mlir.passes.lower.registry import Content, lowering, programs

LIMIT = 4096
"""Maximal number of ops after unrolling one loop, without constants; larger loops are left to LLVM."""


@lowering(
    "tir-lower-unroll", "Unroll loops of kind unrolled with a constant extent", works_on=Content(kinds={"unrolled"})
)
def run(module: ir.Module, limit: int | str = LIMIT) -> None:
    """Unroll each `unrolled` loop.

        for %j = 0 to 3 {body(%j)} {tir.kind = "unrolled"}   -->   body(0) body(1) body(2)

    A loop is kept, with a LoweringWarning, if its extent is not constant, if the code would exceed `limit` ops, or if
    it is a long chain that the loop around it repeats (see `keep_rolled`). Inner loops first. Requires blocks to be
    removed.
    """
    outcomes = Outcomes()
    for func in programs(module):
        marked = [o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "unrolled"]
        for op in reversed(marked):
            loop = Loop(op)
            key = Outcomes.key(loop, f'unrolled loop "{loop.name}" is kept as a loop')
            why = unroll(loop, int(limit))
            if why:
                outcomes.add_piece(loop, key, why)
            else:
                outcomes.add(key, "")
    outcomes.warn()


def unroll(loop: Loop, limit: int = LIMIT) -> str:
    """Fully unroll one loop; returns the reason and the way out if that is not done, else ""."""
    attrs.put(loop.op, attrs.KIND, None)
    count = loop.const_extent
    if count is None:
        return "its extent is not constant; split it by a constant factor and unroll the inner loop"
    code = [op for op in walk.ops(loop.op) if not isa(op, ConstantOp)]
    if (size := count * (len(code) - 2)) > limit:
        return f"it would become {size} ops, at most {limit}; split it and unroll the inner loop"
    if is_repeated_chain(loop.op):
        return (
            "it is a long chain of dependent steps, which LLVM would compile for minutes; split it, or leave it serial"
        )
    for number in range(max(count, 0)):
        copy = loop.op.clone(ip=ir.InsertionPoint(loop.op)).operation
        body = copy.regions[0].blocks[0]
        with ir.InsertionPoint(copy), copy.location:
            value = apply(loop.lower + number)  # who reads an index looks through it, and upstream folds it
        edit.replace_uses(body.arguments[0], value)
        for inner in list(body.operations)[:-1]:
            inner.move_before(copy)
        copy.erase()
    loop.op.erase()
    return ""
