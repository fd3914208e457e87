"""add_unit_loop: wrap a block or loop in a loop of extent 1."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Block, Func, Loop, create, edit, outermost_with_searches
from tir_mlir.passes.schedule.registry import primitive


@primitive("add_unit_loop", moves="nothing", proves=False)
def add_unit_loop(block_or_loop: Block | Loop | Func) -> Loop:
    """Wrap a block or loop in a loop of extent 1.

        with T.block("b"): ...      ->      for u in range(1):
                                                with T.block("b"): ...

    Execution does not change. Nothing is bound to the new loop. A guard remains with its block, inside the loop.
    Requires: not the root block (ValueError).
    """
    if isinstance(block_or_loop, Func):
        raise ValueError("the root block is the whole function; a loop goes around a block or loop inside it")
    inner = outermost_with_searches(block_or_loop) if isinstance(block_or_loop, Block) else block_or_loop.op

    with ir.InsertionPoint(inner), inner.location:
        loop = create.loop("u", 0, 1)
    edit.move_before(inner, list(loop.body.operations)[-1])
    return loop
