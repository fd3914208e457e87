"""The predicate of a block (`T.where`), and its iters bound to values that are not affine: what stands around it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis.indirect_accesses import affine_value
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Constraint, Index, IterSpec, create
from tir_mlir.dialect.presburger import domain, either, holds, intervals, question
from tir_mlir.script.parser import arithmetic
from tir_mlir.script.parser.expressions import Evaluator
from tir_mlir.script.parser.items import AffineCondition, Const, Value
from tir_mlir.script.parser.source import ParseError


@dataclass
class Predicate:
    """A conjunction: affine conditions of the loops, and computed bools."""

    affine: list[Constraint] = field(default_factory=list)
    tests: list[ir.Value] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.affine or self.tests)


def place_of(
    predicate: Predicate, specs: Sequence[IterSpec], prior: Sequence[Any], places: Sequence[ir.Location]
) -> tuple[ir.InsertionPoint, list[IterSpec]]:
    """The place of a block, and its iters, bound to affine expressions.

    An affine predicate is an `affine.if`, a computed one an `scf.if`, a computed binding a search of its domain (see
    `create.bound_value`). If the ops that compute others (those not in `prior`) must not run where the affine one does
    not hold, as they load or divide, it is an `if` around these. `places`: where the iters are declared.
    """
    guard, point = predicate.affine, ir.InsertionPoint.current
    values = [arithmetic.index_of(s.binding) if isinstance(s.binding, Value) else None for s in specs]
    if guard and (predicate.tests or any(v is not None for v in values)):
        computed = [op.operation for op in point.block.operations if op not in prior and len(op.results)]
        if not all(map(_runs_anywhere, computed)):
            outer = create.guard(guard).regions[0].blocks[0]
            for op in computed:
                op.move_before(list(outer.operations)[-1])
            guard, point = [], create.at_end(outer)
    with point:
        test = _all(predicate.tests) if predicate.tests else None
    bound_iters = []
    for spec, value, location in zip(specs, values, places, strict=True):
        if value is not None:
            with point, location:
                loop, body = create.bound_value(spec.name, spec.min, spec.extent, value)
            spec, point = replace(spec, binding=Index.of(loop.var)), create.at_end(body)
        bound_iters.append(spec)
    with point:
        if test is not None:
            point = create.at_end(create.data_where(test).regions[0].blocks[0])
    with point:
        if guard:
            point = create.at_end(create.where(guard).regions[0].blocks[0])
    return point, bound_iters


def _runs_anywhere(op: ir.Operation) -> bool:
    """Whether an op may run where a guard does not hold: arithmetic that divides by nothing that may be 0."""
    if not op.name.startswith("arith.") or op.name == "arith.floordivsi":
        return op.name == "affine.apply" or (op.name == "arith.floordivsi" and _divides_by_size(op))
    return "div" not in op.name and "rem" not in op.name


def _divides_by_size(op: ir.Operation) -> bool:
    """Whether the divisor is at least 1 in all iterations of the loops around, as `m` is in `range(n * m)`."""
    divisor = affine_value(op.operands[1], op)
    try:
        with question("whether a divisor may be 0"):
            return divisor is not None and holds(domain(op, extra=[divisor]), divisor - 1)
    except NotProvable:
        return False


def _all(tests: Sequence[ir.Value]) -> ir.Value:
    conjunction = tests[0]
    for test in tests[1:]:
        conjunction = arith.andi(conjunction, test)
    return conjunction


def predicate_of(evaluate: Evaluator, calls: Sequence[ast.Call], specs: Sequence[IterSpec]) -> Predicate:
    """The conjunction of all T.where of a block; iters are replaced by their bindings."""
    predicate = Predicate()
    with evaluate.state.scope.frame():
        for call in calls:
            for spec in specs:
                evaluate.state.scope.define(spec.name, spec.binding, call, "value")
            if len(call.args) != 1:
                raise evaluate.state.error(call, "T.where takes one condition; join several with `and`")
            for part in _conjuncts(call.args[0]):
                try:
                    condition = _condition(evaluate, call, part)
                except ParseError as refused:
                    raise evaluate.state.error(call, str(refused)) from None
                if isinstance(condition, ir.Value):
                    predicate.tests.append(condition)
                else:
                    predicate.affine += condition
    return predicate


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    """`a and (b or c)` -> a, `b or c`."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [part for value in node.values for part in _conjuncts(value)]
    return [node]


def _condition(evaluate: Evaluator, call: ast.Call, node: ast.expr) -> list[Constraint] | ir.Value:
    """A conjunct of T.where: an affine comparison, or the disjunction of two; anything else as a computed bool."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        sides = [evaluate(value) for value in node.values]
        parts = [_constraints(side) for side in sides]
        if [len(part or ()) for part in parts] == [1, 1]:
            box = intervals.within(ir.InsertionPoint.current.block.owner.operation)
            first, second = (p for part in parts for p in part or ())
            if (both := either(first, second, box)) is not None:
                return [both]
        test = arithmetic.logical("or", *sides)
    else:
        test = arithmetic.condition(evaluate(node))
    if test == Const(True):
        return []
    affine = _constraints(test)
    if affine is not None:
        return affine
    with evaluate.state.source.location(call):
        return arithmetic.to_value(test, "bool")


def _constraints(item: Any) -> list[Constraint] | None:
    """The affine constraints that a condition is the conjunction of, if it is one."""
    return item.constraints() if isinstance(item, AffineCondition) else None
