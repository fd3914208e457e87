"""Operators of bfloat16: computed in float32 and rounded once."""

import numpy as np
import pytest
from harness.operators import random

from tir_mlir import build, te
from tir_mlir.topi import nn

CASES = {
    "dense": (nn.dense, [(3, 32), (5, 32)], lambda x, w: x @ w.T),
    "rms_norm": (nn.rms_norm, [(3, 32), (32,)], lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w),
    "silu": (nn.silu, [(3, 17)], lambda x: x / (1 + np.exp(-x))),
    "softmax": (nn.softmax, [(3, 17)], lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
}


def bits(x):
    """float32 numbers as those of bfloat16, with their upper 16 bits alone."""
    return (np.asarray(x, "float32").view("uint32") >> 16).astype("uint16")


def value(x):
    return (x.astype("uint32") << 16).view("float32")


@pytest.mark.parametrize("case", CASES)
def test_is_within_one_rounding(case):
    function, shapes, reference = CASES[case]
    arrays = [bits(random(*s, seed=n)) for n, s in enumerate(shapes)]
    inputs = [te.placeholder(s, "bfloat16", name=f"x{n}") for n, s in enumerate(shapes)]
    made = function(*inputs)
    out = np.zeros(made.shape, "uint16")
    build(te.create_prim_func([*inputs, made]))(*arrays, out)
    wanted = reference(*(value(a).astype("float64") for a in arrays))
    np.testing.assert_allclose(value(out), wanted, rtol=2**-8, atol=1e-5)
