"""Affine expressions of numbered iters, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir import ir


class NotDirect(Exception):
    """A program that is not written directly: it takes the way of the others. Never seen by users."""


@dataclass(frozen=True)
class Affine:
    """constant + the sum of factor * iter + the sum of factor * quotient or remainder."""

    constant: int = 0
    iters: tuple[tuple[int, int], ...] = ()
    """(iter, factor), in order, factors not 0."""
    parts: tuple[tuple[DivisionTerm, int], ...] = ()
    """(part, factor)."""

    def __add__(self, rhs: Affine) -> Affine:
        factors = dict(self.iters)
        for number, factor in rhs.iters:
            factors[number] = factors.get(number, 0) + factor
        iters = tuple(sorted((n, f) for n, f in factors.items() if f))
        return Affine(self.constant + rhs.constant, iters, self.parts + rhs.parts)

    def __mul__(self, factor: int) -> Affine:
        if not factor:
            return Affine()
        iters = tuple((number, factor * f) for number, f in self.iters)
        return Affine(factor * self.constant, iters, tuple((part, factor * f) for part, f in self.parts))

    def substitute(self, values: Sequence[Affine]) -> Affine:
        """The expression with other expressions for the iters."""
        total = Affine(self.constant)
        for number, factor in self.iters:
            total += values[number] * factor
        for part, factor in self.parts:
            inner = DivisionTerm(part.kind, part.value.substitute(values), part.divisor)
            total += inner.to_affine() * factor
        return total

    def uses(self, number: int) -> bool:
        """Whether it depends on an iter."""
        return any(n == number for n, _ in self.iters) or any(part.value.uses(number) for part, _ in self.parts)

    def step(self, lane: int, width: int) -> int | None:
        """By how much it grows from each of `width` values of an iter to the next, of which the first is a multiple of
        `width`; None if not always by the same."""
        step = dict(self.iters).get(lane, 0)
        for part, factor in self.parts:
            part_step = part.step(lane, width)
            if part_step is None:
                return None
            step += factor * part_step
        return step


@dataclass(frozen=True)
class DivisionTerm:
    """A quotient ("div") rounded down, or a remainder ("mod")."""

    kind: str
    value: Affine
    divisor: int

    def to_affine(self) -> Affine:
        if not self.value.iters and not self.value.parts:
            number = self.value.constant
            return Affine(number // self.divisor if self.kind == "div" else number % self.divisor)
        return Affine(0, (), ((self, 1),))

    def step(self, lane: int, width: int) -> int | None:
        if not self.value.uses(lane):
            return 0
        factors = dict(self.value.iters)
        others = [factor for number, factor in factors.items() if number != lane]
        aligned = factors.get(lane) == 1 and not self.value.parts and not self.divisor % width
        if not aligned or any(number % width for number in (self.value.constant, *others)):
            return None
        return 0 if self.kind == "div" else 1


def read(expr: ir.AffineExpr, operands: Sequence[Affine]) -> Affine:
    """An expression of MLIR, of these operands. Errors: NotDirect."""
    if isinstance(expr, ir.AffineConstantExpr):
        return Affine(expr.value)
    if isinstance(expr, ir.AffineDimExpr):
        return operands[expr.position]
    if isinstance(expr, ir.AffineAddExpr):
        return read(expr.lhs, operands) + read(expr.rhs, operands)
    if isinstance(expr, ir.AffineMulExpr):
        lhs, rhs = read(expr.lhs, operands), read(expr.rhs, operands)
        if not rhs.iters and not rhs.parts:
            return lhs * rhs.constant
        if not lhs.iters and not lhs.parts:
            return rhs * lhs.constant
    kind = {ir.AffineFloorDivExpr: "div", ir.AffineModExpr: "mod"}.get(type(expr))  # type: ignore[arg-type]
    if kind is not None and isinstance(expr.rhs, ir.AffineConstantExpr) and expr.rhs.value > 0:  # type: ignore[union-attr]
        return DivisionTerm(kind, read(expr.lhs, operands), expr.rhs.value).to_affine()  # type: ignore[union-attr]
    raise NotDirect(f"the index {expr}")


def flat(indices: Sequence[Affine], shape: Sequence[int]) -> Affine:
    """The number of an element of a row-major buffer."""
    total = Affine()
    for index, size in zip(indices, shape, strict=True):
        total = total * size + index
    return total


def iters_of(values: Mapping[int, int]) -> Affine:
    """The sum of iters with these factors."""
    return Affine(0, tuple(sorted(values.items())))
