"""Text of a function of LLVM IR: affine expressions of numbered iters, values, loops, accesses."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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


def number(value: float) -> str:
    """A float as LLVM IR has it: the bits of the double."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", struct.unpack("<f", struct.pack("<f", value))[0]))
    return f"0x{bits:016X}"


class FunctionText:
    """The text of one function, written line by line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.slots: list[str] = []
        """Allocas, of the start of the function."""
        self._count, self._label = 0, "entry"
        self._known: dict[object, str] = {}
        """Values of the block that is written, and of those that are always before it."""

    def value(self, text: str) -> str:
        """A new value, of this instruction."""
        self._count += 1
        self.lines.append(f"  %v{self._count} = {text}")
        return f"%v{self._count}"

    def emit_once(self, key: object, text: str) -> str:
        """The value of an instruction, written unless there is one of this key."""
        if key not in self._known:
            self._known[key] = self.value(text)
        return self._known[key]

    def do(self, text: str) -> None:
        """An instruction without a value."""
        self.lines.append(f"  {text}")

    def slot(self, type_: str) -> str:
        """A variable of the function."""
        self._count += 1
        self.slots.append(f"  %s{self._count} = alloca {type_}, align 64")
        return f"%s{self._count}"

    def label(self) -> str:
        self._count += 1
        return f"L{self._count}"

    def start(self, label: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{label}:")
        self._label = label

    @property
    def block(self) -> str:
        """The label of the basic block that is written."""
        return self._label

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Values of code inside are not known after it."""
        outer_values, self._known = self._known, dict(self._known)
        try:
            yield
        finally:
            self._known = outer_values

    @contextmanager
    def fresh(self) -> Iterator[None]:
        """The same, of code in which memory changes: values from before it are not known inside either."""
        outer_values, self._known = self._known, {}
        try:
            yield
        finally:
            self._known = outer_values

    @contextmanager
    def loop(self, first: str, end: str, step: int) -> Iterator[str]:
        """A loop; the value is its variable."""
        name = self.label()
        entry = self._label
        self.do(f"br label %{name}.head")
        self.start(f"{name}.head")
        self.lines.append(f"  %{name} = phi i64 [ {first}, %{entry} ], [ %{name}.next, %{name}.latch ]")
        self.do(f"%{name}.more = icmp slt i64 %{name}, {end}")
        self.do(f"br i1 %{name}.more, label %{name}.body, label %{name}.end")
        self.start(f"{name}.body")
        with self.fresh():
            yield f"%{name}"
        self.do(f"br label %{name}.latch")
        self.start(f"{name}.latch")
        self.do(f"%{name}.next = add nsw i64 %{name}, {step}")
        self.do(f"br label %{name}.head")
        self.start(f"{name}.end")

    def index(self, value: Affine, iters: Sequence[str]) -> str:
        """The value of an affine expression, of these values of iters. Errors: NotDirect."""
        total = self._varying(value, iters)
        if total is None:
            return str(value.constant)
        return (
            self.emit_once(("add", total, value.constant), f"add nsw i64 {total}, {value.constant}")
            if value.constant
            else total
        )

    def pointer(self, base: str, value: Affine, iters: Sequence[str]) -> str:
        """The address of an element; constants are added last, so that accesses that differ in them share the rest."""
        if (total := self._varying(value, iters)) is not None:
            base = self.emit_once(("gep", base, total), f"getelementptr inbounds float, ptr {base}, i64 {total}")
        if not value.constant:
            return base
        return self.emit_once(("gep", base, value.constant), f"getelementptr float, ptr {base}, i64 {value.constant}")

    def _varying(self, value: Affine, iters: Sequence[str]) -> str | None:
        """The value without the constant; None for nothing."""
        terms = [(iters[number], factor) for number, factor in value.iters]
        terms += [(self._part(part, iters), factor) for part, factor in value.parts]
        total = None
        for term, factor in terms:
            if factor != 1:
                term = self.emit_once(("mul", term, factor), f"mul nsw i64 {term}, {factor}")
            total = term if total is None else self.emit_once(("plus", total, term), f"add nsw i64 {total}, {term}")
        return total

    def _part(self, part: DivisionTerm, iters: Sequence[str]) -> str:
        inner = part.value
        if inner.constant < 0 or any(f < 0 for _, f in inner.iters) or any(f < 0 for _, f in inner.parts):
            raise NotDirect("a division of what may be negative")
        dividend = self.index(inner, iters)
        name = "udiv" if part.kind == "div" else "urem"
        return self.emit_once((name, dividend, part.divisor), f"{name} i64 {dividend}, {part.divisor}")
