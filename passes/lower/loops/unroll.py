"""Loops marked `unrolled` become straight code."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Loop, attrs, edit, is_loop, walk
from tir_mlir.passes.lower.loops.keep_rolled import is_repeated
from tir_mlir.passes.lower.registry import lowering, programs

LIMIT = 4096
"""Ops that one unrolled loop may become; beyond, the loop stays and LLVM decides."""


@lowering("tir-lower-unrolled", "unroll the loops marked so, where the extent is constant and the code stays small")
def run(module: ir.Module, limit: int | str = LIMIT) -> None:
    """Repeat the body of each `unrolled` loop.

        for %j = 0 to 3 {body(%j)} {tir.kind = "unrolled"}   -->   body(0) body(1) body(2)

    Unrolling is a wish about speed: a loop whose extent is not constant, whose code would exceed `limit` ops, or that
    the loop around it repeats as one long chain (see `chains`), stays a loop. Inner loops go first. Requires blocks to
    be removed.
    """
    for func in programs(module):
        marked = [o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "unrolled"]
        for op in reversed(marked):
            unroll(Loop(op), int(limit))


def unroll(loop: Loop, limit: int = LIMIT) -> bool:
    """Unroll one loop fully; whether it was done."""
    attrs.put(loop.op, attrs.KIND, None)
    count = loop.const_extent
    if count is None or count * (len(walk.ops(loop.op)) - 2) > limit or is_repeated(loop.op):
        return False
    for number in range(max(count, 0)):
        copy = loop.op.clone(ip=ir.InsertionPoint(loop.op)).operation
        body = copy.regions[0].blocks[0]
        edit.substitute({body.arguments[0]: loop.lower + number})
        for inner in list(body.operations)[:-1]:
            inner.move_before(copy)
        copy.erase()
    loop.op.erase()
    return True
