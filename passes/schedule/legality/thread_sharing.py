"""Which threads share one copy of a buffer."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Loop, is_loop, parents


def sharing_threads(buffer: Buffer | str, loop: Loop) -> list[ir.Value]:
    """The thread-bound variables of `loop` and its parents whose threads share a buffer or storage scope.

    `shared` memory is shared by the threads of a block, `warp` memory by those of a warp. `global` and `local` memory
    give an empty list: each thread produces what it needs.
    """
    scope = (buffer if isinstance(buffer, str) else buffer.scope).split(".")[0]
    if scope not in ("shared", "warp"):
        return []
    loops = [Loop(op) for op in (loop.op, *parents(loop.op)) if is_loop(op)]
    if scope == "warp":
        return [lp.var for lp in loops if lp.kind == "threadIdx.x"]
    return [lp.var for lp in loops if lp.kind.startswith(("threadIdx.", "vthread"))]
