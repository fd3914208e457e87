"""Replace loop variables by values that are not affine: quotients by sizes, products with sizes.

for i in range(n): for j in range(m):                   for f in range(n * m):
    with T.block("B"):                                      with T.block("B"):
        vi = T.axis.spatial(n, i)               ->              vi = T.axis.spatial(n, f // m)
        vj = T.axis.spatial(m, j)                               vj = T.axis.spatial(m, f % m)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import (
    Block,
    Constraint,
    Index,
    blocks_below,
    create,
    edit,
    is_data_where,
    is_where,
    outermost_with_searches,
    read_apply,
    walk,
)
from tir_mlir.dialect.ir.op_views import AffineParallelOp, ApplyOp, ScfIfOp, isa
from tir_mlir.dialect.presburger import guards, linear_terms
from tir_mlir.passes.schedule.edits.index_values import emit_index
from tir_mlir.passes.schedule.registry import refuse

Makers = Mapping[ir.Value, Callable[[], ir.Value]]
"""For each variable, what emits its value at the insertion point."""


def check_computable(variables: Sequence[ir.Value], why: str) -> None:
    """Refuse unless variables are used only where a value that is not affine may stand: in bindings, in the guards of
    blocks and in computations. `why`: why it is not affine.
    """
    for variable in variables:
        for use in variable.uses:
            user = use.owner.operation
            if not (
                isa(user, ApplyOp) or isa(user, AffineParallelOp) or is_where(user) or user.name.startswith("arith.")
            ):
                name = walk.enclosing_loop_name(variable)
                what = {"affine.for": "the bound of a loop", "affine.if": "an `if`"}.get(user.name, "an index")
                fix = "in the program, put what depends on it into the body of a block"
                refuse(user, f"{what} uses loop {name}, and would not be affine any more: {why}", fix=fix)


def replace_by_computed(root: ir.Operation, makers: Makers, limits: Mapping[ir.Value, Index]) -> None:
    """Replace variables under `root` by computed values, and guard every outermost block by `variable < limit`.

    Requires what `check_computable` checks.
    """
    guarded = {b.id for b in blocks_below(root)} if limits else set()
    for block_id in [b.id for b in walk.all_blocks(root)]:
        _bind(walk.op_with_id(root, block_id), makers, limits if block_id in guarded else {})
    for variable, make in makers.items():
        for user in list(dict.fromkeys(use.owner.operation for use in variable.uses)):
            _replace(user, variable, make)


def _bind(op: ir.Operation, makers: Makers, limits: Mapping[ir.Value, Index]) -> None:
    """Rewrite the bindings and the guard of one block."""
    block = Block(op)
    guard = block.where
    conditions = walk.constraints(guard) if guard is not None else []
    moved = [c for c in conditions if any(v in makers for v in c.index.values)]
    bound = {n: b for n, b in enumerate(block.bindings) if any(v in makers for v in b.values)}
    if not moved and not bound and not limits:
        return
    top = outermost_with_searches(block)
    with ir.InsertionPoint(top), op.location:
        emitter = _VariableValues(makers)
        values = {n: emitter.expression_value(index) for n, index in bound.items()}
        tests = [emitter.test(c) for c in moved]
        tests += [arith.cmpi(arith.CmpIPredicate.slt, emitter.value(v), create.apply(n)) for v, n in limits.items()]
    if moved:
        guards.rewrite(block, guard, [c for c in conditions if c not in moved])  # type: ignore[arg-type]
        block = Block(op)
    for test in tests:
        _guard(block, test)
    if bound:
        _search(block, values)


class _VariableValues:
    """The values of variables at one position, each emitted once."""

    def __init__(self, makers: Makers):
        self.makers = makers
        self.made: dict[ir.Value, Index] = {}

    def value(self, variable: ir.Value) -> ir.Value:
        if variable not in self.made:
            self.made[variable] = Index.from_value(self.makers[variable]())
        return self.made[variable].values[0]

    def expression_value(self, index: Index) -> ir.Value:
        """The value of an expression over the variables."""
        for variable in index.values:
            if variable in self.makers:
                self.value(variable)
        return emit_index(index.substitute(self.made))

    def test(self, condition: Constraint) -> ir.Value:
        """The value of a condition, negative terms on its right side."""
        terms, constant = linear_terms(condition.index.expr)
        sides = [Index.constant(0), Index.constant(0)]
        for term, factor in terms.items():
            sides[factor > 0] += Index(term, condition.index.values).drop_unused_values() * abs(factor)
        strict = constant < 0 and not condition.is_eq
        bound = constant + strict
        sides[bound > 0] += abs(bound)
        kinds = arith.CmpIPredicate
        kind = kinds.eq if condition.is_eq else kinds.slt if strict else kinds.sle
        return arith.cmpi(kind, *(self.expression_value(side.simplify()) for side in sides))


def _guard(block: Block, test: ir.Value) -> None:
    """Guard a block by a computed condition, in addition to those that it has."""
    outer = block.guarded_op
    if is_data_where(outer):
        with ir.InsertionPoint(outermost_with_searches(block)), outer.location:
            edit.set_operand(outer, 0, arith.andi(ScfIfOp(outer).condition, test))
        return
    with ir.InsertionPoint(outer), block.op.location:
        guard = create.data_where(test)
    edit.move_before(outer, list(guard.regions[0].blocks[0].operations)[-1])


def _search(block: Block, values: Mapping[int, ir.Value]) -> None:
    """Bind iters to values (see `create.bound_value`)."""
    bindings, iters, top = list(block.bindings), block.iters, outermost_with_searches(block)
    ip, loops, body = ir.InsertionPoint(top), {}, None
    for number, value in values.items():
        it = iters[number]
        with ip, block.op.location:
            loop, body = create.bound_value(it.name, it.min, it.extent, value)
        loops[number] = loop
        ip = create.at_end(body)
    edit.move_before(top, list(body.operations)[-1])  # type: ignore[union-attr]
    edit.rebind(block.op, [Index.from_value(loops[n].var) if n in loops else b for n, b in enumerate(bindings)])


def _replace(user: ir.Operation, variable: ir.Value, make: Callable[[], ir.Value]) -> None:
    with ir.InsertionPoint(user), user.location:
        value = make()
        if isa(user, ApplyOp):
            value = emit_index(read_apply(user.results[0]).substitute({variable: Index.from_value(value)}))
    if isa(user, ApplyOp):
        edit.replace_uses(user.results[0], value)
        edit.drop(user)
        return
    for number, operand in enumerate(list(user.operands)):
        if operand == variable:
            edit.set_operand(user, number, value)
