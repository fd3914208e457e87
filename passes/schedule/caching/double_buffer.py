"""double_buffer: copy what later iterations need while an iteration computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis import dataflow, dependences
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Loop,
    access_indices,
    attrs,
    blocks_below,
    child_towards,
    edit,
    freeze_modules,
    is_block,
    is_inside,
    is_loop,
    parents,
    step,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref, is_pure
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineStoreOp, AllocLikeOp, ConstantOp, LoadOp, isa
from tir_mlir.dialect.presburger import intervals, question, sets
from tir_mlir.passes.schedule.edits.loop_nest import guard_blocks
from tir_mlir.passes.schedule.layout.apply_layout import (
    LayoutChange,
    apply_layout,
    check_users,
    finish_layout,
    size_sources,
)
from tir_mlir.passes.schedule.registry import check, check_plain, primitive, refuse


@dataclass(frozen=True)
class _Stage:
    """A copy: its block, its buffer, and the dimension of it along which each iteration has `size` elements of its
    own, from `start` on."""

    block: Block
    buffer: Buffer
    top: ir.Operation
    dimension: int
    start: Index
    size: int


@primitive("double_buffer")
def double_buffer(copies: Block | list[Block], loop: Loop, stages: int = 2) -> None:
    """Let copies run `stages - 1` iterations of a loop ahead of what reads them, into planes of their buffers.

        A_sp = T.alloc_buffer((64, 64))              A_sp = T.alloc_buffer((2, 64, 16))
        for k in range(4):                           for k in range(5):
            for i, j in T.grid(64, 16):                  for i, j in T.grid(64, 16):
                with T.block("A_sp"):        ->              with T.block("A_sp"):
                    v = k * 16 + j                               T.where(k < 4)
                    A_sp[i, v] = A[i, v]                         A_sp[k % 2, i, j] = A[i, k * 16 + j]
            with T.block("C"):                           with T.block("C"):
                ... A_sp[..., k * 16 + ...]                  T.where(1 <= k)
                                                             ... A_sp[(k - 1) % 2, ...]

    What executes copies may then work on one plane while what computes reads the other one. Every block runs in the
    same iterations as before. `loop_partition` of the loop takes the first and the last iterations out of it.

    A copy may also be the start value of a sum, to which later nests of the iteration add. With one stage nothing runs
    ahead, and a block anywhere in the loop may be the copy: its buffer becomes as small as one iteration needs it.

    Requires: the copies are in nests of their own at the beginning of the body of the loop, each writes a buffer, which
    is used in the loop only; in each iteration every element that is read was written before in it, at
    places along one dimension that no other iteration uses; what the copies read is not written in the loop; the loop
    is serial, without annotations.
    """
    blocks = copies if isinstance(copies, list) else [copies]
    with freeze_modules():
        check_plain(loop, "double_buffer")
        check(stages >= 1, loop, f"stages is at least 1, not {stages}")
        check(
            bool(blocks) and len({b.id for b in blocks}) == len(blocks),
            loop,
            "copies are one or more blocks, each once",
        )
        _check_loop(loop)
        found = [_stage(block, loop) for block in blocks]
        for number, stage in enumerate(found):
            same = [s.block.name for s in found[:number] if s.buffer.value == stage.buffer.value]
            check(not same, stage.block, f"{stage.buffer.name} is also written by another copy, {', '.join(same)}")
        if stages > 1:
            _check_positions(found, loop)
            _check_sources(found, loop)
        for stage in found:
            emit_remark(
                f"in each iteration of `{loop.name}`, what is read of `{stage.buffer.name}` was written before, and no "
                f"other iteration uses its part of dimension {stage.dimension}"
            )
        ids = {b.id for b in blocks}
    for stage in found:
        _make_planes(stage, stages)
    if stages > 1:
        _run_ahead(loop, ids, stages - 1)


def _check_loop(loop: Loop) -> None:
    """Refuse a loop whose iterations cannot be divided into copies and the rest."""
    check(loop.kind == "serial", loop, f"loop {loop.name} is {loop.kind}; copies run ahead in a serial loop")
    check([i.as_constant() for i in loop.lowers] == [0], loop, f"loop {loop.name} does not begin at 0")
    check(loop.const_extent != 1, loop, f"loop {loop.name} runs once; nothing can be copied ahead")
    dependences.require_no_alias(loop.op)
    for op in walk.ops(loop.op, skip=is_block):
        if isa(op, LoadOp):
            refuse(op, f"a value is read outside of blocks in loop {loop.name}, which decides what runs")
    for op in loop.body_ops():
        if is_pure(op) and not isa(op, ConstantOp, AllocLikeOp):
            refuse(op, f"a value is computed in loop {loop.name} outside of the nests that use it")


def _stage(block: Block, loop: Loop) -> _Stage:
    check(is_inside(block.op, loop.op), block, f"block {block.name} is not in loop {loop.name}")
    stores = [op for op in walk.ops(block.op) if isa(op, AffineStoreOp)]
    check(len(stores) == 1, block, f"block {block.name} stores {len(stores)} values; a copy stores one")
    buffer = Buffer(accessed_memref(stores[0]))
    check(not buffer.is_param, block, f"{buffer.name} is a parameter; a copy writes a buffer of the program")
    check(
        buffer.op is None or not is_inside(buffer.op, loop.op), block, f"{buffer.name} is allocated in loop {loop.name}"
    )
    others = {Buffer(a.buffer).name for a in accesses(block.op) if a.is_write and a.buffer != buffer.value}
    check(not others, block, f"block {block.name} writes {', '.join(sorted(others))}, too; a copy writes one buffer")
    check_users(buffer)
    for use in buffer.value.uses:
        user = use.owner.operation
        if isa(user, AffineElementAccessOp) and not is_inside(user, loop.op):
            refuse(user, f"{buffer.name} is used outside of loop {loop.name}")
        if not isa(user, AffineElementAccessOp):
            refuse(user, f"an index of {buffer.name} is not affine")
        if isa(user, AffineStoreOp) and user != stores[0]:
            around = [Block(p) for p in parents(user) if is_block(p) and is_inside(p, loop.op)]
            check(
                len(around) == 1, user, f"block {around[0].name}, which also writes {buffer.name}, is in another block"
            )
    with question(f"whether iterations of {loop.name} write what they read of {buffer.name}"):
        early = dataflow.unwritten_reads(buffer.value, loop.op)
    if early is not None:
        touch, point = early
        refuse(
            block,
            f"at {touch.iteration_at(point)}, {buffer.name} is read and was not written in the same iteration of "
            f"{loop.name}",
            True,
        )
    dimension, start, size = _own_dimension(stores[0], buffer, loop)
    stage = _Stage(block, buffer, child_towards(loop.op, block.op), dimension, start, size)
    for use in buffer.value.uses:
        _check_in_part(use.owner.operation, stage, loop)
    return stage


def _own_dimension(store: ir.Operation, buffer: Buffer, loop: Loop) -> tuple[int, Index, int]:
    """The dimension along which the loop moves, the first index there of an iteration, and the indices to the next one.

    The first index is a multiple of these: then the quotient counts the iterations.
    """
    bindings, ranges = _bindings(store), intervals.enclosing_ranges(store)
    inner = {Loop(p).var for p in parents(store) if is_loop(p) and p != loop.op and is_inside(p, loop.op)}
    moved = []
    for dimension, index in enumerate(access_indices(store)):
        terms = intervals.summands(intervals.expand_index(index.substitute(bindings), ranges))
        if not any(loop.var in term.values for term in terms):
            continue
        outside = sum((t for t in terms if not inner & {*t.values}), Index.constant(0)).simplify()
        own = sum((t for t in terms if inner & {*t.values}), Index.constant(0)).simplify()
        size = step(outside, loop.var)
        least, most = intervals.interval(own, ranges)
        if size is None or loop.var in own.values or least is None or most is None or not 0 <= most - least < size:
            refuse(
                store,
                f"along dimension {dimension} of {buffer.name}, an iteration of {loop.name} does not have a part of "
                "its own",
            )
        moved.append((dimension, (outside + least).simplify(), size))
    if len(moved) != 1:
        refuse(store, f"loop {loop.name} moves the copy along {len(moved)} dimensions of {buffer.name}, not along one")
    dimension, start, size = moved[0]
    factors, constant = intervals.linear_terms(start.expr)
    if any(factor % size for factor in (*factors.values(), constant)):
        refuse(store, f"the part of {buffer.name} of an iteration does not begin at a multiple of {size}")
    return dimension, start, size


def _bindings(op: ir.Operation) -> dict[ir.Value, Index]:
    """The iters of the blocks around an op as expressions of loops."""
    values: dict[ir.Value, Index] = {}
    for block in reversed([Block(p) for p in parents(op) if is_block(p)]):
        values |= {i.var: i.binding.substitute(values) for i in block.iters}
    return values


def _check_in_part(access: ir.Operation, stage: _Stage, loop: Loop) -> None:
    """Refuse an access outside of the part of its iteration."""
    index = access_indices(access)[stage.dimension]
    inside = (index - stage.start, stage.start + (stage.size - 1) - index)
    with question(f"whether an access is in the part of {stage.buffer.name} of its iteration"):
        dom = sets.domain(access, extra=inside)
        if not all(sets.holds(dom, condition) for condition in inside):
            refuse(
                access, f"{stage.buffer.name} is accessed outside of the part that its iteration of {loop.name} copies"
            )


def _check_positions(found: Sequence[_Stage], loop: Loop) -> None:
    """Refuse copies that are not the first nests of the body, or share one with another block."""
    body = [op for op in loop.body_ops() if not is_pure(op)]
    tops = [stage.top for stage in found]
    for stage in found:
        if len(blocks_below(stage.top)) != 1:
            refuse(stage.block, f"the nest of block {stage.block.name} in loop {loop.name} has other blocks")
    for op in body[: len(tops)]:
        if op not in tops:
            refuse(op, f"this is before the last copy in loop {loop.name}; copies are first")
    if len(body) == len(tops):
        refuse(loop, f"nothing in loop {loop.name} follows the copies")


def _check_sources(found: Sequence[_Stage], loop: Loop) -> None:
    """Refuse a copy of what is written in the loop."""
    written = {a.buffer for a in accesses(loop.op) if a.is_write}
    for stage in found:
        for access in accesses(stage.block.op):
            if not access.is_write and access.buffer in written:
                refuse(
                    stage.block, f"{Buffer(access.buffer).name}, which the copy reads, is written in loop {loop.name}"
                )


def _make_planes(stage: _Stage, stages: int) -> None:
    """Give the buffer a first dimension of planes, of which an iteration uses one; none for one plane."""
    d, size = stage.dimension, stage.size
    buffer, kinds = stage.buffer, dict[ir.Operation, list[str]]()
    for use in buffer.value.uses:
        if isa(store := use.owner.operation, AffineStoreOp):
            moving = access_indices(store)[d].values
            block = Block(next(p for p in parents(store) if is_block(p)))
            kinds[block.op] = ["O" if i.var in moving else i.kind for i in block.iters]  # two values at one place

    def plane(*index: Index) -> list[Index]:
        planes = [(index[d] // size) % stages] if stages > 1 else []
        return [*planes, *index[:d], index[d] % size, *index[d + 1 :]]

    change = LayoutChange.from_extents(IndexMap.wrap(plane, buffer.rank), buffer.dims, stage.block.op)
    sources = size_sources(buffer, change)
    finish_layout(buffer, apply_layout(buffer, change), sources)
    for op, names in kinds.items():
        attrs.put(op, attrs.ITERS, names)


def _run_ahead(loop: Loop, copies: set[int], ahead: int) -> None:
    """Let all but the copies run `ahead` iterations later, in as many more iterations."""
    ends, var = loop.uppers, Index.from_value(loop.var)
    others: set[int] = set()
    for top in [op for op in loop.body_ops() if not is_pure(op)]:
        ids = {b.id for b in blocks_below(top)}
        if not ids & copies:
            others |= ids
            edit.substitute({loop.var: var - ahead}, top)
    longer = Loop(edit.set_bounds(loop.op, loop.lowers, [end + ahead for end in ends]))
    var = Index.from_value(longer.var)
    guard_blocks(longer, var - ahead, but=copies)
    for end in ends:
        guard_blocks(longer, end - 1 - var, but=others)
