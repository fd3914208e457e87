"""Integer expressions from Python source. It is parsed, never executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NoReturn

from tir_mlir.dialect.diagnostics import GraphError, NotAffine, short_repr
from tir_mlir.dialect.symbolic.expression import Constant, IntExpr, Symbol, operation

OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}


def from_ast(node: ast.expr, name: Callable[[str], Any], other: Callable[[ast.expr], Any]) -> Any:
    """The expression of a node: `name` makes the leaf of a name, `other` that of a node which is no integer expression,
    or refuses it.
    """
    if isinstance(node, ast.Name):
        return name(node.id)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Constant(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = from_ast(node.operand, name, other)
        if isinstance(node.op, ast.UAdd):
            return inner
        return Constant(-inner.value) if isinstance(inner, Constant) else operation("*", inner, -1)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        sides = from_ast(node.left, name, other), from_ast(node.right, name, other)
        return operation(OPERATORS[type(node.op)], *sides)
    return other(node)


def parse(size: int | str) -> IntExpr:
    """A size, a number or text, as an expression of symbols: "n + 1". Errors: GraphError."""
    return Constant(size) if isinstance(size, int) else _parsed(size)


def size_of(expr: IntExpr) -> int | str:
    """An expression as a size: a number, or text."""
    return int(expr.value) if isinstance(expr, Constant) else str(expr)


@lru_cache(maxsize=1 << 12)
def _parsed(text: str) -> IntExpr:
    def refuse(_: ast.expr | None) -> IntExpr:
        raise GraphError(f"a size is a number, a name, or sums and products of them, not {short_repr(text)}")

    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # MemoryError: nested too deeply
        return refuse(None)
    return from_ast(node, Symbol, refuse)


def parse_formula(text: str, handles: Mapping[str, Any]) -> Any:
    """`v3 * (v4 + 1)` -> a formula; `b0` -> the handle; `4` -> 4. Errors: ValueError; KeyError for an unknown name."""

    def refuse(_: ast.expr | None) -> NoReturn:
        raise ValueError("a formula consists of sampled integers, numbers, + - * // % and parentheses")

    try:
        formula = from_ast(ast.parse(text.strip(), mode="eval").body, handles.__getitem__, refuse)
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError(f"{text!r} is not a formula") from None
    except NotAffine:  # of the handle of a block
        refuse(None)
    return formula.value if isinstance(formula, Constant) else formula
