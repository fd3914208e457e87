"""Sizes of shapes: numbers and expressions of size variables, compared and simplified as polynomials."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tir_mlir import te

Size = Any  # an int or a te.Expr of size variables

_Monomial = tuple[str, ...]


class _Polynomial:
    """A sum of products of atoms: size variables, and quotients that do not simplify. `atoms`: their expressions."""

    def __init__(self, terms: dict[_Monomial, int], atoms: dict[str, te.Expr]):
        self.terms = {m: c for m, c in terms.items() if c}
        self.atoms = atoms

    def plus(self, other: _Polynomial, sign: int = 1) -> _Polynomial:
        terms = Counter(self.terms)
        for monomial, factor in other.terms.items():
            terms[monomial] += sign * factor
        return _Polynomial(terms, self.atoms | other.atoms)

    def times(self, other: _Polynomial) -> _Polynomial:
        terms: Counter[_Monomial] = Counter()
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                terms[tuple(sorted(a + b))] += x * y
        return _Polynomial(terms, self.atoms | other.atoms)

    def constant(self) -> int | None:
        """The number, if it is one."""
        return self.terms.get((), 0) if set(self.terms) <= {()} else None

    def size(self) -> Size:
        """As a number or an expression, in a fixed order."""
        if (number := self.constant()) is not None:
            return number
        result: Any = None
        for monomial, factor in sorted(self.terms.items(), key=lambda t: (t[1] < 0, -len(t[0]), t[0])):
            atoms = [self.atoms[key] for key in monomial]
            if result is None:
                result = _product([factor, *atoms] if factor != 1 else atoms)
                continue
            term = _product([abs(factor), *atoms] if abs(factor) != 1 or not atoms else atoms)
            result = result + term if factor > 0 else result - term
        return result


def _product(factors: Sequence[Any]) -> Any:
    result = factors[0]
    for factor in factors[1:]:
        result = factor * result if isinstance(result, int) else result * factor
    return result


def _of(size: Size) -> _Polynomial:
    if not isinstance(size, te.Expr):
        return _Polynomial({(): int(size)}, {})
    return _of_node(size.node, size)


def _of_node(node: ast.expr, whole: te.Expr) -> _Polynomial:
    part = te.Expr(node, whole.leaves)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return _Polynomial({(): node.value}, {})
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _Polynomial({}, {}).plus(_of_node(node.operand, whole), -1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)):
        left, right = _of_node(node.left, whole), _of_node(node.right, whole)
        if isinstance(node.op, ast.Mult):
            return left.times(right)
        if isinstance(node.op, ast.FloorDiv):
            return _quotient(left, right, part)
        return left.plus(right, 1 if isinstance(node.op, ast.Add) else -1)
    key = node.id if isinstance(node, ast.Name) else ast.dump(node)
    return _Polynomial({(key,): 1}, {key: part})


def _quotient(top: _Polynomial, bottom: _Polynomial, part: te.Expr | None) -> _Polynomial:
    """floor(top / bottom): terms that divide by a number leave the floor."""
    by = bottom.constant()
    if not by or by < 0:
        key = ast.dump(part.node) if part is not None else ""
        return _Polynomial({(key,): 1}, {key: part})  # type: ignore[dict-item]
    whole = {m: c // by for m, c in top.terms.items() if c % by == 0 or not m}
    rest = {m: c for m, c in top.terms.items() if c % by and m}
    if () in top.terms and rest:
        rest[()] = top.terms[()] % by
    outside = _Polynomial(whole, top.atoms)
    if not rest:
        return outside
    inner: Any = _Polynomial(rest, top.atoms).size() // by
    key = ast.dump(inner.node)
    return outside.plus(_Polynomial({(key,): 1}, {key: inner}))


def simple(size: Size) -> Size:
    """A size simplified: `n + 2 - 2` -> `n`; a number if it is one."""
    return _of(size).size()


def same(a: Size, b: Size) -> bool:
    """Whether two sizes are equal for all values of their variables."""
    return not _of(a).plus(_of(b), -1).terms


def is_one(size: Size) -> bool:
    """Whether a size is 1."""
    return isinstance(size, int) and size == 1


def total(shape: Sequence[Size]) -> Size:
    """The number of elements of a shape."""
    result = _Polynomial({(): 1}, {})
    for size in shape:
        result = result.times(_of(size))
    return result.size()


def floor_quotient(top: Size, by: int) -> Size:
    """floor(top / by) for a positive number."""
    return _quotient(_of(top), _of(by), None).size()


def exact_quotient(shape: Sequence[Size], others: Sequence[Size]) -> Size | None:
    """q with q * product(others) = product(shape), None if there is none for all values: factors that occur in both
    cancel, the rest of `others` is a product of numbers and variables."""
    left, right = [_of(s) for s in shape], [_of(s) for s in others]
    for divisor in list(right):
        match = next((x for x in left if len(divisor.terms) > 1 and not x.plus(divisor, -1).terms), None)
        if match is not None:
            left.remove(match)
            right.remove(divisor)
    top, bottom = _Polynomial({(): 1}, {}), _Polynomial({(): 1}, {})
    for x in left:
        top = top.times(x)
    for x in right:
        bottom = bottom.times(x)
    if len(bottom.terms) != 1:
        return None
    ((monomial, factor),) = bottom.terms.items()
    terms = {}
    for m, c in top.terms.items():
        rest = Counter(m)
        rest.subtract(monomial)
        if c % factor or min(rest.values(), default=0) < 0:
            return None
        terms[tuple(sorted(rest.elements()))] = c // factor
    return _Polynomial(terms, top.atoms).size()


def shown(shape: Sequence[Size]) -> str:
    """A shape as text: `(n, 64)`."""
    inside = ", ".join(str(s) for s in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def ceil_quotient(top: Size, by: int) -> Size:
    """ceil(top / by) for a positive number."""
    return floor_quotient(simple(top + (by - 1)), by)


def number(size: Size) -> int | None:
    """The number, if the size is one."""
    value = simple(size)
    return value if isinstance(value, int) else None
