"""fuse_reduction_epilogue: merge an elementwise epilogue into the reduction that produces its input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import islpy as isl
from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis import Access, accesses_of_op
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Iter,
    Loop,
    access_indices,
    attrs,
    create,
    defining_op,
    edit,
    enclosing_block,
    fold_known,
    freeze_modules,
    is_loop,
    ops,
    parents,
    walk,
)
from tir_mlir.dialect.ir.op_traits import DIFFERENCES, MAXIMA, MINIMA, SUMS, accessed_memref
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, MemrefLoadOp, StoreOp, isa
from tir_mlir.dialect.presburger import dim_type, question
from tir_mlir.passes.schedule.edits import shrink_domains
from tir_mlir.passes.schedule.inlining.block_expression import BlockExpression, check_visible, expression_of, inverse_of
from tir_mlir.passes.schedule.inlining.compute_inline import remove
from tir_mlir.passes.schedule.legality import (
    check_complete,
    check_init_runs,
    check_reduction,
    check_runs_after,
    children,
    common_ancestor,
    compared_elements,
    first_write,
    ops_between,
    scope_of,
    smallest_element,
)
from tir_mlir.passes.schedule.legality.written_before_read import Uncovered
from tir_mlir.passes.schedule.reduction.reducers import identities
from tir_mlir.passes.schedule.reduction.reduction_form import Updates, clone_value, init_values, updates_of
from tir_mlir.passes.schedule.registry import AVOID_GUARD, MOVE_UNDER_ONE_LOOP, check, primitive, refuse

Copied = Callable[[ir.Value], ir.Value]


_WRONG = {
    "sum": "for the terms -3 and 5, T.max(-3 + 5, 0) is 2, but clipping at each step gives 5",
    "max": "for 1 and 2, max(1, 2) + 10 is 12, but adding at each step gives 22, and adding to the start has no effect",
    "min": "for 1 and 2, min(1, 2) + 10 is 11, but adding at each step gives 12, and adding to the start has no effect",
    "product": "for 2 and 3, 2 * 3 + 1 is 7, but adding at each step gives 10, and adding to the start gives 12",
}
_SCALED = "for the terms 1 and 2, (1 + 2) * 3 is 9, but scaling at each step gives (1 * 3 + 2) * 3 = 15"


@primitive("fuse_reduction_epilogue", moves="into others")
def fuse_reduction_epilogue(reduction_block: Block, epilogue_block: Block) -> None:
    """Merge an elementwise consumer of a reduction into the reduction, and erase the intermediate buffer.

        for i, k in T.grid(n, m):                    for i, k in T.grid(n, m):
            with T.block("C"):                           with T.block("C"):
                with T.init(): C[vi] = 0                     with T.init(): D[vi] = B[vi]
                C[vi] += A[vi, vk]           ->              D[vi] += A[vi, vk]
        for i in range(n):
            with T.block("D"): D[vi] = C[vi] + B[vi]

    A sum starts from the term that the epilogue adds; a maximum or minimum is clipped at each step. The merged block
    keeps name and handle of the reduction. Every element of the result gets the same value as before, up to the order
    of a declared reduction (the added term counts as one more).

    Requires: a sum with an epilogue that adds or subtracts a term once for each element; or a maximum or minimum that
    the epilogue clips by T.max and T.min. The epilogue reads each element of the reduction once, when it is final or
    after each part, and nothing else uses that buffer; no op between the two accesses the result or writes an input of
    the epilogue, and none in a loop that runs part of the reduction for both writes them. Where such a loop runs the
    epilogue also without a part, as a guard on the reduction leaves it, nothing in the loop reads the result.
    """
    with freeze_modules():
        pair = _pair(reduction_block, epilogue_block)
        _check_order(pair)
        _check_elements(pair)
        epilogue = epilogue_of(pair.updates, pair.payload, pair.load)
        start = init_values(pair.updates)[0]
    emit_remark(f"block `{epilogue_block.name}` reads each element of the reduction once, and nothing else uses it")
    _rewrite(pair, epilogue, start)


@dataclass(frozen=True)
class _EpiloguePair:
    """A reduction, its epilogue block, and the load of the result in the epilogue."""

    updates: Updates
    payload: BlockExpression
    load: ir.Operation

    @property
    def reduction(self) -> Block:
        return self.updates.block

    @property
    def block(self) -> Block:
        return self.payload.block

    @property
    def intermediate(self) -> Buffer:
        return self.updates.results[0]


def _pair(reduction: Block, block: Block) -> _EpiloguePair:
    scope = scope_of(reduction)
    for sibling in (reduction, block):
        check(
            sibling in children(scope),
            sibling,
            f'block "{sibling.name}" is in another scope, or in an init; pass two siblings',
        )
    itself = f'block "{block.name}" cannot be its own epilogue'
    check(reduction != block, block, itself, fix="pass the block that reads its result")
    check_reduction(reduction)
    check_init_runs(reduction)
    check(
        block.init is None,
        block,
        f'block "{block.name}" is a reduction itself; an epilogue has no init',
        fix=MOVE_UNDER_ONE_LOOP,
    )
    updates = updates_of(reduction)
    if len(updates.results) != 1:
        refuse(
            reduction,
            f'block "{reduction.name}" reduces into several buffers; only a single one can have an epilogue',
            fix=MOVE_UNDER_ONE_LOOP,
        )
    payload = expression_of(block)
    check_complete(block)
    guarded = f'block "{block.name}" has a guard (T.where), which the merged block would lose'
    check(block.where is None, block, guarded, fix=AVOID_GUARD)
    buffer = updates.results[0]
    owner = buffer.op
    if owner is None or enclosing_block(owner) != scope:
        refuse(
            reduction,
            f"{buffer.name} is not allocated in the scope and visible outside, so it must keep its values",
            fix=MOVE_UNDER_ONE_LOOP,
        )
    return _EpiloguePair(updates, payload, _load(reduction, block, buffer))


def _load(reduction: Block, block: Block, buffer: Buffer) -> ir.Operation:
    """The only load of the reduction's result in the epilogue. Refuses other uses."""
    loads, reads = [], any(walk.is_inside(use.owner.operation, block.op) for use in buffer.value.uses)
    for use in buffer.value.uses:
        user = use.owner.operation
        if walk.is_inside(user, block.op) and isa(user, AffineLoadOp):
            loads.append(user)
        elif walk.is_inside(user, block.op):
            refuse(
                user,
                f'block "{block.name}" uses {buffer.name} by {user.name}; an epilogue loads it at an affine index',
                fix=MOVE_UNDER_ONE_LOOP if isa(user, MemrefLoadOp) else "",
            )
        elif not walk.is_inside(user, reduction.op):
            refuse(
                user,
                f'{buffer.name} is also used outside block "{block.name}", so it must remain',
                fix=MOVE_UNDER_ONE_LOOP if reads else f"pass the block that reads {buffer.name}",
            )
    if len(loads) != 1:
        count_text = "does not read" if not loads else f"reads {len(loads)} times"
        refuse(
            block,
            f'block "{block.name}" {count_text} {buffer.name}; an epilogue reads the result of its reduction once',
            fix=MOVE_UNDER_ONE_LOOP if loads else "",
        )
    return loads[0]


