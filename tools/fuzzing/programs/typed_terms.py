"""Terms of typed sums: two operands of any types, combined in one type and accumulated in another, as text and as
NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from tir_mlir.dialect.ir import dtypes

FLOATS = ("float16", "bfloat16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
OPERANDS = (*FLOATS, *SIGNED, *UNSIGNED, "bool")
SUMS = (*FLOATS, *SIGNED, *UNSIGNED)
USUAL = (
    ("float32", "float32", "float32"), ("float64", "float64", "float64"), ("int8", "int8", "int32"),
    ("uint8", "int8", "int32"), ("int16", "int16", "int32"), ("bfloat16", "bfloat16", "float32"),
    ("float16", "float16", "float32"), ("float32", "float32", "float64"), ("int8", "float32", "float32"),
)  # fmt: skip
"""Types of the left operand, of the right one and of the sum that are drawn more often."""
NARROW = ("bfloat16", "int8", "uint8")
"""Types in which only products of the smallest numbers are exact."""
FRACTION = 0.25
SHIFT = 3

Number = np.ndarray
Meaning = Callable[[Number, Number], Number]


@dataclass(frozen=True)
class Operator:
    """How two numbers of one type are combined. `text`: of x, y and the type; `integers`: only of integers; `signs`: of
    negative numbers, too; `wide`: of numbers of every magnitude that their type has, if both are of that type; `dtype`:
    of the result, if not the same."""

    text: str
    meaning: Meaning
    integers: bool = False
    signs: bool = True
    wide: bool = False
    dtype: str = ""


def _ones(x: Number, y: Number) -> Number:
    return np.vectorize(lambda v: int(v).bit_count(), otypes=[np.int64])(np.bitwise_xor(x, y))


OPERATORS = (
    Operator("{x} * {y}", lambda x, y: x * y),
    Operator("{x} * T.{t}(2) * {y}", lambda x, y: x * 2 * y),
    Operator("T.max({x}, {y}) - T.min({x}, {y})", lambda x, y: abs(x - y), wide=True),
    Operator("T.abs({x} - {y})", lambda x, y: abs(x - y), wide=True),
    Operator("({x} - {y}) * ({x} - {y})", lambda x, y: (x - y) * (x - y)),
    Operator("{x} < {y}", lambda x, y: x < y, wide=True, dtype="bool"),
    Operator("T.Select({x} <= {y}, {x}, {y}) * {y}", lambda x, y: np.minimum(x, y) * y),
    Operator("T.max({x}, T.{t}(1)) * {y}", lambda x, y: np.maximum(x, 1) * y),
    Operator("T.popcount(T.bitwise_xor({x}, {y}))", _ones, integers=True, signs=False, wide=True),
    Operator(f"T.shift_right({{x}}, T.{{t}}({SHIFT})) * {{y}}", lambda x, y: (x >> SHIFT) * y, integers=True),
)
SUBTRACTING = ("T.abs({x} - {y})", "({x} - {y}) * ({x} - {y})")
"""Operators that are negative in between, which an unsigned type is not."""


@dataclass(frozen=True)
class Term:
    """`combine(scale(x), y)` of elements of two types, in a type, cast to that of the sum.

    `scaled`: the left operand is doubled in its own type before it is cast. `nonnegative`: one of the types has no
    negative numbers. `fraction`: operands that are floats are multiples of it. `far`: operands are far from zero.
    """

    left: str
    right: str
    inside: str
    sums: str
    operator: Operator
    scaled: bool
    fraction: float
    far: bool

    @property
    def nonnegative(self) -> bool:
        types = (self.left, self.right, self.inside, self.sums)
        return not self.operator.signs or any(t in (*UNSIGNED, "bool") for t in types)

    @property
    def most(self) -> int:
        """The largest number of an operand, in fractions: all results are exact in their types."""
        return 3 if {self.left, self.right, self.inside, self.sums}.intersection(NARROW) else 12

    @property
    def unit(self) -> float:
        """What all terms are multiples of."""
        return self.fraction**2 if self.sums in FLOATS else 1

    def origin(self, dtype: str) -> int:
        """What is added to the numbers of an operand."""
        return 1 << {"float32": 20, "float64": 30}.get(dtype, dtypes.bits(dtype) - 3) if self.far else 0

    def text(self, x: str, y: str) -> str:
        """The text of a term of two elements."""
        x = f"{x} * T.{self.left}(2)" if self.scaled else x
        at = {"x": cast(x, self.left, self.inside), "y": cast(y, self.right, self.inside), "t": self.inside}
        return cast(self.operator.text.format(**at), self.operator.dtype or self.inside, self.sums)

    def meaning(self, x: Number, y: Number) -> Number:
        """The same of exact numbers: int64 or float64."""
        x = x * 2 if self.scaled else x
        value = self.operator.meaning(exact(x, self.left, self.inside), exact(y, self.right, self.inside))
        return exact(value, self.operator.dtype or self.inside, self.sums)


def cast(text: str, source: str, dtype: str) -> str:
    """The text of a cast; nothing for the same type."""
    return f"({text})" if source == dtype else f'T.Cast("{dtype}", {text})'


def exact(value: Number, source: str, dtype: str) -> Number:
    """Cast numbers that the type represents: floats to integers towards zero."""
    if dtype in FLOATS:
        return value.astype(np.float64)
    return (np.trunc(value) if source in FLOATS else value).astype(np.int64)


def term(random: Random) -> Term:
    """A random term: often of usual types, often a product of operands that are cast to the type of the sum."""
    if random.random() < 0.3:
        left, right, sums = random.choice(USUAL)
    else:
        left, right, sums = random.choice(OPERANDS), random.choice(OPERANDS), random.choice(SUMS)
        right = left if random.random() < 0.5 else right
    inside = random.choice([t for t in (sums, left, right, random.choice(SUMS)) if t != "bool"])
    operator = OPERATORS[0] if random.random() < 0.3 else random.choice(OPERATORS)
    unsigned = inside in UNSIGNED
    if (operator.integers and inside in FLOATS) or (unsigned and operator.text in SUBTRACTING):
        operator = OPERATORS[0]
    far = operator.wide and left == right == inside and left not in ("float16", "bfloat16") and random.random() < 0.6
    scaled = left != "bool" and not far and random.random() < 0.25
    fraction = FRACTION if random.random() < 0.6 else 1
    return Term(left, right, inside, sums, operator, scaled, fraction, far)
