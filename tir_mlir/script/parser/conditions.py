"""Statements and expressions of which one side runs: `if`, and `T.if_then_else`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import affine, scf

from tir_mlir.dialect.ir import create, dtypes
from tir_mlir.dialect.ir.op_views import AffineIfOp, isa
from tir_mlir.script.parser import arithmetic
from tir_mlir.script.parser.items import AffineCondition, Const, Expr, ScriptValue, mlir_type
from tir_mlir.script.parser.source import ParseError

if TYPE_CHECKING:
    from tir_mlir.script.parser.expressions import Evaluator


def make_if(test: Expr, results: list[ir.Type], has_else: bool) -> ir.Operation:
    """Create an if op with empty bodies: affine.if for an affine condition, else scf.if."""
    constraints = test.constraints() if isinstance(test, AffineCondition) else None
    if constraints is not None:
        op = create.guard(constraints, results=results, has_else=has_else)
        return op
    op = ir.Operation.create("scf.if", results=results, operands=[arithmetic.to_value(test, "bool")], regions=2)
    for region in list(op.regions)[: 2 if has_else else 1]:
        body = region.blocks.append()
        if not results:
            with ir.InsertionPoint(body):
                scf.yield_([])
    return op


def conditional(evaluate: Evaluator, test: ast.expr, then: ast.expr, otherwise: ast.expr, node: ast.AST) -> object:
    """`T.if_then_else(test, then, other)`: only the chosen side is evaluated. A constant test folds."""
    decided = arithmetic.condition(evaluate(test))
    if isinstance(decided, Const):
        return evaluate(then if decided.value else otherwise)
    with evaluate.state.source.location(node):
        return _choose(decided, lambda: evaluate(then), lambda: evaluate(otherwise))


def _choose(test: Expr, then: Callable[[], object], otherwise: Callable[[], object]) -> ScriptValue:
    """Build both sides in a provisional op; its result type is known only after both, so they move to a final op."""
    draft = make_if(test, [ir.IndexType.get()], has_else=True)
    sides = []
    for region, make in zip(draft.regions, (then, otherwise), strict=True):
        with ir.InsertionPoint(region.blocks[0]):
            sides.append(arithmetic.as_expr(make()))
    dtype = arithmetic.common_dtype(*sides)
    if dtypes.lanes(dtype) > 1:
        raise ParseError(f"a choice of one side has a scalar, not a value of type {dtype}; T.Select chooses lanes")
    yield_ = affine.yield_ if isa(draft, AffineIfOp) else scf.yield_
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
    return arithmetic.make_value(final.results[0], dtype)


def parse_if(evaluate: Evaluator, node: ast.If, run: Callable[[list[ast.stmt]], None]) -> None:
    """Parse an `if` statement; `run` parses a body. A constant condition selects a branch at parse time."""
    try:
        test = arithmetic.condition(evaluate(node.test))
    except ParseError as refused:
        raise evaluate.state.error(node.test, str(refused)) from None
    if isinstance(test, Const):
        run(node.body if test.value else node.orelse)
        return
    with evaluate.state.source.location(node):
        op = make_if(test, [], has_else=bool(node.orelse))
    with evaluate.state.nest("an if") as both:
        for region, body in zip(op.regions, (node.body, node.orelse), strict=True):
            if body:
                with create.at_end(region.blocks[0]), evaluate.state.scope.frame() as branch:
                    run(body)
                both.bound |= branch.bound
