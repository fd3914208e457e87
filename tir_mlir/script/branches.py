"""Choices: `T.if_then_else`, `a if c else b` and the `if` statement, as affine.if where the condition is affine."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mlir import ir
from mlir.dialects import affine, scf

from tir_mlir.dialect import create
from tir_mlir.script import arithmetic
from tir_mlir.script.source import Refused
from tir_mlir.script.values import Const, Expr, Test, Value, mlir_type

if TYPE_CHECKING:
    from tir_mlir.script.expr import Evaluator


def make_if(test: Expr, results: list[ir.Type], has_else: bool) -> ir.Operation:
    """An if op with empty bodies and no terminators: affine.if for an affine condition, else scf.if."""
    constraints = test.constraints() if isinstance(test, Test) else None
    if constraints is not None:
        op = create.guard(constraints, results=results, has_else=has_else)
        if not results:
            return op
        return op
    op = ir.Operation.create("scf.if", results=results, operands=[arithmetic.to_value(test, "bool")], regions=2)
    for region in list(op.regions)[: 2 if has_else else 1]:
        body = region.blocks.append()
        if not results:
            with ir.InsertionPoint(body):
                scf.yield_([])
    return op


def choose(evaluate: Evaluator, test: ast.expr, then: ast.expr, other: ast.expr, node: ast.AST) -> Any:
    """`T.if_then_else(test, then, other)`: only the chosen side is computed. A constant test chooses at once."""
    decided = arithmetic.condition(evaluate(test))
    if isinstance(decided, Const):
        return evaluate(then if decided.value else other)
    with evaluate.state.source.location(node):
        return _choose(decided, lambda: evaluate(then), lambda: evaluate(other))


def _choose(test: Expr, then: Callable[[], Any], other: Callable[[], Any]) -> Value:
    """Both sides are made in a provisional op; once their common type is known they move into the final one."""
    draft = make_if(test, [ir.IndexType.get()], has_else=True)
    sides = []
    for region, make in zip(draft.regions, (then, other), strict=True):
        with ir.InsertionPoint(region.blocks[0]):
            sides.append(arithmetic.need(make()))
    dtype = arithmetic.common(*sides)
    yield_ = affine.yield_ if draft.name == "affine.if" else scf.yield_
    for region, side in zip(draft.regions, sides, strict=True):
        with ir.InsertionPoint(region.blocks[0]):
            yield_([arithmetic.to_value(side, dtype)])
    final = ir.Operation.create(
        draft.name,
        results=[mlir_type(dtype)],
        operands=list(draft.operands),
        attributes={n: draft.attributes[n] for n in draft.attributes},
        regions=2,
    )
    for old, new in zip(draft.regions, final.regions, strict=True):
        old.blocks[0].append_to(new)
    draft.erase()
    return Value(final.results[0], dtype)


def statement(evaluate: Evaluator, node: ast.If, run: Callable[[list[ast.stmt]], None]) -> None:
    """An `if` statement; `run` parses a body. A condition known from Python chooses at parse time."""
    try:
        test = arithmetic.condition(evaluate(node.test))
    except Refused as refused:
        raise evaluate.state.error(node.test, str(refused)) from None
    if isinstance(test, Const):
        run(node.body if test.value else node.orelse)
        return
    with evaluate.state.source.location(node):
        op = make_if(test, [], has_else=bool(node.orelse))
    for region, body in zip(op.regions, (node.body, node.orelse), strict=True):
        if body:
            with create.at_end(region.blocks[0]), evaluate.state.scope.frame():
                run(body)
