"""Text of a function of LLVM IR: values, loops, accesses."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tir_mlir.passes.lower.direct.affine import Affine, DivisionTerm, NotDirect


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
