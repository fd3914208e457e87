"""loop_partition: cut the range of a loop into consecutive segments."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import Region, declare
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.analysis.regions import regions
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, Buffer, Index, Iter, Loop, all_blocks, attrs, blocks_below, create, edit, walk
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.verify import left_out
from tir_mlir.passes.schedule.edits import shrink_domains, simplify_bindings
from tir_mlir.passes.schedule.registry import WRAP_IN_BLOCK, check, check_plain, primitive, refuse, warn_serial


@primitive("loop_partition", moves="in place", keeps_order=True)
def loop_partition(loop: Loop, factors: list[int | None], preserve_unit_iters: bool = True) -> list[Loop]:
    """Cut the range of a loop into segments, each a loop with its own copy of the body.

        for i in range(n):                      with T.block("b_i_common"):
            with T.block("b"):                      with T.block("b_i0_partition"):
                vi = S(n, i)                            for i0 in range(f):
                body(vi)                ->                  with T.block("b_i0"): vi = S(f, i0); body(vi)
                                                    with T.block("b_i1_partition"):
                                                        for i1 in range(f, n):
                                                            with T.block("b_i1"): vi = S((f, n), i1); body(vi)

    `factors` are the lengths of the segments. One may be None for the rest of the range; without a None, a segment up
    to the end is appended. An iter bound to the loop itself is restricted to its segment, and regions at plain iters
    are declared over the restricted domains. If a block covers its domain only partly (for instance `vi = S(n, i *
    2)`), the domains of its copies shrink to what their segment reaches. Each iteration still runs once, in the same
    order. Returns the new loops.

    Requires: constant bounds; no annotation or thread binding; positive factors whose sum is less than the extent; a
    block in the loop and no write outside of one; no reduction with an init over the loop itself, because the init
    would run once in each segment.
    """
    check_plain(loop, "loop_partition")
    ends = _ends(loop, factors)
    blocks = blocks_below(loop.op)
    loads = _check_body(loop, blocks)
    parts = f"the parts of `{loop.name}` follow one another and cover it"
    emit_remark(f"{parts}: each iteration runs once, in the order of before")
    warn_serial([loop], "loop_partition")
    segments = _segments(loop, blocks[0].name, ends, loads)
    edit.erase(loop.op)
    if not preserve_unit_iters:
        for segment in segments:
            simplify_bindings([segment], preserve_unit_iters)
    for block in [b for segment in segments for b in blocks_below(segment.op) if left_out(b)]:
        shrink_domains(block)
    return segments


def _segments(loop: Loop, first: str, ends: Sequence[int], loads: bool) -> list[Loop]:
    """A loop for each segment, with a copy of the body, in blocks that hold them. `first`: the name of a block."""
    name = loop.name
    with ir.InsertionPoint(loop.op), loop.op.location:
        common = _group_block(f"{first}_{name}_common", loads)
    segments = []
    start = loop.lower.as_constant() or 0
    for number, end in enumerate(ends):
        with create.at_end(common.body), loop.op.location:
            holder = _group_block(f"{first}_{name}{number}_partition", loads)
        segments.append(_segment(loop, holder, f"{name}{number}", (start, end)))
        start = end
    return segments


def _check_body(loop: Loop, blocks: Sequence[Block]) -> bool:
    """Refuse a body that cannot be placed in the holder blocks or duplicated. Returns whether it loads outside of
    blocks, as for a condition on data.
    """
    check(
        bool(blocks),
        loop,
        f"loop {loop.name} contains no block; loop_partition names the segments after one",
        fix="pass a loop around a block",
    )
    outside = [a for a in accesses(loop.op) if not any(walk.is_inside(a.op, b.op) for b in blocks)]
    for access in outside:
        if access.is_write or not is_pure(access.op):
            refuse(
                loop,
                f"{Buffer(access.buffer).name} is accessed in loop {loop.name} outside any block, and the "
                "blocks that hold the segments declare no regions",
                fix=WRAP_IN_BLOCK,
            )
    for block in blocks:
        for it in _iters_bound_to(block, loop):
            if it.kind == "R" and block.init is not None:
                refuse(
                    block,
                    f'iter {it.name} of block "{block.name}" reduces over loop {loop.name}, and each segment '
                    "would restart the reduction; apply decompose_reduction first",
                )
    return bool(outside)


def _ends(loop: Loop, factors: Sequence[int | None]) -> list[int]:
    """The end of each segment."""
    start, extent = loop.lower.as_constant(), loop.const_extent
    if start is None or extent is None:
        refuse(
            loop,
            f"loop {loop.name} has symbolic bounds; segments need constant ones",
            fix="split it by a constant first, and partition its inner part",
        )
    check(
        len(factors) > 0,
        loop,
        "loop_partition needs the length of at least one segment",
        fix="for instance, [1, None] splits off the first iteration",
    )
    unknown = [n for n, f in enumerate(factors) if f is None]
    check(
        len(unknown) <= 1,
        loop,
        f"one segment can take the rest of the range; {len(unknown)} of {factors} are None",
        fix="give all lengths but one",
    )
    for factor in factors:
        if factor is not None and factor <= 0:
            refuse(loop, f"the length {factor} of a segment is not positive; use None for the rest of the range")
    total = sum(f for f in factors if f is not None)
    check(
        total < extent,
        loop,
        f"the segments {list(factors)} take {total} of the {extent} iterations of loop "
        f"{loop.name}; at least one must be left",
        fix=f"use at most {extent - 1}" if extent > 1 else "",
    )
    lengths = [extent - total if f is None else f for f in factors]
    if not unknown:
        lengths.append(extent - total)
    return [start + sum(lengths[: n + 1]) for n in range(len(lengths))]


def _iters_bound_to(block: Block, loop: Loop) -> list[Iter]:
    """The iters of a block whose binding is the loop variable."""
    return [i for i in block.iters if (v := i.binding.is_value()) is not None and v == loop.var]


def _group_block(name: str, loads: bool) -> Block:
    """A block without iters that groups other blocks, and declares no regions unless something else `loads`."""
    group = create.block(name, [])
    for key in () if loads else (attrs.READS, attrs.WRITES):
        edit.set_attribute(group.op, key, ir.ArrayAttr.get([]))
    return group


def _segment(loop: Loop, holder: Block, name: str, span: tuple[int, int]) -> Loop:
    """A copy of the loop over [start, end), with its blocks renamed and their domains restricted."""
    start, end = span
    copy = edit.clone(loop.op, create.at_end(holder.body))
    edit.renumber(copy)
    with ir.InsertionPoint(copy), copy.location:
        segment = create.loop(name, start, end, wide=loop.is_wide)
    edit.move_body(copy.regions[0].blocks[0], segment.body)
    edit.substitute({copy.regions[0].blocks[0].arguments[0]: Index.from_value(segment.var)})
    edit.erase(copy)
    for block in all_blocks(segment.op):
        edit.set_attribute(block.op, attrs.BLOCK, ir.StringAttr.get(f"{block.name}_{name}"))
    for number in [b.id for b in blocks_below(segment.op)]:
        block = Block(walk.op_with_id(segment.op, number))
        if driven := _iters_bound_to(block, segment):
            _narrow(block, driven, start, end)
    return segment


def _narrow(block: Block, driven: Sequence[Iter], start: int, end: int) -> None:
    """Restrict some iters of a block to [start, end), and declare its regions over the new domains."""
    old_regions = regions(block)
    spans = {i.name: _clamp(i, start, end) for i in driven}
    for number, key in enumerate((attrs.MIN, attrs.EXTENT)):
        map_ = attrs.get(block.op, key)
        pairs = zip(block.iters, map_.results, strict=True)
        results = [ir.AffineExpr.get_constant(spans[i.name][number]) if i.name in spans else e for i, e in pairs]
        edit.set_attribute(block.op, key, ir.AffineMapAttr.get(ir.AffineMap.get(0, map_.n_symbols, results)))
    narrowed = Block(block.op)
    for key, group in zip((attrs.READS, attrs.WRITES), old_regions, strict=True):
        declare(narrowed, key, [_widen_region(region, narrowed) for region in group])


def _clamp(it: Iter, start: int, end: int) -> tuple[int, int]:
    """Start and extent of the intersection of a domain with [start, end); the whole domain if it is empty."""
    low, extent = it.min.as_constant(), it.extent.as_constant()
    if low is None or extent is None:
        return start, end - start
    first, stop = max(start, low), min(end, low + extent)
    return (first, stop - first) if first < stop else (low, extent)


def _widen_region(region: Region, block: Block) -> Region:
    """`A[vi, vj]` over the domains of vi and vj; regions with any other index are unchanged."""
    domains = {i.var: i for i in block.iters}
    points = [domains.get(v) if (v := m.is_value()) is not None else None for m in region.mins]
    if any(p is None for p in points) or any(e.as_constant() != 1 for e in region.extents):
        return region
    iters = [p for p in points if p is not None]
    return Region(region.buffer, tuple(i.min for i in iters), tuple(i.extent for i in iters))
