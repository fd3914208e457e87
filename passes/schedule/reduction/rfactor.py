"""rfactor: compute partial results of a reduction, and combine them in a second nest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import Counterexample, Iteration, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    IterSpec,
    Loop,
    attrs,
    blocks_below,
    create,
    defining_op,
    edit,
    freeze_modules,
    is_loop,
    is_symbol,
    loops_above,
    parent_op,
    walk,
)
from tir_mlir.dialect.ir.op_traits import IDEMPOTENT
from tir_mlir.dialect.presburger import only_where, question, sets
from tir_mlir.passes.schedule.edits import alloc_like, keeps_region_order, values_in_order
from tir_mlir.passes.schedule.legality import Scope, check_reduction, is_child, scope_of, visits_once
from tir_mlir.passes.schedule.reduction.reduction_form import BlockReduction, cloned_values, loaded_values, reduction_of
from tir_mlir.passes.schedule.registry import ASSUME_SIZES, RUN_FULL_REDUCTION, SEPARATE_NESTS, check, primitive, refuse


@primitive("rfactor", moves="in place")
@keeps_region_order
def rfactor(loop: Loop, factor_axis: int) -> Block:
    """Factor a reduce loop: each iteration computes a partial result, and a second nest combines them.

        for i, k_0, k_1 in T.grid(n, 4, 8):          C_rf = T.alloc_buffer((8, n))
            with T.block("C"):                       for i, k_0, k_1 in T.grid(n, 4, 8):
                vi = S(n, i)                             with T.block("C_rf"):
                vk = R(32, k_0 * 8 + k_1)     ->             vk_1, vi, vk_0 = remap("SSR", [k_1, i, k_0])
                with T.init():                               with T.init():
                    C[vi] = 0                                    C_rf[vk_1, vi] = 0
                C[vi] += A[vi, vk]                           C_rf[vk_1, vi] += A[vi, vk_0 * 8 + vk_1]
                                                     for i, k_1 in T.grid(n, 8):
                                                         with T.block("C"):
                                                             vk_1, vi = remap("RS", [k_1, i])
                                                             with T.init(): C[vi] = 0
                                                             C[vi] += C_rf[vk_1, vi]

    `loop` (k_1) is spatial in the first nest, so it may run in parallel. `factor_axis` is its dimension in the buffer
    of partial results, counted from the end if negative. The handle of the block remains with the second nest; the
    block of the first is returned. Supports sums, differences (whose parts are added up), products, maxima, minima,
    `&`, `|` and `^`, also of several buffers at once, and argmax and argmin. A declared reduction may be reassociated
    (with several maximal elements, argmax by `>=` may return another one of them).

    Requires: a reduction block, alone under `loop`, the first one in its nest; `loop` is serial, drives a reduce iter
    (or is a unit loop that no iter uses) and no spatial one; the init is the identity (a maximum, a minimum, `&` and
    `|` may start from any number); the old value is the left operand of the update; each point is visited once; nothing
    else in the nest writes the block's inputs. Guards must not exclude the start of a part.
    """
    with freeze_modules():
        roles = loop_roles(loop)
        block = roles.block
        check_reduction(block)
        form = reduction_of(block)
        axis, computed = _axis(loop, factor_axis, form), partial_results(roles)
        check_may_run_before(roles)
        _note(roles, form)

    parts = [_buffer(scope_of(block), result, axis, loop) for result in form.results]
    first = _first_nest(roles, form, parts, axis)
    _second_nest(roles, form, parts, axis, computed)
    return first


def _note(roles: LoopRoles, form: BlockReduction) -> None:
    results = ", ".join(f"`{b.name}`" for b in form.results)
    idempotent = all(reducer.name in IDEMPOTENT for reducer, _ in form.reducers)
    why = "may be combined any number of times" if idempotent else "is the identity of the reduction"
    emit_remark(f"the init of {results} {why}: each part may start from it")
    emit_remark(f"`{roles.loop.name}` is of a reduction, and each point of block `{roles.block.name}` runs once")


def _axis(loop: Loop, factor_axis: int, form: BlockReduction) -> int:
    """The dimension that the loop becomes, from 0."""
    rank = form.results[0].rank
    check(
        -rank - 1 <= factor_axis <= rank,
        loop,
        f"factor_axis is {factor_axis}; {form.results[0].name} has {rank} dimensions, so the "
        f"partial results have {rank + 1}: choose one of {-rank - 1} to {rank}",
    )
    return factor_axis if factor_axis >= 0 else factor_axis + rank + 1


def _buffer(scope: Scope, result: Buffer, axis: int, loop: Loop) -> Buffer:
    """The buffer of partial results: the shape of the result, with the extent of the loop inserted."""
    shape = list(result.dims)
    shape.insert(axis, loop.extent)
    return alloc_like(result, scope, f"{result.name}_rf", shape, result.scope)


# --- the first nest: partial results ----------------------------------------------------------------------------------


def _first_nest(roles: LoopRoles, form: BlockReduction, parts: Sequence[Buffer], axis: int) -> Block:
    """Copies of all loops, before the outermost one, around the block that computes the partial results."""
    block = roles.block
    ip, variables = create.copy_loops(roles.loops, ir.InsertionPoint(roles.loops[0].op))
    iters = _part_iters(roles, variables)
    with ip, block.op.location:
        if block.where is not None:
            moved = [Constraint(c.index.substitute(variables), c.is_eq) for c in walk.constraints(block.where)]
            ip = create.at_end(create.where(moved).regions[0].blocks[0])
        with ip:
            part_block = create.block(f"{block.name}_rf", iters.specs, block.annotations)
    indices = list(form.indices)
    indices.insert(axis, Index.from_value(part_block.iters[0].var) - roles.loop.lower)
    targets = [p.value for p in parts]
    goes_on = any(it.kind == "R" for it in part_block.iters)
    end = create.at_end(part_block.body)
    with end, block.op.location:
        if goes_on:
            with create.at_end(create.init(part_block).regions[0].blocks[0]):
                form.write_starts(targets, indices)
        new = cloned_values(form.new, block, end)
        values = form.combine(loaded_values(targets, indices), new) if goes_on else form.parts_of_one(new)
        form.write(targets, indices, values)
    edit.substitute(iters.old_iter_values(block, part_block), part_block.op)
    return part_block


@dataclass(frozen=True)
class _PartIters:
    """The iters of the first block: which of them are loops, and which are old iters."""

    specs: list[IterSpec]
    loops: dict[ir.Value, int]
    kept: dict[ir.Value, int]

    def old_iter_values(self, block: Block, part_block: Block) -> dict[ir.Value, Index]:
        """The values of the old block's iters in the new one."""
        new = [Index.from_value(it.var) for it in part_block.iters]
        of_loops = {var: new[number] for var, number in self.loops.items()}
        mapping: dict[ir.Value, Index] = {}
        for it in block.iters:
            position = self.kept.get(it.var)
            mapping[it.var] = it.binding.substitute(of_loops).simplify() if position is None else new[position]
        return mapping


