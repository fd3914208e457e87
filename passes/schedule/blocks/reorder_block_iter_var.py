"""reorder_block_iter_var: permute the iters of a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, Index, IterSpec
from tir_mlir.passes.schedule.edits import replace_iters
from tir_mlir.passes.schedule.registry import primitive, refuse


@primitive("reorder_block_iter_var", moves="in place")
def reorder_block_iter_var(block: Block, new_order: list[int]) -> None:
    """Permute the iters of a block, with their bindings.

        with T.block("B"):                                  with T.block("B"):
            vi = T.axis.spatial(n, i)       [1, 0]              vj = T.axis.reduce(m, j)
            vj = T.axis.reduce(m, j)          ->                vi = T.axis.spatial(n, i)

    Loops, bindings and body do not change. Requires: `new_order` is a permutation of the iter positions.
    """
    iters = block.iters
    if sorted(new_order) != list(range(len(iters))):
        names = ", ".join(f"{n}: {i.name}" for n, i in enumerate(iters)) or "none"
        refuse(block, f'{new_order} is not a permutation of the iters of block "{block.name}": {names}')
    if new_order == sorted(new_order):
        return

    emit_remark(f"the loops keep their order: only the order in which block `{block.name}` lists its iters changes")
    chosen = [iters[n] for n in new_order]

    def old(values: Sequence[Index]) -> Mapping[ir.Value, Index]:
        return {it.var: value for it, value in zip(chosen, values, strict=True)}

    replace_iters(block, [IterSpec.like(i) for i in chosen], old)
