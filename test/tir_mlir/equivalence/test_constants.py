"""The exact check knows the order of constants and folds no function of them: a step may bring two together."""

from __future__ import annotations

from fractions import Fraction

import pytest
from harness import scripts

from tir_mlir import Schedule
from tir_mlir.equivalence.compare import equivalent
from tir_mlir.equivalence.field.field_functions import REACH, scale_of

TEXT = """
X = T.alloc_buffer((16,))
for i in range(16):
    with T.block("x"):
        vi = T.axis.spatial(16, i)
        X[vi] = T.float32({constant})
for i in range(16):
    with T.block("b"):
        vi = T.axis.spatial(16, i)
        B[vi] = A[vi] * {value}
"""
PARAMS = "A: T.Buffer((16,)), B: T.Buffer((16,))"


def _program(value: str, constant: float = 0.5):
    return scripts.function(TEXT.format(value=value, constant=constant), PARAMS)


@pytest.mark.parametrize("constant", [0.5, -0.25, 1 / 3, 0.1, 2.75, -1000.5])
@pytest.mark.parametrize(
    "value",
    [
        "T.max(T.float32(0), X[vi])",
        "T.min(X[vi], T.float32(0.375))",
        "T.max(X[vi] + X[vi], T.float32(0.75))",
        "T.if_then_else(X[vi] > T.float32(0.25), T.float32(1), T.float32(2))",
        "T.floor(X[vi])",
        "T.exp(X[vi])",
        "T.pow(X[vi], T.float32(2))",
    ],
)
def test_a_constant_that_is_inlined(value: str, constant: float) -> None:
    sch = Schedule(_program(value, constant))
    sch.compute_inline("x")
    assert sch.verify()


def test_another_constant_is_a_difference() -> None:
    assert not equivalent(_program("T.max(T.float32(0), X[vi])"), _program("T.max(T.float32(0.75), X[vi])"))


def test_the_scale_makes_constants_integers() -> None:
    assert scale_of([Fraction(1, 2), Fraction(1, 3), Fraction(-5, 4), Fraction(7)]) == 12
    assert scale_of([]) == 1


def test_constants_that_are_too_fine_or_too_large_are_left_out() -> None:
    assert scale_of([Fraction(1, 2), Fraction(1, 1 << 50), Fraction(1 << 70)]) == 2
    assert scale_of([Fraction(REACH), Fraction(1, 2)]) == 1
