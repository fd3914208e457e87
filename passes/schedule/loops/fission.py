"""fission: distribute a loop over its body, two loops out of one."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import dependences, relations_of
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.analysis.dependences import carried_conflicts
from tir_mlir.dialect.diagnostics import NotProvable, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Loop,
    attrs,
    blocks_below,
    child_towards,
    create,
    edit,
    enclosing_block,
    func_of,
    is_block,
    is_inside,
    is_loop,
    only_reads,
    parents,
    walk,
)
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.ir.op_views import LoadOp, isa
from tir_mlir.dialect.presburger import question
from tir_mlir.passes.schedule.registry import check, check_plain, primitive, refuse


@primitive("fission")
def fission(loop: Loop, after: Block) -> list[Loop]:
    """Distribute a loop over its body: two loops, of which the second runs what follows the block `after`.

        for i in range(n):                     for i in range(n):
            with T.block("first"): ...             with T.block("first"): ...
            with T.block("second"): ...   ->   for i in range(n):
                                                   with T.block("second"): ...

    Both loops have the bounds, the name and the kind of the old one; each iteration of each block still runs once. All
    iterations of the first loop run before the second one. `merge` is the inverse. Returns both loops; the first is the
    one that was passed.

    Requires: `after` is in the loop and something follows it there, directly in the loop's body (loops that hold blocks
    of both sides are distributed first, from the inside out); no value is computed outside of blocks on one side and
    used on the other; no annotation or thread binding. No dependence may be reversed: what the second part does in an
    iteration must not affect, or be affected by, the first part of a later one. So each iteration needs elements of its
    own in a buffer that carries values from the first part to the second.
    """
    check_plain(loop, "fission")
    first, second = _sides(loop, after)
    _check_values(loop, first, second)
    _check_dependences(loop, first, second)

    return [loop, _rewrite(loop, len(first))]


def _sides(loop: Loop, after: Block) -> tuple[list[ir.Operation], list[ir.Operation]]:
    """The ops of the loop's body up to the one that holds the block, and those that follow."""
    check(
        is_inside(after.op, loop.op),
        after,
        f'block "{after.name}" is not in loop {loop.name}',
        "pass a loop around the block",
    )
    enclosing = enclosing_block(after.op)
    if isinstance(enclosing, Block) and is_inside(enclosing.op, loop.op):
        text = f'block "{after.name}" is inside block "{enclosing.name}", which fission does not take apart'
        refuse(after, text, fix=f'pass "{enclosing.name}", or a loop inside it')
    body = [op.operation for op in loop.body_ops()]
    child = child_towards(loop.op, after.op)
    last = Block(child) if is_block(child) else blocks_below(child)[-1]
    if last != after:
        common = walk.common_parent([last.op, after.op])
        inner = next((Loop(p) for p in [common, *parents(common)] if is_loop(p)), loop)
        where = f"loop {inner.name}" if inner != loop else "the same statement"
        text = f'block "{last.name}" follows block "{after.name}" in {where} of the body of loop {loop.name}'
        refuse(after, text, fix=f"fission loop {inner.name} first" if inner != loop else f'pass "{last.name}"')
    cut = body.index(child) + 1
    if all(is_pure(op) for op in body[cut:]):
        refuse(after, f'nothing follows block "{after.name}" in loop {loop.name}', fix="pass an earlier block")
    return body[:cut], body[cut:]


def _check_values(loop: Loop, first: Sequence[ir.Operation], second: Sequence[ir.Operation]) -> None:
    """Refuse a value that the first side reads or computes from memory, outside of blocks, for the second side."""
    for op in first:
        users = [use.owner.operation for result in op.results for use in result.uses]
        if not _is_repeatable(op) and any(is_inside(user, later_op) for user in users for later_op in second):
            name = attrs.get(op, attrs.NAME, "") or "a value"
            text = f"{name} is computed in the first part of loop {loop.name} and used in the second"
            refuse(op, text, fix="in the program, store it to a buffer with one element for each iteration")