def _part_iters(roles: LoopRoles, variables: dict[ir.Value, Index]) -> _PartIters:
    """The loop as a spatial iter, then the old iters; a reduce iter that the loop drives is replaced by its loops."""
    part_iters = _PartIters([_iter_of_loop(roles.loop, "S", variables)], {roles.loop.var: 0}, {})
    by_var = {lp.var: lp for lp in roles.loops}
    for it in roles.block.iters:
        if it.kind == "R" and roles.loop.var in it.binding.values:
            for var in values_in_order(it.binding):
                if var in by_var and var not in part_iters.loops:
                    part_iters.loops[var] = len(part_iters.specs)
                    part_iters.specs.append(_iter_of_loop(by_var[var], "R", variables))
        else:
            part_iters.kept[it.var] = len(part_iters.specs)
            part_iters.specs.append(IterSpec.like(it, it.binding.substitute(variables)))
    return part_iters


def _iter_of_loop(loop: Loop, kind: str, variables: dict[ir.Value, Index] | None = None) -> IterSpec:
    """An iter over the range of a loop, bound to it."""
    return IterSpec(
        f"v{loop.name}", kind, loop.lower, loop.extent, (variables or {}).get(loop.var, Index.from_value(loop.var))
    )


# --- the second nest: combining the partial results -------------------------------------------------------------------


