"""Regions as a program writes them: of the views that a block uses, where it speaks of those only."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.accesses import accesses, behind, in_view, memrefs
from tir_mlir.dialect.memo import only_reads
from tir_mlir.dialect.regions import Region, regions
from tir_mlir.dialect.views import Block, Buffer
from tir_mlir.dialect.walk import is_inside

_SUBVIEW = "memref.subview"


def resolved(region: Region) -> Region:
    """A region of a view as a region of the buffer behind it."""
    buffer, mins, extents, _ = behind(region.buffer, list(region.mins), list(region.extents))
    return Region(buffer, tuple(mins), tuple(extents))


@only_reads
def as_written(block: Block) -> tuple[list[Region], list[Region]]:
    """`regions(block)`, but a region of a view where the block reaches a buffer through that view only.

    A_sub = T.match_buffer(A[vi * 16:vi * 16 + 16], (16,))
    with T.block("b"):
        T.reads(A_sub[v])        not A[vi * 16 + v]
    """
    reads, writes = regions(block)
    used = {v for a in accesses(block.op) for v in memrefs(a.op)}
    if not any(Buffer(v).op is not None and Buffer(v).op.name == _SUBVIEW for v in used):  # type: ignore[union-attr]
        return reads, writes
    return [_seen(block, r) for r in reads], [_seen(block, r) for r in writes]


def _seen(block: Block, region: Region) -> Region:
    """A region of a buffer as one of the only view of it that the block uses."""
    chains = [_chain(block, v) for a in accesses(block.op) if a.buffer == region.buffer.value for v in memrefs(a.op)]
    chains = [c for c in chains if c[-1] == region.buffer]
    if not chains or any(c != chains[0] for c in chains):
        return region
    for view in reversed(chains[0][:-1]):
        found = in_view(view, region.mins, region.extents)
        if found is None:
            return region if region.buffer == chains[0][-1] else resolved(region)
        region = Region(view, tuple(found[0]), tuple(found[1]))
    return region


def _chain(block: Block, memref: ir.Value) -> list[Buffer]:
    """A view made outside the block, what it is a view of, and so on down to the buffer."""
    chain = [Buffer(memref)]
    while (op := chain[-1].op) is not None and op.name in (_SUBVIEW, "memref.cast"):
        chain.append(Buffer(op.operands[0]))
        if is_inside(op, block.op):
            chain = chain[-1:]
    return chain
