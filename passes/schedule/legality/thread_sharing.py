"""Which threads see one copy of a buffer."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Loop, is_loop, parents


def sharing(buffer: Buffer | str, loop: Loop) -> list[ir.Value]:
    """The variables of `loop` and of the loops around it that are bound to threads which share a buffer (or a storage
    scope): those of one block for `shared`, of one warp for `warp`. In `global` and `local` memory each thread looks
    after what it needs itself.
    """
    scope = (buffer if isinstance(buffer, str) else buffer.scope).split(".")[0]
    if scope not in ("shared", "warp"):
        return []
    around = [Loop(op) for op in (loop.op, *parents(loop.op)) if is_loop(op)]
    if scope == "warp":
        return [lp.var for lp in around if lp.kind == "threadIdx.x"]
    return [lp.var for lp in around if lp.kind.startswith(("threadIdx.", "vthread"))]