def _second_nest(
    roles: LoopRoles, form: BlockReduction, parts: Sequence[Buffer], axis: int, computed: PartialResults
) -> None:
    """Convert the old nest into the one that combines the partial results, without the other reduce loops."""
    block = roles.block
    spatial = [it for it in block.iters if it.kind == "S"]
    specs = [replace(_iter_of_loop(roles.loop, "R"), extent=computed.extent)]
    specs += [IterSpec.like(it) for it in spatial]
    ip = ir.InsertionPoint(block.outermost)
    with block.op.location:
        if computed.guards:
            with ip:
                ip = create.at_end(create.where(computed.guards).regions[0].blocks[0])
        with ip:
            sum_block = create.block(block.name, specs, block.annotations)
        first, *spatial_indices = [Index.from_value(it.var) for it in sum_block.iters]
        mapping = {old.var: new for old, new in zip(spatial, spatial_indices, strict=True)}
        indices = [i.substitute(mapping) for i in form.indices]
        part_indices = [*indices[:axis], first - roles.loop.lower, *indices[axis:]]
        results = [r.value for r in form.results]
        with create.at_end(sum_block.body):
            with create.at_end(create.init(sum_block).regions[0].blocks[0]):
                form.write_starts(results, indices)
            new = loaded_values([p.value for p in parts], part_indices)
            form.write(results, indices, form.join(loaded_values(results, indices), new))
    edit.set_attribute(sum_block.op, attrs.ID, attrs.to_attr(block.id))
    edit.erase(block.outermost)
    for loop in roles.dropped_loops:
        for op in loop.body_ops():
            edit.move_before(op, loop.op)
        edit.erase(loop.op)


# --- legality ---------------------------------------------------------------------------------------------------------

_ONE_BLOCK_FIX = "pass a loop over one block only, or apply this before the step that moved the others there"


@dataclass(frozen=True)
class LoopRoles:
    """The loops around a reduction, outer to inner; `loop` is factored, `reduce` are those that drive reduce iters."""

    loop: Loop
    block: Block
    loops: list[Loop]
    reduce: list[Loop]

    @property
    def dropped_loops(self) -> list[Loop]:
        """The loops that the second nest does not need."""
        return [lp for lp in self.reduce if lp != self.loop]

    @property
    def top(self) -> Loop:
        """The outermost reduce loop."""
        return self.reduce[0]


def loop_roles(loop: Loop) -> LoopRoles:
    """The roles of the loops around the block under a loop. Refuses loops with mixed roles."""
    block = _block_under(loop)
    check(
        loop.kind == "serial",
        loop,
        f"loop {loop.name} is {loop.kind}; rfactor needs a serial loop: apply rfactor first",
    )
    loops = loops_above(block.op)
    spatial = {v for it in block.iters if it.kind != "R" for v in it.binding.values}
    reduce = {v for it in block.iters if it.kind == "R" for v in it.binding.values}
    if loop.const_extent == 1 and loop.var not in spatial:
        reduce.add(loop.var)  # a unit loop that no iter uses: one part, the whole reduction
    roles = LoopRoles(loop, block, loops, [lp for lp in loops if lp.var in reduce])
    _check_affine(roles)
    check(
        loop.var in reduce,
        loop,
        f'loop {loop.name} drives no reduce iter of block "{block.name}"; rfactor needs a reduce loop',
        f"pass one that does: {', '.join(lp.name for lp in roles.reduce)}" if roles.reduce else "",
    )
    for outer in loops:
        if outer.var in reduce and outer.var in spatial:
            it = next(i for i in block.iters if i.kind != "R" and outer.var in i.binding.values)
            text = f"loop {outer.name} drives both reduce iters and the spatial iter {it.name}"
            refuse(
                outer, f"{text}; rfactor needs separate loops", fix="split the fused loop by the extents of the iters"
            )
    _check_nest(roles)
    _check_bounds(roles)
    _check_once(roles)
    return roles


def _check_affine(roles: LoopRoles) -> None:
    """Refuse a loop that an iter of the block is bound to by a value that is not affine, as by a symbolic factor."""
    for op in walk.parents(roles.block.op):
        search = walk.bound_value(op)
        if search is not None and _uses(search[0], roles.loop.var):
            name = attrs.get(op, attrs.LOOP, "")
            refuse(
                roles.loop,
                f'iter {name} of block "{roles.block.name}" is bound to loop {roles.loop.name} by a value that is not '
                "affine, as after a split with a symbolic inner factor; which values are in a part is not known",
                provable=False,
                fix="split by a constant inner factor, as in split(k, [None, 8]), and factor one of its loops",
            )


