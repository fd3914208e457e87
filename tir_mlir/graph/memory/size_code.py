"""Sizes as text ("n + 1"): their value, the ops that compute them, their affine form, their C code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import GraphError

Size = int | str


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def symbols(size: Size) -> list[str]:
    """The names in a size, sorted."""
    if isinstance(size, int):
        return []
    return sorted({node.id for node in ast.walk(_parsed(size)) if isinstance(node, ast.Name)})


def product(sizes: Sequence[Size]) -> Size:
    """The product of sizes: (4, "n", "n + 1") -> "4 * n * (n + 1)"."""
    number = reduce(lambda a, b: a * b, (s for s in sizes if isinstance(s, int)), 1)
    named = [s if s.isidentifier() else f"({s})" for s in sizes if isinstance(s, str)]
    return " * ".join([str(number), *named]) if named and number else number


def value(size: Size, known: Mapping[str, int]) -> int:
    """The number that a size is where the names have these values."""
    if isinstance(size, int):
        return size
    return _fold(_parsed(size), lambda name: known[name], int, _NUMBERS)


def emitted(size: Size, known: Mapping[str, ir.Value]) -> ir.Value:
    """The index value of a size, by ops at the current insertion point."""
    if isinstance(size, int):
        return _index(size)
    return _fold(_parsed(size), lambda name: known[name], _index, _OPS)


def affine(size: Size, names: Sequence[str]) -> ir.AffineExpr | None:
    """A size as an affine expression of symbols in the order of `names`; None if it is not affine."""
    if isinstance(size, int):
        return ir.AffineConstantExpr.get(size)
    found = [None]
    try:
        found = [
            _fold(
                _parsed(size),
                lambda name: ir.AffineSymbolExpr.get(list(names).index(name)),
                ir.AffineConstantExpr.get,
                _AFFINE,
            )
        ]
    except _NotAffineError:
        return None
    return found[0]


def at_least(size: Size, other: Size) -> bool:
    """Whether a size is known to be no smaller than another one, for all values of the names: 4 * n * m and 2 * n * m.

    Of sums of products with factors that are not negative; False where that is not known.
    """
    left, right = _terms(size), _terms(other)
    if left is None or right is None:
        return size == other
    return all(left.get(factors, 0) >= number for factors, number in right.items())


def _terms(size: Size) -> dict[tuple[str, ...], int] | None:
    """A size as a sum of products: {("m", "n"): 4, (): 1} of 4 * m * n + 1; None if it is none."""
    if isinstance(size, int):
        return {(): size}
    try:
        found = _fold(_parsed(size), lambda name: {(name,): 1}, lambda number: {(): number}, _TERMS)
    except _NotAffineError:
        return None
    return found if all(number >= 0 for number in found.values()) else None


def c_code(size: Size) -> str:
    """A size as a C expression of int64_t variables with its names; sizes are not negative."""
    return str(size) if isinstance(size, int) else _fold(_parsed(size), str, str, _C)


def js_code(size: Size) -> str:
    """A size as an expression of JavaScript: numbers of an object `n` with its names."""
    return str(size) if isinstance(size, int) else _fold(_parsed(size), lambda name: f'n["{name}"]', str, _JS)


def _index(number: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), number)


def _fold(node: ast.AST, name: Callable[[str], Any], number: Callable[[int], Any], by: Mapping[type, Any]) -> Any:
    if isinstance(node, ast.Name):
        return name(node.id)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return number(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return by[ast.Sub](number(0), _fold(node.operand, name, number, by))
    if isinstance(node, ast.BinOp) and type(node.op) in by:
        return by[type(node.op)](_fold(node.left, name, number, by), _fold(node.right, name, number, by))
    raise GraphError(f"a size is a number, a name, or sums, products and quotients of them, not {ast.unparse(node)}")


class _NotAffineError(Exception):
    pass


def _is_constant(expr: ir.AffineExpr) -> bool:
    return isinstance(expr, ir.AffineConstantExpr)


def _affine_product(a: Any, b: Any) -> Any:
    if not (_is_constant(a) or _is_constant(b)):
        raise _NotAffineError
    return a * b


def _affine_quotient(get: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def made(a: Any, b: Any) -> Any:
        if not _is_constant(b):
            raise _NotAffineError
        return get(a, b)

    return made


_NUMBERS: dict[type, Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_OPS: dict[type, Any] = {
    ast.Add: arith.addi,
    ast.Sub: arith.subi,
    ast.Mult: arith.muli,
    ast.FloorDiv: arith.floordivsi,
    ast.Mod: arith.remsi,
}
_AFFINE: dict[type, Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a + b * -1,
    ast.Mult: _affine_product,
    ast.FloorDiv: _affine_quotient(lambda a, b: ir.AffineExpr.get_floor_div(a, b)),
    ast.Mod: _affine_quotient(lambda a, b: ir.AffineExpr.get_mod(a, b)),
}


def _sum(a: dict[Any, int], b: dict[Any, int], sign: int = 1) -> dict[Any, int]:
    return {k: a.get(k, 0) + sign * b.get(k, 0) for k in {**a, **b}}


def _product(a: dict[Any, int], b: dict[Any, int]) -> dict[Any, int]:
    found: dict[Any, int] = {}
    for one, x in a.items():
        for other, y in b.items():
            key = tuple(sorted((*one, *other)))
            found[key] = found.get(key, 0) + x * y
    return found


def _no_terms(a: Any, b: Any) -> Any:
    raise _NotAffineError


_TERMS: dict[type, Any] = {
    ast.Add: _sum,
    ast.Sub: lambda a, b: _sum(a, b, -1),
    ast.Mult: _product,
    ast.FloorDiv: _no_terms,
    ast.Mod: _no_terms,
}
_C: dict[type, Callable[[str, str], str]] = {
    ast.Add: lambda a, b: f"({a} + {b})",
    ast.Sub: lambda a, b: f"({a} - {b})",
    ast.Mult: lambda a, b: f"({a} * {b})",
    ast.FloorDiv: lambda a, b: f"({a} / {b})",
    ast.Mod: lambda a, b: f"({a} % {b})",
}
_JS = {**_C, ast.FloorDiv: lambda a, b: f"Math.floor({a} / {b})"}
