"""The normal form of integer expressions, sums of products, and what it decides: equality, order, exact quotients, and
which operators of C and JavaScript divide as they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce
from math import gcd

from tir_mlir.dialect.symbolic.affine import parse
from tir_mlir.dialect.symbolic.expression import DIVISIONS, Constant, IntExpr, Operation, Symbol, as_expr, operation

Monomial = tuple[IntExpr, ...]
"""The sorted factors of a product: variables, and quotients and remainders that do not simplify."""


class Polynomial:
    """A sum of products: `terms` are their factors and coefficients, none of which is 0. Immutable."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, int]):
        self.terms = {factors: number for factors, number in terms.items() if number}

    @staticmethod
    def from_expr(expr: IntExpr | int) -> Polynomial:
        """The normal form of an expression."""
        return polynomial(as_expr(expr))

    def __add__(self, rhs: Polynomial, sign: int = 1) -> Polynomial:
        terms = dict(self.terms)
        for factors, number in rhs.terms.items():
            terms[factors] = terms.get(factors, 0) + sign * number
        return Polynomial(terms)

    def __sub__(self, rhs: Polynomial) -> Polynomial:
        return self.__add__(rhs, -1)

    def __mul__(self, rhs: Polynomial) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for a, x in self.terms.items():
            for b, y in rhs.terms.items():
                factors = tuple(sorted(a + b, key=_order)) if a and b else a or b
                terms[factors] = terms.get(factors, 0) + x * y
        return Polynomial(terms)

    def __eq__(self, rhs: object) -> bool:
        return isinstance(rhs, Polynomial) and self.terms == rhs.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __repr__(self) -> str:
        return f"Polynomial({self.expr()})"

    def constant(self) -> int | None:
        """The number that a constant polynomial is; None for others."""
        return self.terms.get((), 0) if not self.terms or (len(self.terms) == 1 and () in self.terms) else None

    def expr(self) -> IntExpr:
        """As an expression in a fixed order: `n * 4 * m + n - 1`."""
        if (number := self.constant()) is not None:
            return Constant(number)
        result: IntExpr | None = None
        for factors, number in sorted(self.terms.items(), key=_term_order):
            size = number if result is None else abs(number)
            parts = [*factors[:1], *([] if size == 1 and factors else [Constant(size)]), *factors[1:]]
            term = reduce(lambda a, b: operation("*", a, b), parts)
            result = term if result is None else operation("+" if number > 0 else "-", result, term)
        return as_expr(result)

    def floordiv(self, by: Polynomial, expanded: bool = False) -> Polynomial:
        """floor(self / by): terms that divide by a positive number leave the floor, common factors cancel.

        `expanded`: multiples of the divisor in all terms leave it.
        """
        divisor = by.constant()
        if not divisor or divisor < 0:
            return _atom("//", self, by)
        if (quotient := self._quotient()) is not None:
            return quotient[0].floordiv(Polynomial({(): quotient[1] * divisor}), expanded)
        outside = {f: c // divisor for f, c in self.terms.items() if expanded or c % divisor == 0 or not f}
        undivided = {f: c % divisor if expanded else c for f, c in self.terms.items() if c % divisor and f}
        if not undivided:
            return Polynomial(outside)
        constant = self.terms.get((), 0) % divisor
        common = gcd(divisor, *undivided.values())
        numerator = Polynomial({**{f: c // common for f, c in undivided.items()}, (): constant // common})
        return Polynomial(outside) + _atom("//", numerator, Polynomial({(): divisor // common}))

    def _quotient(self) -> tuple[Polynomial, int] | None:
        """(x + c * d, d) of `x // d + c`: a quotient of it is one of x."""
        atoms = [factors for factors in self.terms if factors]
        if len(atoms) != 1 or len(atoms[0]) != 1 or self.terms[atoms[0]] != 1:
            return None
        (atom,) = atoms[0]
        if not isinstance(atom, Operation) or atom.symbol != "//" or not isinstance(atom.right, Constant):
            return None
        number = int(atom.right.value)
        if number <= 0:
            return None
        return Polynomial.from_expr(atom.left) + Polynomial({(): self.terms.get((), 0) * number}), number

    def mod(self, by: Polynomial) -> Polynomial:
        """The remainder: terms that divide by a positive number are dropped."""
        divisor = by.constant()
        if not divisor or divisor < 0:
            return _atom("%", self, by)
        undivided = Polynomial({f: c if f else c % divisor for f, c in self.terms.items() if c % divisor})
        return undivided if undivided.constant() is not None else _atom("%", undivided, by)

    def exact_quotient(self, by: Polynomial) -> Polynomial | None:
        """q with q * by = self for all values; None if a remainder is left."""
        if not by.terms:
            return None
        quotient, dividend = Polynomial({}), self
        first = max(by.terms, key=_degree_order)
        while dividend.terms:
            largest = max(dividend.terms, key=_degree_order)
            factors = list(largest)
            for factor in first:
                if factor not in factors:
                    return None
                factors.remove(factor)
            if dividend.terms[largest] % by.terms[first]:
                return None
            part = Polynomial({tuple(factors): dividend.terms[largest] // by.terms[first]})
            quotient, dividend = quotient + part, dividend - part * by
        return quotient


def _order(factor: IntExpr) -> tuple[bool, str]:
    """Variables by name, then quotients and remainders."""
    return isinstance(factor, Operation), str(factor)


def _degree_order(factors: Monomial) -> tuple[int, list[tuple[bool, str]]]:
    return len(factors), [_order(factor) for factor in factors]


def _term_order(term: tuple[Monomial, int]) -> tuple[bool, int, list[tuple[bool, str]]]:
    """Positive terms first, then products of many factors."""
    return term[1] < 0, -len(term[0]), _degree_order(term[0])[1]


def _atom(symbol: str, left: Polynomial, right: Polynomial) -> Polynomial:
    """A quotient or a remainder as a factor of its own."""
    return Polynomial({(Operation(symbol, left.expr(), right.expr()),): 1})


@lru_cache(maxsize=1 << 12)
def polynomial(expr: IntExpr, expanded: bool = False) -> Polynomial:
    """The normal form. `expanded`: `x % y` as `x - x // y * y`, and the coefficients in `x // 4` are 0 to 3."""
    if isinstance(expr, Constant):
        return Polynomial({(): int(expr.value)})
    if not isinstance(expr, Operation):
        return Polynomial({(expr,): 1})
    left, right = polynomial(expr.left, expanded), polynomial(expr.right, expanded)
    if expr.symbol == "+":
        return left + right
    if expr.symbol == "-":
        return left - right
    if expr.symbol == "*":
        return left * right
    if expr.symbol == "//":
        return left.floordiv(right, expanded)
    return left - left.floordiv(right, expanded) * right if expanded else left.mod(right)


def product(factors: Iterable[IntExpr | int]) -> Polynomial:
    """The product of expressions."""
    return reduce(lambda a, b: a * b, map(Polynomial.from_expr, factors), Polynomial({(): 1}))


def equal(left: IntExpr | int | str, right: IntExpr | int | str) -> bool:
    """Whether two expressions are equal for all values of their variables. True is definitive; False: not provable."""
    left, right = (side if isinstance(side, IntExpr) else parse(side) for side in (left, right))
    return left == right or polynomial(left, True) == polynomial(right, True)


def is_nonnegative(expr: IntExpr | int) -> bool:
    """Whether an expression is at least 0 for all sizes, which are. True is definitive; False: not provable."""
    return all(n >= 0 and all(map(_is_factor, factors)) for factors, n in Polynomial.from_expr(expr).terms.items())


def _is_factor(factor: IntExpr) -> bool:
    """Whether a factor of a product is at least 0."""
    if not isinstance(factor, Operation):
        return isinstance(factor, Symbol)
    if not is_nonnegative(factor.right) or factor.symbol not in DIVISIONS:
        return False
    return factor.symbol == "%" or is_nonnegative(factor.left)


def c_code(expr: IntExpr, names: Mapping[str, str] | None = None) -> str:
    """A C expression of int64_t variables, `names` of the symbols, else their own; divisors are positive.

    C rounds quotients to zero: a dividend that may be negative is corrected.
    """
    if not isinstance(expr, Operation):
        return (names or {}).get(str(expr), str(expr))
    left, right = c_code(expr.left, names), c_code(expr.right, names)
    if expr.symbol not in DIVISIONS or is_nonnegative(expr.left):
        return f"({left} {'/' if expr.symbol == '//' else expr.symbol} {right})"
    if expr.symbol == "%":
        return f"(({left} % {right} + {right}) % {right})"
    return f"({left} / {right} - ({left} % {right} < 0))"


def js_code(expr: IntExpr) -> str:
    """An expression of JavaScript: numbers of an object `n` with the names of the symbols; divisors are positive."""
    if not isinstance(expr, Operation):
        return str(expr) if isinstance(expr, Constant) else f'n["{expr}"]'
    left, right = js_code(expr.left), js_code(expr.right)
    if expr.symbol == "//":
        return f"Math.floor({left} / {right})"
    if expr.symbol == "%" and not is_nonnegative(expr.left):
        return f"(({left} % {right} + {right}) % {right})"
    return f"({left} {expr.symbol} {right})"