def _uses(value: ir.Value, variable: ir.Value) -> bool:
    """Whether a value is computed from a variable."""
    op = defining_op(value)
    return value == variable or (op is not None and any(_uses(v, variable) for v in op.operands))


def _block_under(loop: Loop) -> Block:
    """The only block under a loop. Refuses several, and one in an init."""
    blocks = blocks_below(loop.op)
    if len(blocks) != 1:
        names = ", ".join(f'"{b.name}"' for b in blocks) or "none"
        text = f"rfactor needs a loop with exactly one block under it; loop {loop.name} has {names}"
        refuse(loop, text, fix=_ONE_BLOCK_FIX if blocks else "")
    block = blocks[0]
    check(
        is_child(block, scope_of(block)),
        block,
        f'block "{block.name}" is in an init region; only loops around blocks of a body can be factored',
        f"in the program, let the init of {scope_of(block)} store a constant itself, and pass a reduce loop of it",
    )
    return block


def _check_nest(roles: LoopRoles) -> None:
    """Refuse unless the block is first under its outermost loop, and alone under its reduce loops."""
    block = roles.block
    current, chain = block.outermost, [lp.op for lp in roles.loops]
    while current != chain[0]:
        parent = parent_op(current)
        text = f'block "{block.name}" is under an if; its loops are not a plain nest'
        check(is_loop(parent), block, text, "in the program, guard the block by T.where")
        loop = Loop(parent)
        if loop in roles.loops[roles.loops.index(roles.top) :]:
            check(
                len(loop.body_ops()) == 1,
                loop,
                f'the body of the reduce loop {loop.name} contains more than the nest of block "{block.name}"',
                SEPARATE_NESTS,
            )
        check(
            loop.body_ops()[0] == current,
            loop,
            f'block "{block.name}" is not the first in loop {loop.name}: its partial results are '
            f"computed before everything in loop {roles.loops[0].name}",
            SEPARATE_NESTS,
        )
        current = parent


def _check_bounds(roles: LoopRoles) -> None:
    """Refuse bounds that depend on loops that the rewrite separates."""
    for loop in roles.loops:
        for bound in (*loop.lowers, *loop.uppers):
            for reduce_loop in roles.reduce:
                if reduce_loop.var in bound.values:
                    text = f"the bounds of loop {loop.name} depend on the reduce loop {reduce_loop.name}"
                    refuse(loop, text, fix=RUN_FULL_REDUCTION if loop in roles.reduce else "")
    for loop in roles.reduce:
        bounds = [*loop.lowers, *loop.uppers]
        plain = len(bounds) == 2 and all(is_symbol(v) for b in bounds for v in b.values)
        text = f"the bounds of reduce loop {loop.name} vary; it must have a fixed extent"
        check(plain, loop, text, RUN_FULL_REDUCTION)


def _check_once(roles: LoopRoles) -> None:
    """Refuse unless the loops from the outermost reduce loop on visit each point of the block once, including its
    start.
    """
    block = roles.block
    below = roles.loops[roles.loops.index(roles.top) :]
    bound_values = {v for it in block.iters for v in it.binding.values}
    for loop in below:
        check(
            loop.var in bound_values or loop.const_extent == 1,
            loop,
            f'loop {loop.name} repeats block "{block.name}" under the reduce loop {roles.top.name} '
            "without being bound to an iter: the repeated values would be combined as often",
        )
    starts = {lp.var: lp.lower for lp in roles.reduce}
    for it in block.iters:
        if it.kind == "R" and not it.binding.substitute(starts).is_equal_to(it.min):
            refuse(
                block, f"iter {it.name} does not start where its loops start, so its init runs in the middle of them"
            )
    check(
        visits_once(block, below),
        block,
        f'under loop {roles.top.name} two iterations of block "{block.name}" are the same point; '
        "their values would be combined twice",
    )


# --- guards -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PartialResults:
    """Which partial results to combine: the first `extent` of the loop, where `guards` hold."""

    extent: Index
    guards: list[Constraint]


