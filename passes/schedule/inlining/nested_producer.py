"""The block in which a producer stores an intermediate buffer: the block itself, or one nested in it."""

from __future__ import annotations

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Block, Buffer, attrs, enclosing_block, parents
from tir_mlir.passes.schedule.legality import Scope


def storing_block(producer: Block, buffer: Buffer) -> Block:
    """The block around the only store of `producer` to a buffer; with several stores, the producer itself."""
    stores = [a.op for a in accesses(producer.op) if a.is_write and a.buffer == buffer.value]
    held = enclosing_block(stores[0]) if len(stores) == 1 else producer
    return held if isinstance(held, Block) else producer


def recompute_regions(block: Block, scope: Scope) -> None:
    """Let the regions of a block, and of those around it in a scope, be computed from their accesses."""
    around = parents(block.op)
    for op in [block.op, *around[: around.index(scope.op)]]:
        if attrs.BLOCK in op.attributes:
            attrs.put(op, attrs.READS, None)
            attrs.put(op, attrs.WRITES, None)
