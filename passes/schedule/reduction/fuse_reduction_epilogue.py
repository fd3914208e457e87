"""fuse_reduction_epilogue: what is done to the result of a reduction becomes part of the reduction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis import of_op
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Loop,
    access_indices,
    accessed,
    attrs,
    create,
    edit,
    enclosing_block,
    fold_known,
    frozen,
    is_loop,
    parents,
    walk,
)
from tir_mlir.dialect.presburger import question
from tir_mlir.passes.schedule.edits import cut_to_reach
from tir_mlir.passes.schedule.inlining.block_expression import Payload, check_visible, inverse_of, payload_of, sees
from tir_mlir.passes.schedule.inlining.compute_inline import remove
from tir_mlir.passes.schedule.legality import (
    NO_GUARD,
    UNDER_ONE,
    check_complete,
    check_reduction,
    check_starts,
    children,
    comes_before,
    elements,
    meeting,
    scope_of,
    shown_element,
    span,
    written_within,
)
from tir_mlir.passes.schedule.reduction.epilogue_form import Epilogue, epilogue_of
from tir_mlir.passes.schedule.reduction.reduction_form import Updates, copy_value, starts_of, updates_of
from tir_mlir.passes.schedule.registry import check, primitive, refuse


@primitive("fuse_reduction_epilogue")
def fuse_reduction_epilogue(reduction_block: Block, epilogue_block: Block) -> None:
    """Merge a block that works on the result of a reduction into the reduction; the buffer between them goes.

        for i, k in T.grid(n, m):                    for i, k in T.grid(n, m):
            with T.block("C"):                           with T.block("C"):
                with T.init(): C[vi] = 0                     with T.init(): D[vi] = B[vi]
                C[vi] += A[vi, vk]           ->              D[vi] += A[vi, vk]
        for i in range(n):
            with T.block("D"): D[vi] = C[vi] + B[vi]

    The start of a sum becomes what the epilogue adds to it; a maximum or minimum is clipped at each step. The merged
    block keeps name and handle of the reduction. Every element of the result gets the value it got before; a sum may
    be put together in another order (the reduction is a declared one, what is added to it counts as one more term).

    Requires: a sum to which the epilogue adds (or from which it subtracts) something, once for each element; or a
    maximum or minimum that it clips by T.max and T.min. It reads each element of the reduction once, after it is
    finished, and nothing else uses that buffer; between the two nothing touches the result or writes what it reads.
    """
    with frozen():
        pair = _pair(reduction_block, epilogue_block)
        _check_place(pair)
        _check_elements(pair)
        epilogue = epilogue_of(pair.updates, pair.payload, pair.load)
        start = starts_of(pair.updates)[0]
    _rewrite(pair, epilogue, start)


@dataclass(frozen=True)
class _Pair:
    """A reduction, the block that works on its result, and the one load by which it does."""

    updates: Updates
    payload: Payload
    load: ir.Operation

    @property
    def reduction(self) -> Block:
        return self.updates.block

    @property
    def block(self) -> Block:
        return self.payload.block

    @property
    def between(self) -> Buffer:
        return self.updates.results[0]


def _pair(reduction: Block, block: Block) -> _Pair:
    scope = scope_of(reduction)
    for one in (reduction, block):
        check(
            one in children(scope), one, f'block "{one.name}" stands in another scope, or in an init; name two siblings'
        )
    check(
        reduction != block,
        block,
        f'block "{block.name}" cannot be its own epilogue',
        fix="name the block that reads its result",
    )
    check_reduction(reduction)
    check_starts(reduction)
    check(
        block.init is None, block, f'block "{block.name}" is a reduction itself; an epilogue has no init', fix=UNDER_ONE
    )
    updates = updates_of(reduction)
    if len(updates.results) != 1:
        refuse(
            reduction,
            f'block "{reduction.name}" reduces into several buffers; an epilogue can follow only one',
            fix=UNDER_ONE,
        )
    payload = payload_of(block)
    check_complete(block)
    check(
        block.where is None,
        block,
        f'block "{block.name}" has a guard (T.where); the merged block would lose it',
        fix=NO_GUARD,
    )
    buffer = updates.results[0]
    home = buffer.op
    if home is None or enclosing_block(home) != scope:
        refuse(
            reduction,
            f"{buffer.name} is not allocated in the scope: others see it, so it must stay as it is",
            fix=UNDER_ONE,
        )
    return _Pair(updates, payload, _load(reduction, block, buffer))


def _load(reduction: Block, block: Block, buffer: Buffer) -> ir.Operation:
    """The one load of the reduction's result in the epilogue. Refuses other users."""
    loads, reads = [], any(walk.is_inside(use.owner.operation, block.op) for use in buffer.value.uses)
    for use in buffer.value.uses:
        user = use.owner.operation
        if walk.is_inside(user, block.op) and user.name == "affine.load":
            loads.append(user)
        elif walk.is_inside(user, block.op):
            refuse(
                user,
                f'block "{block.name}" uses {buffer.name} by {user.name}; an epilogue loads it at an affine index',
                fix=UNDER_ONE if user.name == "memref.load" else "",
            )
        elif not walk.is_inside(user, reduction.op):
            refuse(
                user,
                f'{buffer.name} is also used elsewhere than in block "{block.name}", so it must stay',
                fix=UNDER_ONE if reads else f"name the block that reads {buffer.name}",
            )
    if len(loads) != 1:
        found = "does not read" if not loads else f"reads {len(loads)} times"
        refuse(
            block,
            f'block "{block.name}" {found} {buffer.name}; an epilogue reads the result of its reduction once',
            fix=UNDER_ONE if loads else "",
        )
    return loads[0]


