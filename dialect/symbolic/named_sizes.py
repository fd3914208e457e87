"""What the shapes of tensors tell of named sizes: where each is read, and between which values an expression lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from tir_mlir.dialect.symbolic.affine import parse
from tir_mlir.dialect.symbolic.expression import Constant, Symbol, fold
from tir_mlir.dialect.symbolic.polynomial import Polynomial

Size = int | str
"""A number, or an expression of named sizes as text."""


@dataclass(frozen=True)
class SizeOrigin:
    """Where the value of a named size is read: an axis of a tensor, of `factor * size + rest` elements."""

    tensor: int
    axis: int
    factor: int = 1
    rest: int = 0

    def value(self, extent: int) -> int:
        """The size, where the axis has this extent."""
        return (extent - self.rest) // self.factor


def sources(shapes: Sequence[Sequence[Size]]) -> dict[str, SizeOrigin]:
    """Where the named sizes of tensors of these shapes are read: an axis that is the size, else one that determines
    it: of (8 * n, 4) axis 0."""
    first_sources: dict[str, SizeOrigin] = {}
    named = [(t, a, size) for t, shape in enumerate(shapes) for a, size in enumerate(shape) if isinstance(size, str)]
    for tensor, axis, size in named:
        if size.isidentifier():
            first_sources.setdefault(size, SizeOrigin(tensor, axis))
    for tensor, axis, size in named:
        if (solved := linear(size)) is not None:
            first_sources.setdefault(solved[0], SizeOrigin(tensor, axis, *solved[1:]))
    return first_sources


def linear(size: str) -> tuple[str, int, int] | None:
    """The name, its factor, which is positive, and the rest: ("n", 8, 3) of "8 * n + 3"; None of others."""
    terms = dict(Polynomial.from_expr(parse(size)).terms)
    constant = terms.pop((), 0)
    if len(terms) != 1:
        return None
    ((factors, factor),) = terms.items()
    if len(factors) != 1 or factor <= 0:
        return None
    (symbol,) = factors
    return (symbol.name, factor, constant) if isinstance(symbol, Symbol) else None


def bounds(size: Size, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """The least and the greatest value of a size (-1: none), from those of its names: "n + m" of 1 to 4 and 2 to 8: 3
    to 12. Wider than what occurs where a name occurs twice."""

    def leaf(part: Any) -> tuple[float, float]:
        if isinstance(part, Constant):
            return part.value, part.value
        least, greatest = ranges.get(part.name, (0, -1))
        return least, inf if greatest < 0 else greatest

    def apply(symbol: str, lhs: tuple[float, float], rhs: tuple[float, float]) -> tuple[float, float]:
        if symbol in ("//", "%") and rhs[0] <= 0:
            return 0, inf
        if symbol == "%":
            return 0, rhs[1] - 1
        pairs = [_apply_to_bounds(symbol, a, b) for a in lhs for b in rhs]
        return min(pairs), max(pairs)

    least, greatest = fold(parse(size), leaf, apply)
    return max(0, int(least)) if least > -inf else 0, int(greatest) if greatest < inf else -1


def _apply_to_bounds(symbol: str, a: float, b: float) -> float:
    if symbol == "*":
        return a * b if a and b else 0
    if symbol == "//":
        return a if abs(a) == inf else 0 if b == inf else a // b
    return a + b if symbol == "+" else a - b
