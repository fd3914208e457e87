"""decompose_padding, can_decompose_padding: split a padded copy into a fill and an unconditional copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import Counterexample, Iteration, NotProvable, ScheduleError, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    Iter,
    IterSpec,
    Loop,
    access_indices,
    create,
    defining_op,
    edit,
    fold_known,
    freeze_modules,
    loops_above,
    ops,
    rebind,
    rebuild_guard,
    substitute,
    symbols_by_name,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref, is_pure
from tir_mlir.dialect.ir.op_views import AffineIfOp, AffineStoreOp, ChoiceOp, ConstantOp, IfOp, StoreOp, isa
from tir_mlir.dialect.presburger import guards, question, sets, to_index
from tir_mlir.passes.schedule.edits import keeps_region_order, set_domain, set_extent
from tir_mlir.passes.schedule.legality import check_complete, check_read_after, is_child, scope_of
from tir_mlir.passes.schedule.registry import ASSUME_SIZES, DECOMPOSE_REDUCTION, PASS_OWN_LOOP, check, primitive, refuse


@primitive("decompose_padding")
@keeps_region_order
def decompose_padding(block: Block, loop: Loop) -> Block:
    """Split a padding block into one that writes the pad value everywhere and one that writes the inner box.

        for i in range(140):                         for i in range(140):
            with T.block("Y"):                           with T.block("Y_pad_const"): Y[vi] = 0
                vi = S(140, i)                  ->   for i in range(128):
                Y[vi] = T.if_then_else(                  with T.block("Y"):
                    6 <= vi and vi < 134,                    vi = S(128, i)
                    X[vi - 6], 0)                            Y[vi + 6] = X[vi]

    The first block is inserted directly before `loop`, runs over the loops from `loop` on, and is returned. In the
    second, a loop that is the whole binding of an iter and contains nothing else becomes shorter; other bindings are
    shifted and guarded. Every element gets the same value as before.

    Requires: a complete block whose body is one store that selects between a value and a constant; the iterations that
    store the value form a box in its domain, neither empty nor the whole; no `if` is between loop and block; under
    `loop` nothing else writes the buffer, or reads an element before the block has written it in the same iteration.
    """
    with freeze_modules():
        plan = _plan(block, loop)
    emit_remark(
        f"the iterations of block `{block.name}` that store the value form a box; the others store the constant"
    )
    with block.op.location:
        pad_block = _fill(plan)
    _shrink(plan)
    return pad_block


@primitive("can_decompose_padding", pure=True)
def can_decompose_padding(block: Block, loop: Loop) -> bool:
    """Whether `decompose_padding` accepts a block and a loop around it."""
    try:
        with freeze_modules():
            _plan(block, loop)
    except (ScheduleError, NotProvable):
        return False
    return True


@dataclass(frozen=True)
class _PaddingPlan:
    """The store, the constant in the padding, and the box of iters that store the value."""

    block: Block
    below: list[Loop]
    store: ir.Operation
    choice: ir.Operation
    takes_first: bool
    constant: ir.Attribute
    lows: list[Index]
    extents: list[Index]

    @property
    def sole(self) -> list[Loop]:
        """The inner loops that contain nothing but the nest of the block."""
        count = next((n for n, lp in enumerate(reversed(self.below)) if len(lp.body_ops()) != 1), len(self.below))
        return self.below[len(self.below) - count :]

    def is_whole(self, number: int) -> bool:
        """Whether the box covers the whole domain of an iter."""
        it = self.block.iters[number]
        return self.lows[number].is_equal_to(it.min) and self.extents[number].is_equal_to(it.extent)


_OWN_BLOCK = "in the program, store the padded value in a block of its own, and read it from there"
_GUARD = "in the program, guard the block by T.where; or pass a loop inside the if"
_IN_ONE_STORE = "in the program, make it one store of T.if_then_else(condition, value, constant)"


# --- checks -----------------------------------------------------------------------------------------------------------


def _plan(block: Block, loop: Loop) -> _PaddingPlan:
    loops = loops_above(block.op)
    if loop not in loops:
        names = ", ".join(lp.name for lp in loops) or "none"
        refuse(loop, f'loop {loop.name} is not around block "{block.name}" (its loops: {names})', fix=PASS_OWN_LOOP)
    below = loops[loops.index(loop) :]
    for parent in walk.parents(block.outermost):
        text = f'block "{block.name}" is under an if in loop {loop.name}; its padding would be written in any case'
        check(parent in [lp.op for lp in loops] or not walk.is_inside(parent, loop.op), block, text, _GUARD)
    _check_bounds(below)
    check(
        is_child(block, scope_of(block)), block, f'block "{block.name}" is in an init region', fix=DECOMPOSE_REDUCTION
    )
    check(
        block.init is None,
        block,
        f'block "{block.name}" has an init, so it is not a complete block; a padding block has none',
        _OWN_BLOCK,
    )
    check_complete(block)
    store, choice = _choice(block)
    sides = [list(r.blocks[0].operations)[-1] for r in choice.regions]
    constants = [_constant(value) for value in IfOp(choice).yielded_values()]
    takes_first = constants[1] is not None
    constant = constants[1] if takes_first else constants[0]
    if constant is None:
        refuse(block, f'block "{block.name}" selects between two values; one of them must be a constant, the padding')
    lows, extents = _box(block, sides[0 if takes_first else 1].operation)
    check_read_after(block, loop, Buffer(accessed_memref(store)), "the padding")
    return _PaddingPlan(block, below, store, choice, takes_first, constant, lows, extents)


def _check_bounds(below: Sequence[Loop]) -> None:
    inner_loops = {lp.var: lp for lp in below}
    for loop in below:
        for value in [v for b in (*loop.lowers, *loop.uppers) for v in b.values]:
            if value in inner_loops:
                refuse(
                    loop,
                    f"the bounds of loop {loop.name} depend on loop {inner_loops[value].name}, which may become "
                    "shorter",
                    fix=f"pass loop {loop.name}",
                )


def _choice(block: Block) -> tuple[ir.Operation, ir.Operation]:
    """The store of a block and the select or `scf.if` that it stores."""
    body = block.body_ops()
    stores = [op for op in body if isa(op, AffineStoreOp)]
    if len(stores) != 1 or body[-1] != stores[0]:
        refuse(block, f'the body of block "{block.name}" is not one store at an affine index', fix=_IN_ONE_STORE)
    for op in [o for step in body[:-1] for o in ops(step)]:
        check(
            is_pure(op) or isa(op, ChoiceOp),
            block,
            f'block "{block.name}" contains {op.name}; a padding block only computes a value',
            fix=_IN_ONE_STORE,
        )
    value = StoreOp(stores[0]).value
    choice = defining_op(value)
    if choice is None or not isa(choice, AffineIfOp) or choice not in body:
        refuse(
            block,
            f'block "{block.name}" does not store T.if_then_else(condition, value, constant) with a '
            "condition on its iters",
            fix=_OWN_BLOCK,
        )
    return stores[0], choice


def _constant(value: ir.Value) -> ir.Attribute | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or not isa(owner, ConstantOp):
        return None
    return owner.attributes["value"]


def _box(block: Block, stored: ir.Operation) -> tuple[list[Index], list[Index]]:
    """The box of iters that reach an op of the body. Refuses a set that is not a box, empty, or the whole domain."""
    with question(f'which iterations of block "{block.name}" store the value'):
        reached = sets.domain(stored, block.op)
        every = sets.domain(block.body_ops()[-1], block.op)
        check(
            reached.exact and not reached.free,
            block,
            f'the condition in block "{block.name}" is not a condition on its iters',
        )
        if reached.set.is_empty():
            refuse(block, f'no iteration of block "{block.name}" stores the value; all of it is padding')
        if every.set.is_subset(reached.set):
            refuse(block, f'every iteration of block "{block.name}" stores the value; nothing is padded')
        ends = [_end(reached.set, number, block) for number in range(len(block.iters))]
        box = isl.Set.universe(reached.set.get_space())
        for it, (low, extent) in zip(block.iters, ends, strict=True):
            iteration = Index.from_value(it.var)
            for bound in (iteration - low, low + extent - iteration - 1):
                box = box.intersect(sets.constraint_set(reached, Constraint(bound)))
        box = box.intersect_params(every.set.params())
        extra = box.subtract(reached.set)
    if not extra.is_empty():
        point = (sets.smallest_point(extra) or [])[-len(block.iters) :]
        iteration = Iteration.from_point(block.name, [it.name for it in block.iters], point)
        coordinates = ", ".join(f"{name} = {v}" for name, v in iteration.values)
        refuse(
            block,
            f'the iterations of block "{block.name}" that store the value are not a box: ({coordinates}) is '
            "between them and stores the constant",
            counterexample=Counterexample((iteration,)),
            fix="cut the range into parts with one box each by loop_partition first",
        )
    return [low for low, _ in ends], [extent for _, extent in ends]


def _end(points: isl.Set, number: int, block: Block) -> tuple[Index, Index]:
    """Start and extent of one dimension of a set, over sizes."""
    symbols = symbols_by_name(block.op)
    ends = []
    for bound in (points.dim_min(number), points.dim_max(number)):
        pieces = bound.coalesce().gist(points.params()).get_pieces()
        if len(pieces) != 1:
            refuse(
                block,
                f"the range in which iter {block.iters[number].name} stores the value has no single "
                "bound; it depends on the sizes",
                provable=False,
                fix=ASSUME_SIZES,
            )
        ends.append(to_index(pieces[0][1], [], symbols))
    return ends[0], (ends[1] - ends[0] + 1).simplify()


# --- rewrite ----------------------------------------------------------------------------------------------------------


def _fill(plan: _PaddingPlan) -> Block:
    """Create the block that writes the pad value everywhere, in a copy of the nest from the loop on, before it."""
    block = plan.block
    ip, variables = create.copy_loops(plan.below, ir.InsertionPoint(plan.below[0].op))
    if block.where is not None:
        moved = [Constraint(c.index.substitute(variables), c.is_eq) for c in walk.constraints(block.where)]
        with ip:
            ip = create.at_end(create.where(moved).regions[0].blocks[0])
    with ip:
        specs = [IterSpec.like(i, i.binding.substitute(variables)) for i in block.iters]
        pad_block = create.block(f"{block.name}_pad_const", specs, block.annotations)
    mapping = {old.var: Index.from_value(new.var) for old, new in zip(block.iters, pad_block.iters, strict=True)}
    with create.at_end(pad_block.body):
        value = arith.constant(plan.choice.results[0].type, plan.constant)
        create.store(value, accessed_memref(plan.store), [i.substitute(mapping) for i in access_indices(plan.store)])
    return pad_block


def _shrink(plan: _PaddingPlan) -> None:
    """Restrict the block to the box, starting at 0, and store the value unconditionally."""
    block, number = plan.block, plan.block.id
    shrunk = {n: lp for n, it in enumerate(block.iters) if (lp := _own_loop(plan, n, it)) is not None}
    shift = {lp.var: Index.from_value(lp.var) + plan.lows[n] for n, lp in shrunk.items()}
    guards = [] if block.where is None else walk.constraints(block.where)
    guards = [Constraint(c.index.substitute(shift), c.is_eq) for c in guards]
    bindings, mins, extents = [], [], []
    for n, it in enumerate(block.iters):
        moved = not plan.is_whole(n)
        binding = it.binding if n in shrunk or not moved else (it.binding - plan.lows[n]).simplify()
        if moved and n not in shrunk:
            guards += [Constraint(binding), Constraint(plan.extents[n] - binding - 1)]
        bindings.append(binding)
        mins.append(Index.constant(0) if moved else it.min)
        extents.append(plan.extents[n] if moved else it.extent)
    iters = {
        it.var: Index.from_value(it.var) + plan.lows[n] for n, it in enumerate(block.iters) if not plan.is_whole(n)
    }
    loop_extents = [(lp.id, plan.extents[n]) for n, lp in shrunk.items()]
    scope = scope_of(block).op

    rebuild_guard(plan.choice, [Constraint(Index.constant(0 if plan.takes_first else -1))])
    substitute(iters, block.op)
    fold_known(block.op)
    set_domain(block, mins, extents)
    rebind(block.op, bindings)
    for loop_id, extent in loop_extents:
        set_extent(Loop(walk.op_with_id(scope, loop_id)), extent)
    _guard(Block(walk.op_with_id(scope, number)), guards)


def _own_loop(plan: _PaddingPlan, number: int, it: Iter) -> Loop | None:
    """The loop that can become shorter with an iter: its whole binding and domain, and used by no other iter."""
    loop = {lp.var: lp for lp in plan.sole}.get(it.binding.is_value())  # type: ignore[arg-type]
    if loop is None or plan.is_whole(number) or loop.is_thread:
        return None
    alone = sum(loop.var in iter_.binding.values for iter_ in plan.block.iters) == 1
    plain = len(loop.lowers) == len(loop.uppers) == 1 and loop.lower.as_constant() == 0
    return loop if alone and plain and it.min.as_constant() == 0 and loop.upper.is_equal_to(it.extent) else None


def _guard(block: Block, conditions: Sequence[Constraint]) -> None:
    """Guard a block by those conditions that its loops do not imply."""
    old = block.where
    anchor = block.op if old is None else old
    dom = sets.domain(anchor, extra=[c.index for c in conditions])
    needed = [c for c in conditions if not sets.holds(dom, c.index, c.is_eq)]
    if old is not None:
        guards.rewrite(block, old, needed)
    elif needed:
        with ir.InsertionPoint(block.op), block.op.location:
            guard = create.where(needed)
        edit.move_before(block.op, list(guard.regions[0].blocks[0].operations)[-1])