# --- place and time ---------------------------------------------------------------------------------------------------


def _check_place(pair: _Pair) -> None:
    """Refuse unless the epilogue may run as early as the reduction."""
    reduction, block, result = pair.reduction, pair.block, pair.payload.buffer
    check(
        comes_before(reduction.op, block.op),
        block,
        f'block "{block.name}" does not run after block "{reduction.name}" in each iteration of the loops around both',
    )
    _check_finished(pair)
    between = span(reduction.op, block.op)
    inputs = {a.buffer for a in pair.payload.inputs()} - {pair.between.value}
    if (clash := written_within(between, inputs)) is not None:
        name = Buffer(clash.buffer).name
        refuse(
            clash.op,
            f'{name}, which block "{block.name}" reads, is written between block "{reduction.name}" and it',
            fix=UNDER_ONE,
        )
    for op in between:
        for access in accesses(op):
            if access.buffer == result.value and access.op != pair.payload.store:
                refuse(
                    access.op,
                    f'{result.name}, which block "{block.name}" writes, is used between block "{reduction.name}" and'
                    " it; it would hold unfinished sums there",
                    fix=UNDER_ONE,
                )
    check_visible(pair.payload, _stores(pair)[-1])
    check(sees(_stores(pair)[-1], result.value), block, f'{result.name} is allocated after block "{reduction.name}"')


def _check_finished(pair: _Pair) -> None:
    level = meeting(pair.reduction.op, pair.block.op)[0]
    around = {Loop(p).var: Loop(p) for p in [level, *parents(level)] if is_loop(p)}
    for it in pair.reduction.iters:
        for value in it.binding.values:
            if it.kind == "R" and value in around:
                refuse(
                    pair.block,
                    f'block "{pair.block.name}" runs in loop {around[value].name}, in the middle of the reduction over'
                    f" {it.name}",
                )


def _check_elements(pair: _Pair) -> None:
    """Refuse unless the epilogue takes just the elements that the reduction computes, each once."""
    inverse_of(pair.block, access_indices(pair.load))
    inverse_of(pair.block, pair.payload.indices)
    level = meeting(pair.reduction.op, pair.block.op)[0]
    store, load = of_op(_stores(pair)[-1])[0], of_op(pair.load)[0]
    with question(f'whether block "{pair.block.name}" takes what block "{pair.reduction.name}" computes'):
        made, made_in = elements(store, level)
        read, read_in = elements(load, level)
        if not (made_in.exact and read_in.exact):
            refuse(pair.block, "a condition around the blocks is beyond what can be decided", provable=False)
        if not (missing := read.subtract(made)).is_empty():
            element = shown_element(load.buffer, missing)
            text = f'block "{pair.block.name}" needs {element}, which the reduction does not compute there'
            refuse(pair.block, text, counterexample=element)
        if not (extra := made.subtract(read)).is_empty():
            element = shown_element(load.buffer, extra)
            refuse(
                pair.block,
                f'the reduction also computes {element}, which block "{pair.block.name}" does not take there',
                fix=UNDER_ONE,
            )


# --- the edit ---------------------------------------------------------------------------------------------------------


def _stores(pair: _Pair) -> list[ir.Operation]:
    """The stores of the reduction's result, that of the init first."""
    return [
        op for op in walk.ops(pair.reduction.op) if op.name == "affine.store" and accessed(op) == pair.between.value
    ]


def _rewrite(pair: _Pair, epilogue: Epilogue, start: ir.Attribute) -> None:
    reduction, block, result = pair.reduction, pair.block, pair.payload.buffer
    scope, between = scope_of(block), pair.between
    first, last = _stores(pair)
    with frozen():
        iters = inverse_of(block, access_indices(pair.load)).at_access(of_op(last)[0])
        indices = [i.substitute(iters) for i in pair.payload.indices]
    cut_to_reach(reduction)  # the merged block writes what the epilogue wrote
    for key in (attrs.READS, attrs.WRITES):
        attrs.put(reduction.op, key, None)
    for op in [o for o in walk.ops(reduction.op) if o.name == "affine.load" and accessed(o) == between.value]:
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(create.load(result.value, indices))
        edit.erase(op)
    with block.op.location:
        _store_anew(first, result, indices, block, lambda other: epilogue.started(start, other))
        _store_anew(last, result, indices, block, lambda other: epilogue.updated(last.operands[0], other))
    edit.substitute(iters, reduction.op)
    remove(block, between, scope)
    fold_known(reduction.op)


def _store_anew(
    store: ir.Operation,
    result: Buffer,
    indices: Sequence[Index],
    block: Block,
    make: Callable[[Callable[[ir.Value], ir.Value]], ir.Value],
) -> None:
    """Put `result[indices] = value` in the place of a store; the value is made of copies of what the epilogue has."""
    ip, done = ir.InsertionPoint(store), {}
    with ip:
        value = make(lambda used: copy_value(used, block, ip, done))
        create.store(value, result.value, indices)
    edit.erase(store)


__all__ = ["fuse_reduction_epilogue"]
