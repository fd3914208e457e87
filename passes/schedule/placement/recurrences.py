"""Check that the iterations of a recurrence at one point of its spatial iters can run again, and elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from tir_mlir.dialect.analysis import AccessRelation, iter_conflict, relations_of
from tir_mlir.dialect.ir import Block, Buffer, parent_op
from tir_mlir.dialect.presburger import dim_type, question
from tir_mlir.passes.schedule.legality import (
    KEEP_NEST,
    check_complete_or_reduction,
    check_reduction_order,
    check_self_contained,
    full_iters,
    runs_before,
    scope_of,
    writers,
    writes_of,
)
from tir_mlir.passes.schedule.placement.needed_region import iter_map
from tir_mlir.passes.schedule.registry import refuse


def check_repeatable(block: Block) -> None:
    """Refuse unless running a block again over its reduce and ordered iters gives the same values.

    A complete block or a reduction does. So does a recurrence, if iterations that differ in a spatial iter are
    independent, and what it reads of its results has been written by earlier iterations at the same spatial point.
    """
    if block.init is not None or all(i.kind != "O" for i in full_iters(block)):
        check_complete_or_reduction(block)
        return
    check_self_contained(block)
    _check_only_writer(block)
    if any(i.kind == "R" for i in block.iters):
        check_complete_or_reduction(block)
    spatial = [n for n, i in enumerate(block.iters) if i.kind == "S" and i.extent.as_constant() != 1]
    clash = iter_conflict(block, spatial)
    if clash is not None:
        name = block.iters[clash.number].name
        text = f'iterations of block "{block.name}" that differ in the spatial iter {name} depend on each other: '
        refuse(block, f"{text}{clash.text}", counterexample=clash.example, fix=KEEP_NEST)
    check_reduction_order(block)
    for buffer in writes_of(block):
        relations = relations_of(block.op, buffer)
        _check_restarts(
            block, [t for t in relations if t.access.is_write], [t for t in relations if not t.access.is_write]
        )


def _check_only_writer(block: Block) -> None:
    for buffer in writes_of(block):
        others = [b.name for b in writers(scope_of(block), buffer) if b != block]
        if others:
            text = f'block "{block.name}" is a recurrence in {Buffer(buffer).name}, which is also written by '
            refuse(block, f'{text}block "{others[0]}"', fix=KEEP_NEST)


def _check_restarts(block: Block, writes: Sequence[AccessRelation], reads: Sequence[AccessRelation]) -> None:
    """Refuse if an iteration reads an element that no earlier one at the same spatial point has written."""
    sure = [t for t in writes if t.access.exact and t.dom.exact]
    doubtful = [t for t in reads if not any(_runs_ahead(block, w, t) for w in sure)]
    if not doubtful:
        return
    with question(f'whether block "{block.name}" reads only what it has written'):
        missing = iter_map(block, doubtful, block.iters, True)
        if sure:
            missing = missing.subtract(
                _earlier_iterations(block, missing).apply_range(iter_map(block, sure, block.iters, True))
            )
        empty = missing.is_empty()
    if not empty:
        name = Buffer(reads[0].access.buffer).name
        text = f'block "{block.name}" starts from elements of {name} that it does not write itself; '
        refuse(block, f"{text}run again, it would start from its own results", fix=KEEP_NEST)


def _earlier_iterations(block: Block, like: isl.Map) -> isl.Map:
    """{ iters -> iters of an earlier iteration at the same spatial point }."""
    order = isl.Map.lex_gt(like.domain().get_space())
    first = order.dim(dim_type.in_) - len(block.iters)
    for number, it in enumerate(block.iters):
        if it.kind == "S":
            order = order.equate(dim_type.in_, first + number, dim_type.out, first + number)
    return order


def _runs_ahead(block: Block, write: AccessRelation, read: AccessRelation) -> bool:
    """Whether each iteration writes the element before it reads it, unconditionally."""
    written, loaded = write.access, read.access
    same = (
        written.is_point
        and loaded.is_point
        and all(x.is_equal_to(y) for x, y in zip(written.mins, loaded.mins, strict=True))
    )
    return same and parent_op(written.op) == block.op and runs_before(written.op, loaded.op)
