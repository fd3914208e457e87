"""Integer expressions from Python source (parsed, never executed), as affine expressions of MLIR, and back."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, NotAffine, short_repr
from tir_mlir.dialect.symbolic.expression import Constant, IntExpr, Operation, Sampled, Symbol, operation, plus

T = TypeVar("T")


def to_affine(expr: IntExpr, leaf: Callable[[IntExpr], ir.AffineExpr]) -> ir.AffineExpr:
    """The affine form, `leaf` of variables and sampled integers. Errors: NotAffine."""
    if isinstance(expr, Constant):
        if isinstance(expr.value, float):
            raise NotAffine(f"{expr.value} is not an index: indices are integers")
        if not -(2**63) <= expr.value < 2**63:
            raise NotAffine(f"{expr.value} does not fit an index (64 bits)")
        return ir.AffineExpr.get_constant(expr.value)
    if not isinstance(expr, Operation):
        return leaf(expr)
    if is_by_variable(expr):
        raise NotAffine(f"{expr}: a product with a size, or a division by one, is not affine")
    lhs, rhs = to_affine(expr.left, leaf), to_affine(expr.right, leaf)
    if expr.symbol == "//":
        return ir.AffineExpr.get_floor_div(lhs, rhs)
    if expr.symbol == "%":
        return ir.AffineExpr.get_mod(lhs, rhs)
    return lhs * rhs if expr.symbol == "*" else lhs + rhs if expr.symbol == "+" else lhs + rhs * -1


def is_by_variable(expr: Operation) -> bool:
    """Whether an operation is a product of two variables, or divides by one: it is not affine."""
    if expr.symbol == "*":
        return not isinstance(expr.left, Constant | Sampled) and not isinstance(expr.right, Constant | Sampled)
    return expr.symbol in ("//", "%") and not isinstance(expr.right, Constant | Sampled)


def fold_affine(expr: ir.AffineExpr, leaf: Callable[[Any], T], apply: Callable[[str, T, T], T]) -> T:
    """The result of `apply` on each operation, from those of its operands: `leaf` of constants, dimensions and symbols.

    A quotient that is rounded up is one that is rounded down: (x + (y - 1)) // y.
    """
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return leaf(expr)
    lhs, rhs = fold_affine(expr.lhs, leaf, apply), fold_affine(expr.rhs, leaf, apply)
    if isinstance(expr, ir.AffineCeilDivExpr):
        return apply("//", apply("+", lhs, fold_affine(expr.rhs - 1, leaf, apply)), rhs)
    return apply(_SYMBOLS[type(expr)], lhs, rhs)


_SYMBOLS = {ir.AffineAddExpr: "+", ir.AffineMulExpr: "*", ir.AffineFloorDivExpr: "//", ir.AffineModExpr: "%"}


def from_affine(expr: ir.AffineExpr, dims: Sequence[IntExpr], symbols: Sequence[IntExpr] = ()) -> IntExpr:
    """The expression of an affine one."""

    def leaf(part: Any) -> IntExpr:
        if isinstance(part, ir.AffineConstantExpr):
            return Constant(part.value)
        return (dims if isinstance(part, ir.AffineDimExpr) else symbols)[part.position]

    return fold_affine(expr, leaf, lambda symbol, a, b: plus(a, b) if symbol == "+" else operation(symbol, a, b))


OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}


def from_ast(node: ast.expr, name: Callable[[str], IntExpr], other: Callable[[ast.expr], IntExpr]) -> IntExpr:
    """The expression of a node: `name` makes the leaf of a name, `other` that of a node which is not an integer
    expression, or refuses it.
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
    return Constant(size) if isinstance(size, int) else _parse_size(size)


def size_of(expr: IntExpr) -> int | str:
    """An expression as a size: a number, or text."""
    return int(expr.value) if isinstance(expr, Constant) else str(expr)


@lru_cache(maxsize=1 << 12)
def _parse_size(text: str) -> IntExpr:
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