def partial_results(roles: LoopRoles) -> PartialResults:
    """The partial results that the first nest computes.

    A part exists if the guard holds at the start of the other reduce loops. Refuses a guard that excludes the start of
    a part, or of the whole reduction, but not later iterations: these never had an init.
    """
    block, loop = roles.block, roles.loop
    for dropped_loop in roles.dropped_loops:
        _check_runs(dropped_loop)
    guards = walk.constraints(block.where) if block.where is not None else []
    starts = {lp.var: lp.lower for lp in roles.dropped_loops}
    first = {**starts, loop.var: loop.lower}
    results = PartialResults(loop.extent, [])
    with question(f'what the guard of block "{block.name}" excludes'):
        for guard in guards:
            _check_start(roles, guard, first, "the reduction")
            _check_start(roles, guard, starts, "its part")
            at_start = Constraint(guard.index.substitute(starts).simplify(), guard.is_eq)
            loose = sets.domain(block.op, extra=[at_start.index], guards=False)
            if sets.holds(loose, at_start.index, at_start.is_eq):
                continue
            results.guards.append(at_start)
            if loop.var in at_start.index.values:
                runs = loose.set.intersect(sets.constraint_set(loose, at_start))
                results = PartialResults(_last_part(roles, at_start, runs, loose), results.guards)
    return results


def _check_runs(loop: Loop) -> None:
    """Refuse a loop that may be empty: nothing would be computed, but all partial results combined."""
    if (loop.const_extent or 0) >= 1:
        return
    sizes = sets.sizes(loop.op)
    with question(f"whether loop {loop.name} runs"):
        empty = sizes.set.subtract(sets.constraint_set(sizes, Constraint(loop.extent - 1)))
    if not empty.is_empty():
        refuse(
            loop,
            f"the reduce loop {loop.name} may be empty, so that no partial result is computed"
            f"{only_where(empty, loop.op)}",
            fix=ASSUME_SIZES,
        )


def _last_part(roles: LoopRoles, guard: Constraint, runs: isl.Set, loose: sets.Domain) -> Index:
    """How many parts a guard leaves. Refuses a number that is not constant."""
    loop = roles.loop
    if guard.index.values != (loop.var,):
        missed = loose.set.subtract(runs)
        refuse(
            roles.block,
            f'the guard of block "{roles.block.name}" excludes some parts of loop {loop.name}, '
            f"depending on more than that loop{only_where(missed, loop.op)}; split so that every part "
            "has a first iteration",
        )
    ends = sets.constant_extent(runs, loose.index_of(loop.var))
    low = loop.lower.as_constant()
    if ends is None or low is None:
        refuse(roles.block, f"which parts of loop {loop.name} are computed is not known", provable=False)
    return Index.constant(ends[1] - low + 1)


def _check_start(roles: LoopRoles, guard: Constraint, starts: dict[ir.Value, Index], what: str) -> None:
    """Refuse when an iteration runs although a guard excludes its start in some of the loops."""
    at_start = Constraint(guard.index.substitute(starts), guard.is_eq)
    runs = sets.domain(roles.block.op, extra=[at_start.index])
    bad = runs.set.subtract(sets.constraint_set(runs, at_start))
    if bad.is_empty():
        return
    point = (sets.smallest_point(bad) or [])[-len(runs.dims) :]
    names = {lp.var: lp.name for lp in roles.loops}
    iteration = [(names[v], n) for v, n in zip(runs.dims, point, strict=False) if v in names]
    coordinates = ", ".join(f"{name} = {n}" for name, n in iteration)
    refuse(
        roles.block,
        f'the guard of block "{roles.block.name}" allows ({coordinates}) but excludes the iteration '
        f"with which {what} starts, so no init runs for it",
        counterexample=Counterexample((Iteration(roles.block.name, tuple(iteration)),)),
        fix=RUN_FULL_REDUCTION,
    )


# --- other ops in the nest --------------------------------------------------------------------------------------------


def check_may_run_before(roles: LoopRoles) -> None:
    """Refuse unless all partial results may be computed before the outermost loop."""
    block, top = roles.block, roles.loops[0]
    inputs = {a.buffer for a in accesses(block.op) if not a.is_write}
    for access in accesses(top.op):
        if access.is_write and access.buffer in inputs and not walk.is_inside(access.op, block.op):
            writer = walk.enclosing_block(access.op)
            refuse(
                writer,
                f'{Buffer(access.buffer).name}, which block "{block.name}" reads, is also written by '
                f"{writer} under loop {top.name}: all partial results are computed before that loop",
            )
