"""Constants are computed as compiled code computes them."""

import math

import numpy as np
import pytest

from tir_mlir.dialect.ir.float_constants import fold, maximum, minimum, rounded

NAN = math.nan


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("pair", [(NAN, 1.0), (1.0, NAN), (NAN, -math.inf), (math.inf, NAN)])
def test_nan_wins_on_either_side(op, pair):
    assert math.isnan({"max": maximum, "min": minimum}[op](*pair))


@pytest.mark.parametrize("pair", [(0.0, -0.0), (-0.0, 0.0)])
def test_zeros_are_ordered_by_sign(pair):
    assert math.copysign(1, maximum(*pair)) == 1 and math.copysign(1, minimum(*pair)) == -1


@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
def test_a_result_is_rounded_as_numpy_rounds(op):
    random = np.random.default_rng(1).uniform(-9, 9, (50, 2))
    compute = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op]
    for a, b in random:
        for dtype in ("float16", "float32", "float64"):
            scalar = np.dtype(dtype).type
            assert fold(op, a, b, dtype) == float(compute(scalar(a), scalar(b)))


def test_overflow_is_infinity():
    assert fold("*", 3e38, 10, "float32") == math.inf and rounded(-(10**400), "float16") == -math.inf


def test_an_operation_that_floats_do_not_have():
    assert fold("<<", 1.0, 2.0, "float32") is None


def test_bfloat16_is_rounded_once():
    """A float64 just above a tie of bfloat16: rounding to float32 first would make it a tie."""
    assert rounded(1 + 2**-8 + 2**-40, "bfloat16") == 1 + 2**-7
    assert rounded(1 + 2**-8 - 2**-40, "bfloat16") == 1.0
    assert rounded(1 + 2**-8, "bfloat16") == 1.0
