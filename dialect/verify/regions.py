"""The rule of declared regions: `T.reads` and `T.writes` cover all accesses of the block."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Region, computed, declared, explicit, hides, only_groups, unwritten_reads
from tir_mlir.dialect.analysis.accesses import READ, WRITE, touches
from tir_mlir.dialect.ir import Block, attrs, is_block, ops, parents
from tir_mlir.dialect.presburger import domain, only_where, question, region_map, smallest_point
from tir_mlir.dialect.verify.violation import fail


def declared_regions(op: ir.Operation) -> None:
    """Check that declared regions cover the accesses of the block, except regions the user takes responsibility for."""
    block = Block(op)
    if attrs.READS not in op.attributes and attrs.WRITES not in op.attributes:
        return
    if only_groups(block) or _names_whole_buffers(block):
        return
    actuals = computed(block)
    for key, actual in zip((attrs.READS, attrs.WRITES), actuals, strict=True):
        if key not in op.attributes:
            continue
        given = declared(block, key, [])
        word = "T.reads" if key == attrs.READS else "T.writes"
        free = {given[n].buffer for n in explicit(block, key) if 0 <= n < len(given)}
        for need in actual:
            have = [r for r in given if r.buffer == need.buffer]
            if need.buffer in free or (not have and hides(block, key)):
                continue
            if not have and key == attrs.READS and _reads_own_values(block, need, actuals[1]):
                continue
            if not have:
                fail(
                    op,
                    "regions",
                    f'block "{block.name}": {word} leaves out {need.buffer.name}, which the block accesses',
                )
            with question(f"{word} of {block.name}"):
                rest = _left_out(block, need, have[0], op)
                if not rest.is_empty() and (not block.iters or any(is_block(p) for p in parents(op))):
                    rest = _left_out(block, need, have[0], None)  # the enclosing iters and loops have domains
                if rest.is_empty():
                    continue
            fail(
                op,
                "regions",
                f'block "{block.name}": {word} of {need.buffer.name} is smaller than the region that the block accesses'
                f"{_element(need, rest)}{only_where(rest, op)}",
            )


def _names_whole_buffers(block: Block) -> bool:
    """Whether each buffer that a block accesses is declared as a whole, which covers any access inside the buffer."""
    own = {op.results[0] for op in ops(block.op) if op.name == "memref.alloc"}
    for key, kind in ((attrs.READS, READ), (attrs.WRITES, WRITE)):
        if key not in block.op.attributes:
            continue
        whole = {r.buffer.value for r in declared(block, key, []) if _is_whole(r)}
        if not whole.issuperset(t.buffer for t in touches(block.op) if t.kind == kind and t.buffer not in own):
            return False
    return True


def _is_whole(region: Region) -> bool:
    sizes = zip(region.extents, region.buffer.dims, strict=True)
    return all(i.as_constant() == 0 for i in region.mins) and all(a.same(b) for a, b in sizes)


def _element(need: Region, missing: isl.Map) -> str:
    """An element of a region that a declaration leaves out, for messages."""
    point = smallest_point(missing.range()) or []
    axes = len(need.mins)
    return f": it leaves out {need.buffer.name}[{', '.join(map(str, point[-axes:]))}]" if len(point) >= axes > 0 else ""


def _reads_own_values(block: Block, need: Region, writes: Sequence[Region]) -> bool:
    """Whether a block reads a buffer only after it has written the element itself: a reduction with its init inside."""
    if not any(w.buffer == need.buffer for w in writes):
        return False
    with question(f"whether block {block.name} writes {need.buffer.name} before it reads it"):
        return unwritten_reads(need.buffer.value, block.op) is None


def _left_out(block: Block, need: Region, given: Region, top: ir.Operation | None) -> isl.Map:
    """The elements of `need` not in `given`, in the iterations inside `top`."""
    used = [*need.mins, *need.extents, *given.mins, *given.extents]
    dom = domain(block.body.operations[0].operation, top, used)
    return region_map(dom, need.mins, need.extents).subtract(region_map(dom, given.mins, given.extents))