# --- order ------------------------------------------------------------------------------------------------------------


def _check_order(pair: _EpiloguePair) -> None:
    """Refuse unless the epilogue may run as early as the reduction."""
    reduction, block, result = pair.reduction, pair.block, pair.payload.buffer
    check_runs_after(block, reduction)
    _check_finished(pair)
    between = ops_between(reduction.op, block.op)
    inputs = {a.buffer for a in pair.payload.inputs()} - {pair.intermediate.value}
    if (clash := first_write(between, inputs)) is not None:
        name = Buffer(clash.buffer).name
        refuse(
            clash.op,
            f'{name}, which block "{block.name}" reads, is written between block "{reduction.name}" and it',
            fix=MOVE_UNDER_ONE_LOOP,
        )
    for op in between:
        for access in accesses(op):
            if access.buffer == result.value and access.op != pair.payload.store:
                refuse(
                    access.op,
                    f'{result.name}, which block "{block.name}" writes, is used between block '
                    f'"{reduction.name}" and it; it would contain unfinished results there',
                    fix=MOVE_UNDER_ONE_LOOP,
                )
    check_visible(pair.payload, _stores(pair)[-1], reduction)


def _check_finished(pair: _EpiloguePair) -> None:
    """Refuse an epilogue of unfinished values that are not those of the merged block after each part.

    In a loop of the reduction, the epilogue runs again after each part: the merged block then has the same values. Its
    inputs may not change there, and nothing else may write its results.
    """
    driving = _driving_loop(pair)
    if driving is None:
        return
    it, loop = driving
    inputs = {a.buffer for a in pair.payload.inputs()} - {pair.intermediate.value}
    for access in accesses(loop.op):
        stores_result = access.buffer == pair.payload.buffer.value and access.op != pair.payload.store
        if access.is_write and (stores_result or access.buffer in inputs):
            _refuse_running(pair, it, loop, access, "is written")


def _refuse_running(pair: _EpiloguePair, it: Iter, loop: Loop, access: Access, what: str) -> NoReturn:
    refuse(
        access.op,
        f'block "{pair.block.name}" runs in loop {loop.name}, in the middle of the reduction over {it.name}, '
        f"and {Buffer(access.buffer).name} {what} there",
    )


