"""Where a producer stores an intermediate buffer: in the block itself, in one nested in it, or in loops inside it."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    Loop,
    attrs,
    enclosing_block,
    is_inside,
    is_loop,
    parents,
)
from tir_mlir.dialect.presburger import domain, question
from tir_mlir.passes.schedule.inlining.block_expression import BlockExpression, inverse_of
from tir_mlir.passes.schedule.legality import Scope
from tir_mlir.passes.schedule.registry import MOVE_UNDER_ONE_LOOP, inline_producer, refuse


def storing_block(producer: Block, buffer: Buffer) -> Block:
    """The block around the only store of `producer` to a buffer; with several stores, the producer itself."""
    stores = [a.op for a in accesses(producer.op) if a.is_write and a.buffer == buffer.value]
    storing = enclosing_block(stores[0]) if len(stores) == 1 else producer
    return storing if isinstance(storing, Block) else producer


def recompute_regions(block: Block, scope: Scope) -> None:
    """Let the regions of a block, and of those around it in a scope, be computed from their accesses."""
    enclosing = parents(block.op)
    for op in [block.op, *enclosing[: enclosing.index(scope.op)]]:
        if attrs.BLOCK in op.attributes:
            attrs.put(op, attrs.READS, None)
            attrs.put(op, attrs.WRITES, None)


def check_stores_once(producer: BlockExpression) -> None:
    """Refuse a producer that stores an element in two of its iterations, loops inside it included."""
    block = producer.block
    if not _inner_loops(producer):
        inverse_of(block, producer.indices)
        return
    with question(f'whether the loops in block "{block.name}" store each element once'):
        dom = domain(producer.store, block.op, producer.indices)
        once = dom.map([*(Index.of(v) for v in dom.dims[: dom.free]), *producer.indices]).is_injective()
    if not once:
        text = f'two iterations of the loops in block "{block.name}" store the same element of {producer.buffer.name}'
        refuse(block, text, fix=MOVE_UNDER_ONE_LOOP)


def check_guards_whole_block(producer: BlockExpression, conditions: Sequence[Constraint]) -> None:
    """Refuse conditions on the loops inside a producer: they cannot guard the block."""
    inner = _inner_loops(producer)
    if any(v in inner for c in conditions for v in c.index.values):
        text = f'only a part of what the loops in block "{producer.block.name}" compute is read; no guard on the block '
        refuse(producer.block, f"{text}separates the two", fix=inline_producer(producer.block))


def _inner_loops(producer: BlockExpression) -> list[ir.Value]:
    """The variables of the loops between a block and its store."""
    return [Loop(p).var for p in parents(producer.store) if is_loop(p) and is_inside(p, producer.block.op)]
