"""rfactor: compute partial results of a reduction, and combine them in a second nest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mlir import ir

from tir_mlir.dialect.ir import Block, Buffer, Constraint, Index, IterSpec, Loop, attrs, create, edit, frozen, walk
from tir_mlir.passes.schedule.edits import alloc_like, keeps_region_order, values_in_order
from tir_mlir.passes.schedule.legality import Scope, check_reduction, scope_of
from tir_mlir.passes.schedule.reduction.reduction_form import Reduction, cloned_values, loaded_values, reduction_of
from tir_mlir.passes.schedule.reduction.rfactor_legality import (
    LoopRoles,
    PartialResults,
    check_may_run_before,
    loop_roles,
    partial_results,
)
from tir_mlir.passes.schedule.registry import check, primitive


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
    of partial results, counted from the end if negative. The handle of the block stays with the second nest; the block
    of the first is returned. Supports sums, products, maxima and minima, also of several buffers at once, and argmax
    and argmin. A declared reduction may be reassociated (with several maximal elements, argmax by `>=` may return
    another one of them).

    Requires: a reduction block, alone under `loop`, the first one in its nest; `loop` is serial, drives a reduce iter
    (or is a unit loop that no iter uses) and no spatial one; the init is the identity; the old value is the left
    operand of the update; each point is visited once; nothing else in the nest writes the block's inputs. Guards must
    not exclude the start of a part.
    """
    with frozen():
        roles = loop_roles(loop)
        block = roles.block
        check_reduction(block)
        form = reduction_of(block)
        axis = _axis(loop, factor_axis, form)
        computed = partial_results(roles)
        check_may_run_before(roles)

    scope = scope_of(block)
    parts = [_buffer(scope, result, axis, loop) for result in form.results]
    first = _first_nest(roles, form, parts, axis)
    _second_nest(roles, form, parts, axis, computed)
    return first


def _axis(loop: Loop, factor_axis: int, form: Reduction) -> int:
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


def _first_nest(roles: LoopRoles, form: Reduction, parts: Sequence[Buffer], axis: int) -> Block:
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
    indices.insert(axis, Index.of(part_block.iters[0].var) - roles.loop.lower)
    targets = [p.value for p in parts]
    goes_on = any(it.kind == "R" for it in part_block.iters)
    end = create.at_end(part_block.body)
    with end, block.op.location:
        if goes_on:
            with create.at_end(create.init(part_block).regions[0].blocks[0]):
                form.write_starts(targets, indices)
        new = cloned_values(form.new, block, end)
        values = form.combine(loaded_values(targets, indices), new) if goes_on else [make() for make in new]
        form.write(targets, indices, values)
    edit.substitute(iters.through(block, part_block), part_block.op)
    return part_block


@dataclass(frozen=True)
class _PartIters:
    """The iters of the first block: which of them are loops, and which are old iters."""

    specs: list[IterSpec]
    loops: dict[ir.Value, int]
    kept: dict[ir.Value, int]

    def through(self, block: Block, part_block: Block) -> dict[ir.Value, Index]:
        """The values of the old block's iters in the new one."""
        new = [Index.of(it.var) for it in part_block.iters]
        of_loops = {var: new[number] for var, number in self.loops.items()}
        mapping: dict[ir.Value, Index] = {}
        for it in block.iters:
            position = self.kept.get(it.var)
            mapping[it.var] = it.binding.substitute(of_loops).simplified() if position is None else new[position]
        return mapping


def _part_iters(roles: LoopRoles, variables: dict[ir.Value, Index]) -> _PartIters:
    """The loop as a spatial iter, then the old iters; a reduce iter that the loop drives is replaced by its loops."""
    part_iters = _PartIters([_of_loop(roles.loop, "S", variables)], {roles.loop.var: 0}, {})
    by_var = {lp.var: lp for lp in roles.loops}
    for it in roles.block.iters:
        if it.kind == "R" and roles.loop.var in it.binding.values:
            for var in values_in_order(it.binding):
                if var in by_var and var not in part_iters.loops:
                    part_iters.loops[var] = len(part_iters.specs)
                    part_iters.specs.append(_of_loop(by_var[var], "R", variables))
        else:
            part_iters.kept[it.var] = len(part_iters.specs)
            part_iters.specs.append(IterSpec.like(it, it.binding.substitute(variables)))
    return part_iters


def _of_loop(loop: Loop, kind: str, variables: dict[ir.Value, Index] | None = None) -> IterSpec:
    """An iter over the range of a loop, bound to it."""
    return IterSpec(f"v{loop.name}", kind, loop.lower, loop.extent, (variables or {}).get(loop.var, Index.of(loop.var)))


# --- the second nest: combining the partial results -------------------------------------------------------------------


def _second_nest(
    roles: LoopRoles, form: Reduction, parts: Sequence[Buffer], axis: int, computed: PartialResults
) -> None:
    """Turn the old nest into the one that combines the partial results, without the other reduce loops."""
    block = roles.block
    spatial = [it for it in block.iters if it.kind == "S"]
    specs = [replace(_of_loop(roles.loop, "R"), extent=computed.extent)]
    specs += [IterSpec.like(it) for it in spatial]
    ip = ir.InsertionPoint(block.outermost)
    with block.op.location:
        if computed.guards:
            with ip:
                ip = create.at_end(create.where(computed.guards).regions[0].blocks[0])
        with ip:
            sum_block = create.block(block.name, specs, block.annotations)
        first, *spatial_indices = [Index.of(it.var) for it in sum_block.iters]
        mapping = {old.var: new for old, new in zip(spatial, spatial_indices, strict=True)}
        indices = [i.substitute(mapping) for i in form.indices]
        part_indices = [*indices[:axis], first - roles.loop.lower, *indices[axis:]]
        results = [r.value for r in form.results]
        with create.at_end(sum_block.body):
            with create.at_end(create.init(sum_block).regions[0].blocks[0]):
                form.write_starts(results, indices)
            new = loaded_values([p.value for p in parts], part_indices)
            form.write(results, indices, form.combine(loaded_values(results, indices), new))
    edit.set_attribute(sum_block.op, attrs.ID, attrs.to_attr(block.id))
    edit.erase(block.outermost)
    for loop in roles.dropped:
        for op in loop.body_ops():
            edit.move_before(op, loop.op)
        edit.erase(loop.op)
