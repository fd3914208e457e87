"""Iterations of a loop that overlap: what would run too early, and the loop in which they do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import dependences
from tir_mlir.dialect.analysis.access_relations import AccessRelation, conflicting, same_element, written_groups
from tir_mlir.dialect.diagnostics import Counterexample, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Loop,
    all_blocks,
    attrs,
    blocks_below,
    child_towards,
    create,
    edit,
    is_block,
    is_loop,
    parents,
    walk,
)
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.ir.op_views import AllocLikeOp, ConstantOp, LoadOp, isa
from tir_mlir.dialect.presburger import dim_type, question
from tir_mlir.passes.schedule.edits.loop_nest import guard_blocks
from tir_mlir.passes.schedule.registry import check, refuse


@dataclass(frozen=True)
class PipelineChild:
    """An op of the body of a loop, by the ids of its blocks: iteration k of it runs in iteration k + stage of the
    pipeline, as number `order` of that."""

    number: int
    names: str
    blocks: frozenset[int]
    stage: int = 0
    order: int = 0


def check_loop(loop: Loop) -> None:
    """Refuse a loop whose iterations cannot be divided into stages."""
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


def tops_of(loop: Loop) -> list[ir.Operation]:
    """The ops of the body of a loop that do something, in order."""
    return [op for op in loop.body_ops() if not is_pure(op) and not isa(op, AllocLikeOp)]


def outermost_blocks(op: ir.Operation) -> list[Block]:
    """The outermost blocks of an op of a body, which may be one itself."""
    return [Block(op)] if is_block(op) else blocks_below(op)


def find_children(loop: Loop) -> list[PipelineChild]:
    """The ops of the body of a loop. Refuses one without a block."""
    children = []
    for number, op in enumerate(tops_of(loop)):
        blocks = outermost_blocks(op)
        if not blocks:
            refuse(op, f"statement {number} of loop {loop.name} is in no block; stages are of blocks")
        names = ", ".join(dict.fromkeys(block.name for block in blocks))
        children.append(PipelineChild(number, names, frozenset(block.id for block in blocks)))
    return children


# --- what would run too early -----------------------------------------------------------------------------------------


def find_broken_order(
    loop: Loop, children: Sequence[PipelineChild], private: Collection[ir.Value]
) -> tuple[Buffer, Counterexample] | None:
    """Two iterations of two children that touch one element, one writing, and change places; None if none do.

    private: buffers of which each iteration has a plane of its own, so that only its own accesses are in its order.
    """
    tops = {op: child for op, child in zip(tops_of(loop), children, strict=True)}
    for group in written_groups(loop.op):
        buffer = Buffer(group[0].access.buffer)
        for a, b in conflicting(group):
            first, second = (tops[child_towards(loop.op, t.access.op)] for t in (a, b))
            far = first.stage - second.stage - (first.order <= second.order)
            span = (int(first.number > second.number), min(far, 0) if buffer.value in private else far)
            if first.number == second.number or span[0] > span[1]:
                continue
            with question(f"whether the stages keep the order of the accesses to {buffer.name}"):
                clash = _pairs_at_distance(a, b, loop, span)
                if not clash.is_empty():
                    return buffer, dependences.witness(a, b, clash)
        emit_remark(f"the stages of `{loop.name}` keep the order of the accesses to `{buffer.name}`")
    return None


def _pairs_at_distance(a: AccessRelation, b: AccessRelation, loop: Loop, span: tuple[int, int]) -> isl.Map:
    """{ iteration of a -> iteration of b } that touch one element, of which the second one is so many iterations of a
    loop later, in one iteration of the loops around it."""
    clash = same_element(a, b)
    depth = sum(is_loop(p) for p in parents(loop.op))
    for level in range(depth):
        clash = clash.equate(dim_type.in_, level, dim_type.out, level)
    for sign, bound in ((1, -span[0]), (-1, span[1])):
        limit = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(clash.get_space()))
        limit = limit.set_coefficient_val(dim_type.out, depth, isl.Val(sign))
        limit = limit.set_coefficient_val(dim_type.in_, depth, isl.Val(-sign))
        clash = clash.add_constraint(limit.set_constant_val(isl.Val(bound)))
    return clash


def count_planes(buffer: Buffer, loop: Loop, children: Sequence[PipelineChild]) -> int:
    """How many iterations at a time keep values in a buffer that each of them writes anew.

    In memory that threads share, one more than the stages between: a read and a later write of one plane in one
    iteration would need a barrier.
    """
    users, writers = set[PipelineChild](), set[PipelineChild]()
    tops = {op: child for op, child in zip(tops_of(loop), children, strict=True)}
    for group in written_groups(loop.op):
        for touch in group if group[0].access.buffer == buffer.value else ():
            child = tops[child_towards(loop.op, touch.access.op)]
            users.add(child)
            writers |= {child} if touch.access.is_write else set()
    return max(
        user.stage - writer.stage + (buffer.scope.startswith("shared") or writer.order <= user.order)
        for user in users
        for writer in writers
    )


def users_of(buffer: ir.Value, loop: Loop, children: Sequence[PipelineChild]) -> list[PipelineChild]:
    """The children that access a buffer."""
    found = {
        child_towards(loop.op, use.owner.operation)
        for use in buffer.uses
        if walk.is_inside(use.owner.operation, loop.op)
    }
    return [child for op, child in zip(tops_of(loop), children, strict=True) if op in found]


# --- the rewrite ------------------------------------------------------------------------------------------------------


def run_stages(loop: Loop, children: Sequence[PipelineChild], prologue: bool) -> None:
    """Let each child of a loop run `stage` iterations later, in the given order.

        for k in range(n):                    for k in range(n + 1):
            copy(k)                 -->           copy(k) if k < n
            compute(k)                            compute(k - 1) if k >= 1

    prologue: the first iterations, in which the last stage does nothing, become a nest of their own:

                                              copy(0)
                                    -->       for k in range(n):
                                                  copy(k + 1) if k + 1 < n
                                                  compute(k)
    """
    last = max(child.stage for child in children)
    by_number = dict(zip(children, tops_of(loop), strict=True))
    end = loop.body.operations[len(loop.body.operations) - 1]
    for op in loop.body_ops():
        if op not in by_number.values():
            edit.move_before(op, loop.op)  # a constant or an allocation
    for child in sorted(children, key=lambda c: c.order):
        edit.move_before(by_number[child], end)
    if last == 0:
        return
    ends, var = loop.uppers, Index.from_value(loop.var)
    if prologue:
        _add_prologue(loop, [c for c in sorted(children, key=lambda c: c.order) if c.stage < last], last)
    for child, op in by_number.items():
        edit.substitute({loop.var: var + (last - child.stage if prologue else -child.stage)}, op)
    if not prologue:
        loop = Loop(edit.set_bounds(loop.op, loop.lowers, [bound + last for bound in ends]))
    _guard(loop, children, last if prologue else 0, ends)


def _guard(loop: Loop, children: Sequence[PipelineChild], ahead: int, ends: Sequence[Index]) -> None:
    """Let children run in the iterations only that there are: `ahead - stage` after that of the loop."""
    var, everything = Index.from_value(loop.var), {number for child in children for number in child.blocks}
    for stage in sorted({child.stage for child in children}):
        others = everything - {number for child in children if child.stage == stage for number in child.blocks}
        for bound in (var + (ahead - stage), *(end - 1 - (var + (ahead - stage)) for end in ends)):
            guard_blocks(loop, bound, but=others)


def _add_prologue(loop: Loop, children: Sequence[PipelineChild], count: int) -> None:
    """The first iterations of the pipeline, before the loop."""
    with ir.InsertionPoint(loop.op), loop.op.location:
        first = create.loop(f"{loop.name}_prologue", 0, count, wide=loop.is_wide)
    var = Index.from_value(first.var)
    copies = []
    for child in children:
        top = child_towards(loop.op, walk.op_with_id(loop.op, next(iter(child.blocks))))
        copy = edit.clone(top, create.at_end(first.body), {loop.var: first.var})
        edit.renumber(copy)
        edit.substitute({first.var: var - child.stage}, copy)
        for block in all_blocks(copy):
            edit.set_attribute(block.op, attrs.BLOCK, ir.StringAttr.get(f"{block.name}_prologue"))
    for child, top in zip(children, tops_of(first), strict=True):
        copies.append(
            PipelineChild(child.number, child.names, frozenset(b.id for b in outermost_blocks(top)), child.stage)
        )
    _guard(first, copies, 0, loop.uppers)
    if count == 1 and not any(block.where for block in blocks_below(first.op)):  # a condition may be false at 0
        edit.substitute({first.var: Index.constant(0)})
        for op in first.body_ops():
            edit.move_before(op, loop.op)
        edit.erase(first.op)
