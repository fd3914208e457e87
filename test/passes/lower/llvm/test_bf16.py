"""What is rounded to bfloat16 before and behind a maximum or minimum is rounded once, to the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.script import tir as T

ml_dtypes = pytest.importorskip("ml_dtypes")


@T.prim_func
def bounded(X: T.Buffer((4096,), "float32"), Y: T.Buffer((4096,), "bfloat16")):
    for i in T.vectorized(4096):
        with T.block("Y"):
            v = T.axis.spatial(4096, i)
            Y[v] = T.max(T.min(T.Cast("bfloat16", X[v]), T.bfloat16(64)), T.bfloat16(0))


def test_a_rounded_number_and_two_bounds():
    x = np.random.default_rng(0).integers(0, 1 << 32, 4096, dtype=np.uint32).view("float32")
    x[:10] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.00390625, 63.9999, 64.2]
    y = np.empty(4096, "uint16")
    build(bounded)(x, y)
    with np.errstate(invalid="ignore"):
        rounded = x.astype(ml_dtypes.bfloat16).astype("float32")
    expected = np.maximum(np.minimum(rounded, np.float32(64)), np.float32(0))
    np.testing.assert_array_equal(y.view(ml_dtypes.bfloat16).astype("float32"), expected)
