"""Which types represent every value of which others."""

import itertools
import math

import numpy as np
import pytest

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


@pytest.mark.parametrize("wide, narrow", list(itertools.product(OWN, OWN)))
def test_a_type_represents_what_survives_a_cast(wide, narrow):
    survives = all(_survives(value, wide) for value in _extreme(narrow))
    assert dtypes.represents(wide, narrow) == (wide == narrow or survives)


@pytest.mark.parametrize("narrow, holds", BF16.items())
def test_bfloat16(narrow, holds):
    assert dtypes.represents("bfloat16", narrow) == holds
    assert dtypes.represents(narrow, "bfloat16") == (narrow in ("bfloat16", "float32", "float64"))


def test_bool_and_vectors():
    assert all(dtypes.represents(wide, "bool") for wide in dtypes.NAMES)
    assert [wide for wide in dtypes.NAMES if dtypes.represents("bool", wide)] == ["bool"]
    assert dtypes.represents("int32x4", "int8x4") and not dtypes.represents("int8x4", "int32x4")
