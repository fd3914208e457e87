"""double_buffer: copy what later iterations need while an iteration computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Loop,
    child_towards,
    freeze_modules,
    is_block,
    is_inside,
    parents,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineStoreOp, isa
from tir_mlir.passes.schedule.pipelining.planes import Part, check_numbers, find_part, make_planes
from tir_mlir.passes.schedule.pipelining.stages import check_loop, find_children, outermost_blocks, run_stages, tops_of
from tir_mlir.passes.schedule.registry import check, check_plain, primitive, refuse


@dataclass(frozen=True)
class _Copy:
    """A block that fills the part of its buffer that an iteration uses, and the op of the loop's body around it."""

    block: Block
    part: Part
    top: ir.Operation

    @property
    def buffer(self) -> Buffer:
        return self.part.buffer


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
    same iterations as before. It is `pipeline` without a prologue: one loop holds all iterations, for machines whose
    instructions should not be there twice.

    A copy may also be the start value of a sum, to which later nests of the iteration add. With one stage nothing runs
    ahead, and a block anywhere in the loop may be the copy: its buffer becomes as small as one iteration needs it.

    Requires: the copies are in nests of their own at the beginning of the body of the loop, each writes a buffer, which
    is used in the loop only; in each iteration every element that is read was written before in it, at
    places along one dimension that no other iteration uses, or anywhere if all iterations use the same; what the copies
    read is not written in the loop; the loop is serial, without annotations.
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
        check_loop(loop)
        found = [_copy(block, loop) for block in blocks]
        for number, copy in enumerate(found):
            same = [c.block.name for c in found[:number] if c.buffer.value == copy.buffer.value]
            check(not same, copy.block, f"{copy.buffer.name} is also written by another copy, {', '.join(same)}")
        if stages > 1:
            _check_positions(found, loop)
            _check_sources(found, loop)
        for copy in found:
            _say_part(copy.part, loop)
        ids = {b.id for b in blocks}
        children = find_children(loop) if stages > 1 else []
    for copy in found:
        make_planes(copy.part, stages, loop)
    if stages > 1:
        staged = [replace(c, stage=0 if ids & c.blocks else stages - 1, order=c.number) for c in children]
        run_stages(loop, staged, prologue=False)


def _say_part(part: Part, loop: Loop) -> None:
    where = "" if part.dimension is None else f", and no other iteration uses its part of dimension {part.dimension}"
    emit_remark(f"in each iteration of `{loop.name}`, what is read of `{part.buffer.name}` was written before{where}")


def _copy(block: Block, loop: Loop) -> _Copy:
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
    for use in buffer.value.uses:
        user = use.owner.operation
        if isa(user, AffineStoreOp) and user != stores[0] and is_inside(user, loop.op):
            around = [Block(p) for p in parents(user) if is_block(p) and is_inside(p, loop.op)]
            check(
                len(around) == 1, user, f"block {around[0].name}, which also writes {buffer.name}, is in another block"
            )
    part = find_part(buffer, loop, block)
    check_numbers(part, loop)
    return _Copy(block, part, child_towards(loop.op, block.op))


def _check_positions(found: Sequence[_Copy], loop: Loop) -> None:
    """Refuse copies that are not the first nests of the body, or share one with another block."""
    body, tops = tops_of(loop), [copy.top for copy in found]
    for copy in found:
        if len(outermost_blocks(copy.top)) != 1:
            refuse(copy.block, f"the nest of block {copy.block.name} in loop {loop.name} has other blocks")
    for op in body[: len(tops)]:
        if op not in tops:
            refuse(op, f"this is before the last copy in loop {loop.name}; copies are first")
    if len(body) == len(tops):
        refuse(loop, f"nothing in loop {loop.name} follows the copies")


def _check_sources(found: Sequence[_Copy], loop: Loop) -> None:
    """Refuse a copy of what is written in the loop."""
    written = {a.buffer for a in accesses(loop.op) if a.is_write}
    for copy in found:
        for access in accesses(copy.block.op):
            if not access.is_write and access.buffer in written:
                refuse(
                    copy.block, f"{Buffer(access.buffer).name}, which the copy reads, is written in loop {loop.name}"
                )
