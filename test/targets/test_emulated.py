"""Code for 64-bit ARM agrees with NumPy under an emulator (Debian: apt install qemu-user)."""

from __future__ import annotations

import numpy as np
import pytest
from harness.emulate import EMULATOR, run
from programs.products import product, widened

from tir_mlir import Schedule, build, schedules
from tir_mlir.script.parser import parse
from tir_mlir.target import NEON, NEON_DOTPROD

pytestmark = pytest.mark.skipif(EMULATOR is None, reason="qemu-aarch64 is not there: apt install qemu-user")
RNG = np.random.default_rng(10)

CHAIN = """
@T.prim_func
def main(X: T.Buffer((13, 37), "float32"), Y: T.Buffer((13, 37), "float32"), Z: T.Buffer((13, 37), "float32")):
    for i, j in T.grid(13, 37):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            Z[vi, vj] = T.max(X[vi, vj] * Y[vi, vj] + T.float32(1), T.float32(0))
"""


@pytest.mark.parametrize("target", [NEON, NEON_DOTPROD], ids=["neon", "dotprod"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
def test_products(dtype, target, tmp_path):
    if dtype == "float32" and target == NEON_DOTPROD:
        pytest.skip("as without it")
    m, n, k = 17, 35, 29
    sums = {"float16": "float32", "int8": "int32"}.get(dtype, dtype)
    sch = Schedule(product(m, n, k, dtype) if sums == dtype else widened(m, n, k, dtype, sums))
    schedules.gemm(sch, "C", target=target, threads=1)
    low, high = (-128, 128) if dtype == "int8" else (-4, 5)
    a, b = (RNG.integers(low, high, s).astype(dtype) for s in ((m, k), (k, n)))
    *_, c = run(build(sch, target=target), [a, b, np.zeros((m, n), sums)], tmp_path)
    np.testing.assert_array_equal(c, a.astype(sums) @ b.astype(sums))


def test_elements(tmp_path):
    sch = Schedule(parse(CHAIN))
    schedules.elementwise(sch, "Z", target=NEON, threads=1)
    x, y = RNG.uniform(-2, 2, (2, 13, 37)).astype("float32")
    *_, z = run(build(sch, target=NEON), [x, y, np.zeros_like(x)], tmp_path)
    np.testing.assert_allclose(z, np.maximum(x * y + 1, 0), rtol=1e-6, atol=1e-6)
