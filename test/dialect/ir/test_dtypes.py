"""Which types represent every value of which others; constants are computed as compiled code computes them."""

import itertools
import math

import numpy as np
import pytest

from tir_mlir.dialect.constants.float_constants import fold, maximum, minimum, round_to_dtype
from tir_mlir.dialect.ir import dtypes

OWN = [t for t in dtypes.NAMES if t not in ("bfloat16", "bool")]
BF16 = {
    "float16": False, "float32": False, "float64": False, "bfloat16": True, "bool": True, "int8": True, "uint8": True,
    "int16": False, "uint16": False, "int32": False, "uint32": False, "int64": False, "uint64": False,
}  # fmt: skip
"""What bfloat16, which NumPy lacks, represents: 8 significant bits."""


def _extreme(dtype):
    """Values of a type that few other types have: the limits, and numbers with all significant bits."""
    if dtypes.is_float(dtype):
        info = np.finfo(dtype)
        return [float(n) for n in (info.max, info.tiny, info.smallest_subnormal, 1 + info.eps, -info.max)]
    low, high = dtypes.limits(dtype)
    return [low, high, high - 1, high // 2]


def _survives(value, wide):
    """Whether a number is the same after a cast to a type and back."""
    if not dtypes.is_float(wide):
        return isinstance(value, int) and dtypes.fits(value, wide)
    with np.errstate(over="ignore"):
        cast = float(np.array(value).astype(wide))
    return math.isfinite(cast) and (cast == value if isinstance(value, float) else int(cast) == value)


@pytest.mark.parametrize(("wide", "narrow"), list(itertools.product(OWN, OWN)))
def test_a_type_represents_what_survives_a_cast(wide, narrow):
    survives = all(_survives(value, wide) for value in _extreme(narrow))
    assert dtypes.represents(wide, narrow) == (wide == narrow or survives)


@pytest.mark.parametrize(("narrow", "holds"), BF16.items())
def test_bfloat16(narrow, holds):
    assert dtypes.represents("bfloat16", narrow) == holds
    assert dtypes.represents(narrow, "bfloat16") == (narrow in ("bfloat16", "float32", "float64"))


def test_bool_and_vectors():
    assert all(dtypes.represents(wide, "bool") for wide in dtypes.NAMES)
    assert [wide for wide in dtypes.NAMES if dtypes.represents("bool", wide)] == ["bool"]
    assert dtypes.represents("int32x4", "int8x4") and not dtypes.represents("int8x4", "int32x4")


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
    assert fold("*", 3e38, 10, "float32") == math.inf and round_to_dtype(-(10**400), "float16") == -math.inf


def test_an_operation_that_floats_do_not_have():
    assert fold("<<", 1.0, 2.0, "float32") is None


def test_bfloat16_is_rounded_once():
    """A float64 just above a tie of bfloat16: rounding to float32 first would make it a tie."""
    assert round_to_dtype(1 + 2**-8 + 2**-40, "bfloat16") == 1 + 2**-7
    assert round_to_dtype(1 + 2**-8 - 2**-40, "bfloat16") == 1.0
    assert round_to_dtype(1 + 2**-8, "bfloat16") == 1.0
