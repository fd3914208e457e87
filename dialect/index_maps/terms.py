"""The results of index maps: integer expressions of variables and sizes that are affine, or are by sizes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect import symbolic
from tir_mlir.dialect.diagnostics import IndexMapError, NotAffine
from tir_mlir.dialect.symbolic import (
    Constant,
    Dim,
    Formula,
    IntExpr,
    Operation,
    Sampled,
    Symbol,
    Variable,
    is_by_variable,
    leaves,
    text,
)

_MAX_OPERATIONS = 250  # operations in a term: terms are processed recursively


class SizeVariable(Symbol):
    """A size of the program in a lambda, as a Python object: `n = T.int32()`. An unnamed one is called as the Python
    variable that holds it."""

    __eq__ = object.__eq__  # type: ignore[assignment]
    __hash__ = object.__hash__


def check_term(term: IntExpr) -> IntExpr:
    """The term, if it is an index. Errors: NotAffine for a product of variables, or a divisor that is none."""
    if isinstance(term, Constant):
        if isinstance(term.value, int) and not -(2**63) <= term.value < 2**63:
            raise NotAffine(f"{term.value} does not fit an index (64 bits)")
        if term.value != term.value:
            raise NotAffine("nan cannot be part of an index map; a padding value is a number or infinity")
    elif isinstance(term, Operation) and not isinstance(term, Formula):
        if term.count > _MAX_OPERATIONS:
            raise NotAffine(f"an index map with more than {_MAX_OPERATIONS} operations in one term")
        _check_operation(term.symbol, check_term(term.left), check_term(term.right), term)
    return term


def _check_operation(symbol: str, left: IntExpr, right: IntExpr, term: Operation) -> None:
    if symbol == "*":
        if is_by_variable(term) and not (_is_of_sizes(left) or _is_of_sizes(right)):
            raise NotAffine(f"{term}: a product of two variables is not affine; one factor must be a constant")
    elif symbol in symbolic.DIVISIONS and not isinstance(right, Sampled) and not _is_of_sizes(right):
        what = "divisor of a division" if symbol == "//" else "divisor of a remainder"
        if not isinstance(right, Constant):
            raise NotAffine(f"{term}: the {what} must be a constant, or made of sizes")
        if right.value <= 0:
            raise NotAffine(f"{term}: the {what} must be positive")


def _is_of_sizes(term: IntExpr) -> bool:
    """Whether a term has a size in it, and no variable."""
    parts = list(leaves(term))
    return any(isinstance(p, Symbol) for p in parts) and not any(isinstance(p, Dim) for p in parts)


def by_sizes(term: IntExpr) -> bool:
    """Whether a term multiplies by a size, or divides by one: it is not affine."""
    return isinstance(term, Operation) and (is_by_variable(term) or by_sizes(term.left) or by_sizes(term.right))


def sampled_in(term: IntExpr) -> list[Sampled]:
    """The sampled integers of a term, and the formulas of them."""
    if isinstance(term, Operation) and not isinstance(term, Formula):
        return [*sampled_in(term.left), *sampled_in(term.right)]
    return [term] if isinstance(term, Sampled) else []


def text_of(term: IntExpr, text_of_handle: Callable[[Any], str]) -> str:
    """The term as Python source, sampled integers called by `text_of_handle`."""

    def sampled_text(part: IntExpr) -> str | None:
        if isinstance(part, Formula):
            return f"({part.text(text_of_handle)})"
        return text_of_handle(part) if isinstance(part, Sampled) else None

    return text(term, sampled_text)


def map_leaves(term: IntExpr, change: Callable[[Any], object]) -> IntExpr:
    """The term with its leaves, and its formulas of sampled integers, changed."""
    if isinstance(term, Operation) and not isinstance(term, Formula):
        return symbolic.operation(term.symbol, map_leaves(term.left, change), map_leaves(term.right, change))
    return symbolic.as_expr(change(term))


def evaluate(term: IntExpr, values: Mapping[str, Any]) -> Any:
    """The value of a term; values may be integers, terms, index expressions or NumPy arrays."""
    if sampled := sampled_in(term):
        raise IndexMapError(f"{sampled[0]} has no value here: it is a sampled integer of a schedule")
    if missing := [n for leaf in leaves(term) if isinstance(leaf, Variable) and (n := leaf.name) not in values]:
        raise IndexMapError(f"{missing[0]} has no value here: it is not a variable of the map")
    result = symbolic.evaluate(term, values.__getitem__)
    return check_term(result) if isinstance(result, IntExpr) else result


def from_ast(
    node: ast.expr, names: set[str], handles: Mapping[str, object] | None = None, with_sizes: bool = False
) -> IntExpr:
    """The term of a parsed Python expression. Nothing is executed.

    `names`: the variables. `handles`: sampled integers by name. `with_sizes`: whether any other name is a size.
    """

    def leaf(name: str) -> IntExpr:
        if name in names:
            return Dim(name)
        if handles and name in handles:
            return symbolic.as_expr(handles[name])
        if with_sizes:
            return Symbol(name)
        raise IndexMapError(f"{name} is not a variable of the map; it has {', '.join(sorted(names)) or 'none'}")

    def parse_float(node: ast.expr) -> IntExpr:
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            return Constant(node.value)
        raise IndexMapError(
            f"{ast.unparse(node)} cannot be part of an index map; it has variables, integers, +, -, *, // and %"
        )

    return check_term(symbolic.from_ast(node, leaf, parse_float))


def to_affine(term: IntExpr, names: Sequence[str]) -> ir.AffineExpr:
    """The term with the variable `names[d]` as dimension d."""

    def leaf(part: Any) -> ir.AffineExpr:
        if isinstance(part, Sampled):
            raise IndexMapError(f"{part}: a sampled integer has a value only in a step of its schedule")
        if part.name not in names:
            listed = ", ".join(names) or "none"
            raise IndexMapError(f"{part.name} is neither a variable of the map nor a size of the program: {listed}")
        return ir.AffineExpr.get_dim(names.index(part.name))

    return symbolic.to_affine(term, leaf)


def from_affine(expr: ir.AffineExpr, names: Sequence[str]) -> IntExpr:
    """The term of an MLIR expression, dimension d named `names[d]`."""
    return symbolic.from_affine(expr, [Dim(name) for name in names])
