"""Emit arithmetic on floats of one type (scalar or vector), and on their bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlir import ir
from mlir.dialects import arith, scf, vector

from tir_mlir.dialect.ir.vectors import scalar_type, with_scalar_type

_CONTRACT = "#arith.fastmath<contract>"


class FloatBuilder:
    """Emits ops on values of one type at the current insertion point; products may be contracted."""

    def __init__(self, type_: ir.Type):
        self.type = type_
        self.element = ir.FloatType(scalar_type(type_))
        self.bits = self.element.width
        self.whole = with_scalar_type(type_, ir.IntegerType.get_signless(self.bits))
        self._contract = ir.Attribute.parse(_CONTRACT)

    def constant(self, value: float) -> ir.Value:
        return self._splat(self.type, ir.FloatAttr.get(self.element, value))

    def integer(self, value: int) -> ir.Value:
        """An integer constant of the same width."""
        return self._splat(self.whole, ir.IntegerAttr.get(ir.IntegerType.get_signless(self.bits), value))

    def _splat(self, type_: ir.Type, value: ir.Attribute) -> ir.Value:
        shaped = isinstance(type_, ir.VectorType)
        return arith.constant(type_, ir.DenseElementsAttr.get_splat(type_, value) if shaped else value)

    def value(self, x: ir.Value | float) -> ir.Value:
        return self.constant(x) if isinstance(x, int | float) else x

    def _make(self, name: str, type_: ir.Type, *operands: ir.Value, **attributes: ir.Attribute) -> ir.Value:
        return ir.Operation.create(name, [type_], list(operands), attributes).results[0]

    # --- floats ------------------------------------------------------------------------------------------------------

    def add(self, x: Any, y: Any) -> ir.Value:
        return self._make("arith.addf", self.type, self.value(x), self.value(y), fastmath=self._contract)

    def sub(self, x: Any, y: Any) -> ir.Value:
        return self._make("arith.subf", self.type, self.value(x), self.value(y), fastmath=self._contract)

    def mul(self, x: Any, y: Any) -> ir.Value:
        return self._make("arith.mulf", self.type, self.value(x), self.value(y), fastmath=self._contract)

    def div(self, x: Any, y: Any) -> ir.Value:
        return self._make("arith.divf", self.type, self.value(x), self.value(y))

    def fma(self, x: Any, y: Any, z: Any) -> ir.Value:
        """x * y + z, as one instruction if the CPU has it."""
        return self.add(self.mul(x, y), z)

    def polynomial(self, x: ir.Value, coefficients: Sequence[float]) -> ir.Value:
        """Coefficients from the highest degree down; Horner's rule in x**2, which halves the dependence chain."""
        low = [c for c in reversed(coefficients)]
        pairs = [self.fma(x, b, a) for a, b in zip(low[::2], low[1::2], strict=False)]
        if len(low) % 2:
            pairs.append(self.constant(low[-1]))
        square, value = self.mul(x, x), pairs.pop()
        while pairs:
            value = self.fma(value, square, pairs.pop())
        return value

    def horner(self, x: ir.Value, coefficients: Sequence[float]) -> ir.Value:
        """The same by Horner's rule: fewer operations and registers, for code that is not bound by latency."""
        first, second, *others = coefficients
        value = self.fma(x, first, second)
        for coefficient in others:
            value = self.fma(value, x, coefficient)
        return value

    def compare(self, x: Any, predicate: str, y: Any) -> ir.Value:
        """An ordered comparison (false for NaN), except for `uno`."""
        code = {"oeq": 1, "ogt": 2, "oge": 3, "olt": 4, "ole": 5, "one": 6, "uno": 14}[predicate]
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), code)
        bits = with_scalar_type(self.type, ir.IntegerType.get_signless(1))
        return self._make("arith.cmpf", bits, self.value(x), self.value(y), predicate=number)

    def logical_not(self, which: ir.Value) -> ir.Value:
        """Not."""
        ones = ir.IntegerAttr.get(ir.IntegerType.get_signless(1), 1)
        return self._make("arith.xori", which.type, which, self._splat(which.type, ones))

    def compute_where(self, which: ir.Value, make: Callable[[], ir.Value], other: ir.Value) -> ir.Value:
        """What `make` emits, computed if a condition is true for some lane; else another value."""
        some = which
        if isinstance(which.type, ir.VectorType):
            some = vector.reduction(ir.IntegerType.get_signless(1), vector.CombiningKind.OR, which)
        branch = scf.IfOp(some, [self.type], has_else=True)
        for region, value in zip(branch.regions, (make, lambda: other), strict=True):
            with ir.InsertionPoint(region.blocks[0]):
                scf.YieldOp([value()])
        return branch.results[0]

    def select(self, which: ir.Value, x: Any, y: Any) -> ir.Value:
        return self._make("arith.select", self.type, which, self.value(x), self.value(y))

    def clamp_above(self, x: ir.Value, high: ir.Value | float) -> ir.Value:
        """The minimum of two values; NaN propagates."""
        return self.select(self.compare(high, "olt", x), high, x)

    def clamp_below(self, x: ir.Value, low: ir.Value | float) -> ir.Value:
        return self.select(self.compare(low, "ogt", x), low, x)

    # --- bits --------------------------------------------------------------------------------------------------------

    def to_bits(self, x: ir.Value) -> ir.Value:
        return self._make("arith.bitcast", self.whole, x)

    def from_bits(self, i: ir.Value) -> ir.Value:
        return self._make("arith.bitcast", self.type, i)

    def from_integer(self, i: ir.Value) -> ir.Value:
        return self._make("arith.sitofp", self.type, i)

    def whole_op(self, name: str, i: ir.Value, j: ir.Value | int) -> ir.Value:
        """An arith integer op: addi, subi, andi, ori, xori, shli, shrui, shrsi."""
        return self._make(f"arith.{name}", self.whole, i, self.integer(j) if isinstance(j, int) else j)

    def whole_equal(self, i: ir.Value, j: int) -> ir.Value:
        bits = with_scalar_type(self.type, ir.IntegerType.get_signless(1))
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
        return self._make("arith.cmpi", bits, i, self.integer(j), predicate=number)

    def magnitude(self, x: ir.Value) -> ir.Value:
        return self._make("math.absf", self.type, x)

    def log(self, x: ir.Value) -> ir.Value:
        return self._make("math.log", self.type, x)

    def with_sign(self, x: ir.Value, sign: ir.Value) -> ir.Value:
        return self._make("math.copysign", self.type, x, sign)
