"""Lower loops of kind `unrolled` to straight-line code."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Loop, attrs, edit, is_loop, walk
from tir_mlir.passes.lower.loops.keep_rolled import is_repeated_chain
from tir_mlir.passes.lower.registry import lowering, programs

LIMIT = 4096
"""Maximal number of ops after unrolling one loop; larger loops are left to LLVM."""


@lowering("tir-lower-unrolled", "Unroll loops of kind unrolled with a constant extent")
def run(module: ir.Module, limit: int | str = LIMIT) -> None:
    """Unroll each `unrolled` loop.

        for %j = 0 to 3 {body(%j)} {tir.kind = "unrolled"}   -->   body(0) body(1) body(2)

    A loop is kept if its extent is not constant, if the code would exceed `limit` ops, or if it is a long chain that
    the loop around it repeats (see `keep_rolled`). Inner loops first. Requires blocks to be removed.
    """
    for func in programs(module):
        marked = [o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "unrolled"]
        for op in reversed(marked):
            unroll(Loop(op), int(limit))


def unroll(loop: Loop, limit: int = LIMIT) -> bool:
    """Fully unroll one loop; returns whether it was done."""
    attrs.put(loop.op, attrs.KIND, None)
    count = loop.const_extent
    if count is None or count * (len(walk.ops(loop.op)) - 2) > limit or is_repeated_chain(loop.op):
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
