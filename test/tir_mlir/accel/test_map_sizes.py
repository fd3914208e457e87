"""Programs that are mapped to instructions whose loops have sizes, as those of VTA do."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import accel
from tir_mlir.accel.machines import vta
from tir_mlir.script import tir as T


def blocked_product(m: int, n: int, k: int):
    """A product in blocks of 16, whose sums are cut to 8 bits."""

    @T.prim_func
    def main(A: T.Buffer((m, k, 16), "int8"), B: T.Buffer((n, k, 16, 16), "int8"), C: T.Buffer((m, n, 16), "int8")):
        S = T.alloc_buffer((m, n, 16), "int32")
        for i, j, o, r, t in T.grid(m, n, 16, k, 16):
            with T.block("S"):
                vi, vj, vo, vk, vt = T.axis.remap("SSSRR", [i, j, o, r, t])
                with T.init():
                    S[vi, vj, vo] = 0
                S[vi, vj, vo] += T.Cast("int32", A[vi, vk, vt]) * T.Cast("int32", B[vj, vk, vo, vt])
        for i, j, o in T.grid(m, n, 16):
            with T.block("C"):
                vi, vj, vo = T.axis.remap("SSS", [i, j, o])
                C[vi, vj, vo] = T.Cast("int8", S[vi, vj, vo])

    return main


TILES = {(16, 2, 4): "16 x 4 x 16 x 16", (7, 3, 5): "7 x 5 x 16 x 16", (1, 1, 1): "16 x 16"}


@pytest.mark.parametrize(("shape", "tiles"), TILES.items())
def test_sizes_divide_the_axes(shape: tuple[int, int, int], tiles: str) -> None:
    m, n, k = shape
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, s, np.int8) for s in ((m, k, 16), (n, k, 16, 16)))
    c = np.zeros((m, n, 16), np.int8)
    mapped = accel.map(blocked_product(*shape), vta())
    mapped.build().main(a, b, c)
    sums = np.einsum("ikt,jkot->ijo", a.astype(np.int32), b.astype(np.int32))
    np.testing.assert_array_equal(c, sums.astype(np.int8))
    assert f"vta.gemm computes tiles of {tiles}" in str(mapped)
    assert mapped.schedule.verify() and mapped.function.verify()


def requantized(m: int, n: int, k: int):
    """The same product; its sums are shifted and clipped."""

    @T.prim_func
    def main(A: T.Buffer((m, k, 16), "int8"), B: T.Buffer((n, k, 16, 16), "int8"), C: T.Buffer((m, n, 16), "int8")):
        S = T.alloc_buffer((m, n, 16), "int32")
        for i, j, o, r, t in T.grid(m, n, 16, k, 16):
            with T.block("S"):
                vi, vj, vo, vk, vt = T.axis.remap("SSSRR", [i, j, o, r, t])
                with T.init():
                    S[vi, vj, vo] = 0
                S[vi, vj, vo] += T.Cast("int32", A[vi, vk, vt]) * T.Cast("int32", B[vj, vk, vo, vt])
        for i, j, o in T.grid(m, n, 16):
            with T.block("C"):
                vi, vj, vo = T.axis.remap("SSS", [i, j, o])
                C[vi, vj, vo] = T.Cast("int8", T.min(T.max(S[vi, vj, vo] >> 8, -100), 90))

    return main


def test_instructions_overwrite_the_sums_that_they_read() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, s, np.int8) for s in ((7, 5, 16), (3, 5, 16, 16)))
    c = np.zeros((7, 3, 16), np.int8)
    mapped = accel.map(requantized(7, 3, 5), vta())
    mapped.build().main(a, b, c)
    sums = np.einsum("ikt,jkot->ijo", a.astype(np.int32), b.astype(np.int32))
    np.testing.assert_array_equal(c, np.clip(sums >> 8, -100, 90).astype(np.int8))
    assert "vta.shift computes tiles of 7 x 16 in acc\n" in str(mapped)
    assert mapped.schedule.verify() and mapped.function.verify()
