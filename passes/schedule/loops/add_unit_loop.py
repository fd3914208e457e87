"""add_unit_loop: a loop that runs once."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Block, Func, Loop, create
from tir_mlir.passes.schedule.registry import primitive


@primitive("add_unit_loop")
def add_unit_loop(block_or_loop: Block | Loop | Func) -> Loop:
    """Put a loop that runs once around a block or loop.

        with T.block("b"): ...      ->      for u in range(1):
                                                with T.block("b"): ...

    Everything runs as often and in the same order as before. Nothing is bound to the new loop. A guard stays with its
    block, inside. Requires: not the root block (ValueError), which no loop can hold.
    """
    if isinstance(block_or_loop, Func):
        raise ValueError("the root block is the whole function; a loop goes around a block or loop inside it")
    inner = block_or_loop.outermost if isinstance(block_or_loop, Block) else block_or_loop.op

    with ir.InsertionPoint(inner), inner.location:
        loop = create.loop("u", 0, 1)
    inner.move_before(list(loop.body.operations)[-1])
    return loop
