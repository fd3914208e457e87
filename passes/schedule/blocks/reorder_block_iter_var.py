"""reorder_block_iter_var: the iters of a block in another order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.ir import Block, Index, IterSpec
from tir_mlir.passes.schedule.edits import with_iters
from tir_mlir.passes.schedule.registry import primitive, refuse


@primitive("reorder_block_iter_var")
def reorder_block_iter_var(block: Block, new_order: list[int]) -> None:
    """List the iters of a block, with what they are bound to, in another order.

        with T.block("B"):                                  with T.block("B"):
            vi = T.axis.spatial(n, i)       [1, 0]              vj = T.axis.reduce(m, j)
            vj = T.axis.reduce(m, j)          ->                vi = T.axis.spatial(n, i)

    Loops, bindings and body stay: the program runs as before. Requires: `new_order` names each iter once, by its
    number.
    """
    iters = block.iters
    if sorted(new_order) != list(range(len(iters))):
        names = ", ".join(f"{n}: {i.name}" for n, i in enumerate(iters)) or "none"
        refuse(block, f'{new_order} is no order of the iters of block "{block.name}"; each is named once: {names}')
    if new_order == sorted(new_order):
        return

    chosen = [iters[n] for n in new_order]

    def old(values: Sequence[Index]) -> Mapping[ir.Value, Index]:
        return {it.var: value for it, value in zip(chosen, values, strict=True)}

    with_iters(block, [IterSpec(i.name, i.kind, i.min, i.extent, i.binding) for i in chosen], old)
