"""trim_reduction: end a reduction after its last term that counts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses_to
from tir_mlir.dialect.diagnostics import Counterexample, Iteration, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Loop,
    access_indices,
    create,
    defining_op,
    edit,
    freeze_modules,
    func_of,
    loops_above,
    symbols_by_name,
    walk,
)
from tir_mlir.dialect.ir.op_traits import IDEMPOTENT, OF_ZEROS, PRODUCTS, accessed_memref
from tir_mlir.dialect.ir.op_views import (
    AffineIfOp,
    AffineLoadOp,
    AffineStoreOp,
    BinaryOp,
    ConstantOp,
    IfOp,
    SelectOp,
    StoreOp,
    isa,
)
from tir_mlir.dialect.presburger import Domain, dim_type, guards, last_values, question, sets, smallest_point
from tir_mlir.passes.schedule.reduction.reduction_form import Updates, init_values, updates_of
from tir_mlir.passes.schedule.registry import DECOMPOSE_REDUCTION, PASS_OWN_LOOP, check, primitive, refuse


@primitive("trim_reduction", moves="nothing")
def trim_reduction(block: Block, loop: Loop) -> None:
    """End a reduction, in each iteration of a loop around it, after its last term that counts.

        for i_0, i_1, k in T.grid(4, 16, 64):           for i_0, i_1, k in T.grid(4, 16, 64):
            with T.block("C"):                              with T.block("C"):
                vi = S(64, i_0 * 16 + i_1)                      vi = S(64, i_0 * 16 + i_1)
                vk = R(64, k)                       ->          vk = R(64, k)
                with T.init(): C[vi] = 0                        T.where(k <= i_0 * 16 + 15)
                C[vi] += T.if_then_else(vk <= vi,               with T.init(): C[vi] = 0
                                        A[vi, vk], 0)           C[vi] += ...

    A term that does not count leaves the result as it is: 0 in a sum, in a maximum -inf or the start value. Known are
    constants, one of two values that a condition on iters selects, elements of a buffer that one block fills with such
    values, and in a sum what is 0 where its operands are, such as casts, and products with anything. The end is the
    same for all iterations of the loops in `loop`; lowering makes it the end of the loop of the reduction. Every result
    is the same as before, or a number instead of the NaN that 0 times an infinity or a NaN is: what is not read has no
    influence.

    Requires: a reduction block, or its update, with a known combiner; `loop` is around it; in each iteration of `loop`,
    after some term none counts; if the block has an init, one term counts, since the init runs with the first.
    """
    with freeze_modules():
        conditions = _conditions(block, loop)
    guard = block.where
    if guard is not None:
        conditions = guards.drop_implied_conditions(block, [*walk.constraints(guard), *conditions])
        guards.rewrite(block, guard, conditions)
        return
    with ir.InsertionPoint(block.op), block.op.location:
        guard = create.where(conditions)
    edit.move_before(block.op, list(guard.regions[0].blocks[0].operations)[-1])


def _conditions(block: Block, loop: Loop) -> list[Constraint]:
    """The ends of the reduce iters in an iteration of a loop."""
    loops = loops_above(block.op)
    if loop not in loops:
        names = ", ".join(lp.name for lp in loops) or "none"
        refuse(loop, f'loop {loop.name} is not around block "{block.name}" (its loops: {names})', fix=PASS_OWN_LOOP)
    reduced = [it for it in block.iters if it.kind == "R"]
    check(bool(reduced), block, f'block "{block.name}" has no reduce iter')
    neutral_terms = _neutral_terms(updates_of(block))
    dom = sets.domain(block.body_ops()[0])
    shared, inner = dom.dims[: dom.index_of(loop.var) + 1], len(dom.dims) - dom.index_of(loop.var) - 1
    with question(f'after which term of block "{block.name}" none counts'):
        counting = dom.set.subtract(_skippable(block, dom, neutral_terms))
        if block.init is not None:
            _check_one_counts(block, loop, dom, counting, inner)
        found = []
        for it in reduced:
            values = dom.map([it.binding]).intersect_domain(counting)
            values = values.project_out(dim_type.in_, len(shared), inner)
            ends = last_values(values, 0, shared, symbols_by_name(block.op))
            conditions = [Constraint((end - it.binding).simplify()) for end in ends]
            found += [(it, c) for c in conditions if not sets.holds(dom, c.index)]
    if not found:
        text = f'in an iteration of loop {loop.name}, the last term of block "{block.name}" is not known to be neutral'
        way = "in the program, store T.if_then_else(condition, value, 0), for a maximum its start"
        refuse(block, text, False, fix=way)
    for it, _ in found:
        terms = f"each term of block `{block.name}` over `{it.name}` that is left out"
        emit_remark(f"in an iteration of `{loop.name}`, {terms} is neutral")
    return [condition for _, condition in found]


def _neutral_terms(updates: Updates) -> list[tuple[ir.Value, set[float]]]:
    """The new values of a reduction, with the constants that change nothing."""
    starts = init_values(updates) if updates.block.init is not None else []
    terms = []
    for reducer, span in updates.reducers:
        for number, identities, value in zip(span, reducer.identities, reducer.new, strict=True):
            start = {starts[number].value} if starts and reducer.name in IDEMPOTENT else set()  # type: ignore[attr-defined]
            terms.append((value, {*identities} | start))
    return terms


def _skippable(block: Block, dom: Domain, neutral_terms: Sequence[tuple[ir.Value, set[float]]]) -> isl.Set:
    """The iterations all of whose terms are neutral."""
    idle = dom.set
    for value, constants in neutral_terms:
        idle = idle.intersect(_NeutralPoints(block, dom, constants).points_of(value))
    return idle


def _check_one_counts(block: Block, loop: Loop, dom: Domain, counting: isl.Set, inner: int) -> None:
    """Refuse if no term counts in an iteration of the loop: the init would not run there."""
    of_inner = (dim_type.set, len(dom.dims) - inner, inner)
    idle = dom.set.project_out(*of_inner).subtract(counting.project_out(*of_inner))
    point = smallest_point(idle)
    if point is not None:
        names = [lp.name for lp in loops_above(block.op)][: len(dom.dims) - inner]
        example = Counterexample((Iteration.from_point(block.name, names, point[-len(names) :]),))
        text = f'no term of block "{block.name}" counts in an iteration of loop {loop.name}: its init would not run'
        refuse(block, text, counterexample=example, fix=DECOMPOSE_REDUCTION)


class _NeutralPoints:
    """Where values of a block are known to be one of some constants, as points of a domain around its body."""

    def __init__(self, block: Block, dom: Domain, constants: Collection[float]):
        self.block, self.dom, self.constants = block, dom, constants

    def points_of(self, value: ir.Value) -> isl.Set:
        op = defining_op(value)
        if op is None:
            return self._none
        if isa(op, ConstantOp):
            return self.dom.set if op.attributes["value"].value in self.constants else self._none  # type: ignore[attr-defined]
        if isa(op, AffineIfOp):
            selected, (first, second) = sets.guard_set(self.dom, op), map(self.points_of, IfOp(op).yielded_values())
            return first.intersect(selected).union(second.subtract(selected))
        if isa(op, SelectOp):
            return self.points_of(SelectOp(op).true_value).intersect(self.points_of(SelectOp(op).false_value))
        if isa(op, AffineLoadOp):
            return self._of_element(op)
        if set(self.constants) == {0} and op.name in PRODUCTS:
            return self.points_of(BinaryOp(op).lhs).union(self.points_of(BinaryOp(op).rhs))
        if set(self.constants) == {0} and op.name in OF_ZEROS:
            return reduce(isl.Set.intersect, map(self.points_of, op.operands))
        return self._none

    @property
    def _none(self) -> isl.Set:
        return isl.Set.empty(self.dom.set.get_space())

    def _of_element(self, load: ir.Operation) -> isl.Set:
        """Where an element is read that one store fills, always with such a value."""
        buffer = Buffer(accessed_memref(load))
        writes = accesses_to(buffer.root.value, func_of(self.block.op).op, True)
        if buffer.is_param or buffer.root != buffer or len(writes) != 1 or not isa(writes[0].op, AffineStoreOp):
            return self._none
        store = writes[0].op
        dom = sets.domain(store)
        neutral = _NeutralPoints(self.block, dom, self.constants).points_of(StoreOp(store).value)
        stored = dom.map(access_indices(store))
        elements = neutral.apply(stored).subtract(dom.set.subtract(neutral).apply(stored))
        return elements.apply(self.dom.map(access_indices(load)).reverse())
