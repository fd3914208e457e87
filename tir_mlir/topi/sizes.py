"""Sizes of shapes, numbers and te expressions of size variables: compared and simplified by their normal form."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tir_mlir import te
from tir_mlir.dialect.symbolic import IntExpr, Polynomial, Symbol, as_expr, equal, evaluate, product
from tir_mlir.te.expr import int_expr


class _Sizes:
    """Sizes as integer expressions; `parts` are the te expressions that their symbols stand for."""

    def __init__(self) -> None:
        self.parts: dict[str, te.Expr] = {}

    def expr(self, size: te.Size) -> IntExpr:
        if not isinstance(size, te.Expr):
            return as_expr(size)
        self.parts |= {key: leaf for key, leaf in size.leaves.items() if isinstance(leaf, te.Expr)}
        return int_expr(size, Symbol, self._opaque_symbol)

    def _opaque_symbol(self, part: te.Expr) -> IntExpr:
        """A part that is not arithmetic of integers, as a symbol."""
        name = ast.dump(part.node)
        self.parts[name] = part
        return Symbol(name)

    def size(self, form: Polynomial) -> te.Size:
        return evaluate(form.expr(), self.parts.__getitem__)

    def product(self, shape: Sequence[te.Size]) -> Polynomial:
        return product(map(self.expr, shape))


def simple(size: te.Size) -> te.Size:
    """A size simplified: `n + 2 - 2` -> `n`; a number if it is one."""
    return total([size])


def are_equal(a: te.Size, b: te.Size) -> bool:
    """Whether two sizes are equal for all values of their variables."""
    sizes = _Sizes()
    return equal(sizes.expr(a), sizes.expr(b))


def is_one(size: te.Size) -> bool:
    """Whether a size is 1."""
    return isinstance(size, int) and size == 1


def total(shape: Sequence[te.Size]) -> te.Size:
    """The number of elements of a shape."""
    sizes = _Sizes()
    return sizes.size(sizes.product(shape))


def floor_quotient(top: te.Size, by: int) -> te.Size:
    """floor(top / by) for a positive number."""
    sizes = _Sizes()
    return sizes.size(Polynomial.from_expr(sizes.expr(top) // by))


def exact_quotient(shape: Sequence[te.Size], others: Sequence[te.Size]) -> te.Size | None:
    """q with q * product(others) = product(shape), None if there is none for all values."""
    sizes = _Sizes()
    quotient = sizes.product(shape).exact_quotient(sizes.product(others))
    return None if quotient is None else sizes.size(quotient)


def shape_text(shape: Sequence[te.Size]) -> str:
    """A shape as text: `(n, 64)`."""
    listed = ", ".join(str(s) for s in shape)
    return f"({listed},)" if len(shape) == 1 else f"({listed})"


def ravel_index(index: Sequence[te.Size], shape: Sequence[te.Size]) -> te.Size:
    """The number in row-major order of the element at an index."""
    flat: te.Size = 0
    for i, n in zip(index, shape, strict=True):
        flat = flat * n + i
    return flat


def unravel_index(flat: te.Size, shape: Sequence[te.Size]) -> list[te.Size]:
    """The index of the element with a number in row-major order."""
    index: list[te.Size] = []
    for n in reversed(shape[1:]):
        index, flat = [flat % n, *index], flat // n
    return [flat, *index] if shape else []


def ceil_quotient(top: te.Size, by: int) -> te.Size:
    """ceil(top / by) for a positive number."""
    return floor_quotient(top + (by - 1), by)


def number(size: te.Size) -> int | None:
    """The number, if the size is one."""
    value = simple(size)
    return value if isinstance(value, int) else None