def _driving_loop(pair: _EpiloguePair) -> tuple[Iter, Loop] | None:
    """The outermost loop around both blocks that runs part of the reduction, and the reduce iter."""
    loop_of = _common_loops(pair)
    driven = [(it, v) for it in pair.reduction.iters if it.kind == "R" for v in it.binding.values if v in loop_of]
    if not driven:
        return None
    order = list(loop_of)
    it, value = max(driven, key=lambda pair_of_iter: order.index(pair_of_iter[1]))
    return it, loop_of[value]


def _common_loops(pair: _EpiloguePair) -> dict[ir.Value, Loop]:
    """The loops around both blocks by variable, inner to outer."""
    level = common_ancestor(pair.reduction.op, pair.block.op)[0]
    return {Loop(p).var: Loop(p) for p in [level, *parents(level)] if is_loop(p)}


def _check_elements(pair: _EpiloguePair) -> None:
    """Refuse unless the epilogue reads exactly the elements that the reduction computes, each once."""
    inverse_of(pair.block, access_indices(pair.load))
    inverse_of(pair.block, pair.payload.indices)
    level = common_ancestor(pair.reduction.op, pair.block.op)[0]
    store, load = accesses_of_op(_stores(pair)[-1])[0], accesses_of_op(pair.load)[0]
    with question(f'whether block "{pair.block.name}" reads what block "{pair.reduction.name}" computes'):
        computed, read = compared_elements(store, load, level, pair.block)
        if not (missing := read.subtract(computed)).is_empty():
            _check_made_in_another_part(pair, read, computed, smallest_element(load.buffer, missing))
        if not (extra := computed.subtract(read)).is_empty():
            element = smallest_element(load.buffer, extra)
            refuse(
                pair.block,
                f'the reduction also computes {element}, which block "{pair.block.name}" does not read there',
                fix=MOVE_UNDER_ONE_LOOP,
            )


def _check_made_in_another_part(pair: _EpiloguePair, read: isl.Map, computed: isl.Map, lacks: Uncovered) -> None:
    """Refuse an epilogue of elements that the reduction does not compute, except where it runs again in iterations
    without a part of the sum, as those that a guard excludes; then nothing else may see its results there.
    """
    driving, text = (
        _driving_loop(pair),
        f'block "{pair.block.name}" needs {lacks}, which the reduction does not compute',
    )
    if driving is None:
        refuse(pair.block, f"{text} there", counterexample=lacks)
    it, loop = driving
    depth = list(reversed(_common_loops(pair))).index(loop.var)
    inner = (dim_type.in_, depth, read.dim(dim_type.in_) - depth)
    if not read.project_out(*inner).is_subset(computed.project_out(*inner)):
        refuse(pair.block, f"{text} there", counterexample=lacks)
    for access in accesses(loop.op):
        if access.buffer == pair.payload.buffer.value and access.op != pair.payload.store:
            _refuse_running(pair, it, loop, access, f"is used, before {lacks} is computed,")


# --- rewrite ----------------------------------------------------------------------------------------------------------


def _stores(pair: _EpiloguePair) -> list[ir.Operation]:
    """The stores of the reduction's result, that of the init first."""
    return [
        op
        for op in walk.ops(pair.reduction.op)
        if isa(op, AffineStoreOp) and accessed_memref(op) == pair.intermediate.value
    ]


def _rewrite(pair: _EpiloguePair, epilogue: Epilogue, start: ir.Attribute) -> None:
    reduction, block, result = pair.reduction, pair.block, pair.payload.buffer
    scope, between = scope_of(block), pair.intermediate
    first, last = _stores(pair)
    with freeze_modules():
        iters = inverse_of(block, access_indices(pair.load)).at_access(accesses_of_op(last)[0])
        indices = [i.substitute(iters) for i in pair.payload.indices]
    shrink_domains(reduction)  # the merged block declares the epilogue's writes
    for key in (attrs.READS, attrs.WRITES):
        attrs.put(reduction.op, key, None)
    for op in [o for o in walk.ops(reduction.op) if isa(o, AffineLoadOp) and accessed_memref(o) == between.value]:
        with ir.InsertionPoint(op), op.location:
            edit.replace_uses(op.results[0], create.load(result.value, indices))
        edit.erase(op)
    with block.op.location:
        _replace_store(first, result, indices, block, lambda operand: epilogue.emit_start(start, operand))
        _replace_store(last, result, indices, block, lambda operand: epilogue.emit_update(StoreOp(last).value, operand))
    edit.substitute(iters, reduction.op)
    remove(block, between, scope, result)
    fold_known(reduction.op)