def _is_repeatable(op: ir.Operation) -> bool:
    """Whether an op computes the same value from the same operands wherever it runs."""
    return is_pure(op) and not isa(op, LoadOp)


# --- dependences ------------------------------------------------------------------------------------------------------


@only_reads
def _check_dependences(loop: Loop, first: Sequence[ir.Operation], second: Sequence[ir.Operation]) -> None:
    """Refuse if a later iteration of the first side depends on an earlier one of the second side, or overwrites it."""
    depth = len([p for p in parents(loop.op) if is_loop(p)])
    undecided: tuple[NotProvable, Buffer] | None = None
    for buffer in _shared_buffers(first, second):
        early, late = ([t for op in side for t in relations_of(op, buffer)] for side in (first, second))
        for a, b in ((a, b) for a in late for b in early if a.access.is_write or b.access.is_write):
            with question(f"whether fission of loop {loop.name} keeps every dependence"):
                clash = carried_conflicts(a, b, depth)
                empty = clash.is_empty()
            if empty:
                continue
            try:
                witness = dependences.witness(a, b, clash)
            except NotProvable as error:
                undecided = undecided or (error, Buffer(buffer))
                continue
            text = f"in two loops a dependence would run backwards: {witness}"
            fix = _fix(loop, Buffer(buffer))
            refuse(enclosing_block(b.access.op), text, counterexample=witness, fix=fix)
        where = f"`{loop.name}` and accesses of `{Buffer(buffer).name}`"
        emit_remark(f"{where}: no later iteration of the first part depends on an earlier one of the second part")
    if undecided is not None:
        refuse(loop, str(undecided[0]), provable=False, fix=_fix(loop, undecided[1]))


def _shared_buffers(first: Sequence[ir.Operation], second: Sequence[ir.Operation]) -> list[ir.Value]:
    """The buffers that both sides access and one of them writes."""
    first_accesses, second_accesses = ([a for op in side for a in accesses(op)] for side in (first, second))
    written = {a.buffer for a in (*first_accesses, *second_accesses) if a.is_write}
    both = {a.buffer for a in first_accesses} & {a.buffer for a in second_accesses} & written
    return [b for b in dict.fromkeys(a.buffer for a in first_accesses) if b in both]


def _fix(loop: Loop, buffer: Buffer) -> str:
    """Fix for a reversed dependence: expand a buffer that only carries values inside an iteration."""
    if buffer.is_alloc and not any(
        a.buffer == buffer.value and not is_inside(a.op, loop.op) for a in accesses(func_of(loop.op).op)
    ):
        return f"in the program, give {buffer.name} a dimension for loop {loop.name}: an element for each iteration"
    return f"loop {loop.name} carries the dependence and remains around both; fission another loop of the nest"


# --- the rewrite ------------------------------------------------------------------------------------------------------


def _rewrite(loop: Loop, cut: int) -> Loop:
    """Keep the first `cut` ops in the loop and the others in a copy after it. Ops with ids are kept once."""
    behind = list(loop.op.block.operations)[walk.position(loop.op) + 1]
    copy = edit.clone(loop.op, ir.InsertionPoint(behind))
    edit.set_attribute(copy, attrs.ID, attrs.to_attr(create.fresh_id(copy)))
    second = Loop(copy)
    size = len(loop.body_ops())
    _drop(second, range(cut))
    _drop(loop, range(cut, size))
    return second


def _drop(loop: Loop, numbers: range) -> None:
    """Erase the ops of these numbers in the loop's body, except values that others use, and values without users."""
    body = loop.body_ops()
    for number in reversed(range(len(body))):
        op = body[number]
        if (number in numbers or is_pure(op)) and not any(True for result in op.results for _ in result.uses):
            edit.drop(op)  # erase would also take what feeds it, which comes later