def _replace_store(
    store: ir.Operation,
    result: Buffer,
    indices: Sequence[Index],
    block: Block,
    make: Callable[[Callable[[ir.Value], ir.Value]], ir.Value],
) -> None:
    """Replace a store by `result[indices] = value`, with the value computed from clones of the epilogue's values."""
    ip, done = ir.InsertionPoint(store), {}
    with ip:
        value = make(lambda operand: clone_value(operand, block, ip, done))
        create.store(value, result.value, indices)
    edit.erase(store)


# --- the forms of an epilogue -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EpilogueStep:
    """`op(x, other)`, or `op(other, x)` if `turned`."""

    op: str
    other: ir.Value
    turned: bool


@dataclass(frozen=True)
class Epilogue:
    """The steps from the final value of a reduction to what is stored, innermost first."""

    reducer: str
    steps: tuple[EpilogueStep, ...]
    unsigned: bool = False

    def emit_start(self, start: ir.Attribute, copied: Copied) -> ir.Value:
        """Emit the start of the merged reduction: the epilogue applied to the old start, simplified for 0 and
        identities.
        """
        type_ = start.type  # type: ignore[attr-defined]
        plain = start.value in identities(self.reducer, type_, self.unsigned)  # type: ignore[attr-defined]
        value: ir.Value | None = None
        for step in self.steps:
            drops = (
                step.op in SUMS if self.reducer == "sum" else step.op in (MAXIMA if self.reducer == "max" else MINIMA)
            )
            if value is None and plain and drops:
                value = copied(step.other)
            else:
                value = _emit_step(step, arith.constant(type_, start) if value is None else value, copied)
        return arith.constant(type_, start) if value is None else value

    def emit_update(self, value: ir.Value, copied: Copied) -> ir.Value:
        """Emit the update of the merged reduction: added terms are in the start already, clipping applies at each
        step.
        """
        if self.reducer == "sum":
            return value
        for step in self.steps:
            value = _emit_step(step, value, copied)
        return value


def _emit_step(step: EpilogueStep, value: ir.Value, copied: Copied) -> ir.Value:
    operand = copied(step.other)
    operands = [operand, value] if step.turned else [value, operand]
    return ir.Operation.create(step.op, results=[value.type], operands=operands).results[0]


def epilogue_of(updates: Updates, payload: BlockExpression, load: ir.Operation) -> Epilogue:
    """The steps of an epilogue. Refuses those that do not distribute over partial results."""
    reducer, unsigned = updates.reducers[0][0].name, updates.reducers[0][0].unsigned
    clips = [
        op for op in (*MAXIMA, *MINIMA) if op.endswith("ui") == unsigned
    ]  # one order for the terms and the clipping
    distributive = {"sum": (*SUMS, *DIFFERENCES), "max": clips, "min": clips}.get(reducer, ())
    steps: list[EpilogueStep] = []
    value = payload.value
    while value != load.results[0]:
        op = defining_op(value)
        sides = [] if op is None else [n for n, v in enumerate(op.operands) if _depends(v, load)]
        if op is None or op.name not in distributive or len(sides) != 1 or (op.name in DIFFERENCES and sides != [0]):
            _refuse_step(payload, reducer, op)
        steps.append(EpilogueStep(op.name, op.operands[1 - sides[0]], sides == [1]))
        value = op.operands[sides[0]]
    return Epilogue(reducer, tuple(reversed(steps)), unsigned)


def _depends(value: ir.Value, load: ir.Operation) -> bool:
    """Whether a value depends on a load."""
    op = defining_op(value)
    if op is None:
        return False
    if op == load or any(inner == load for inner in ops(op)):
        return True
    return any(_depends(v, load) for v in op.operands if not isinstance(v.type, ir.MemRefType))


def _refuse_step(payload: BlockExpression, reducer: str, op: ir.Operation | None) -> NoReturn:
    what = op.name.partition(".")[2] if op is not None else "nothing known"
    may = {
        "sum": "a sum allows addition and subtraction",
        "max": "a maximum allows clipping by T.max and T.min",
        "min": "a minimum allows clipping by T.max and T.min",
    }.get(reducer, f"a {reducer} allows no epilogue")
    example = _SCALED if reducer == "sum" and "mul" in what else _WRONG.get(reducer, "")
    if reducer == "sum" and op is not None and op.name not in (*MAXIMA, *MINIMA) and "mul" not in what:
        example = "it does not commute with adding the next term"
    refuse(
        payload.block,
        f'block "{payload.block.name}" does {what} to an unfinished {reducer}: {may}'
        + (f" ({example})" if example else ""),
        fix=MOVE_UNDER_ONE_LOOP,
    )
