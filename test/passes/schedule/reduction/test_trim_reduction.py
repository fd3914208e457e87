"""trim_reduction: what is left out is neutral, for any sizes; the results are those of before."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build

RNG = np.random.default_rng(11)


def sums(size: int, ahead: int = 0) -> Schedule:
    """Products with a row, of weights that another block makes 0 after the diagonal."""
    return Schedule(
        parse(f"""
@T.prim_func
def main(
    A: T.Buffer(({size}, {size}), "float32"), V: T.Buffer(({size},), "float32"), C: T.Buffer(({size},), "float32")
):
    E = T.alloc_buffer(({size}, {size}))
    for i, j in T.grid({size}, {size}):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.if_then_else(vj <= vi + {ahead}, A[vi, vj] * T.float32(2), T.float32(0))
    for i, k in T.grid({size}, {size}):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + E[vi, vk] * V[vk]
""")
    )


def trimmed_sum(size: int, tile: int, ahead: int = 0) -> Schedule:
    sch = sums(size, ahead)
    i, k = sch.get_loops("C")
    i_0, _ = sch.split(i, [None, tile])
    sch.trim_reduction("C", i_0)
    sch.compute_at("E", i_0)
    sch.vectorize(k)
    sch.vectorize(sch.get_loops("E")[-1])
    return sch


@pytest.mark.parametrize(("size", "tile", "ahead"), [(15, 1, 0), (16, 4, 2), (17, 4, 0), (127, 32, 0)])
def test_any_sizes(size: int, tile: int, ahead: int) -> None:
    sch = trimmed_sum(size, tile, ahead)
    assert sch.verify()
    a, v = RNG.standard_normal((size, size), np.float32), RNG.standard_normal(size, np.float32)
    c = np.full(size, np.nan, np.float32)
    build(sch)(a, v, c)
    np.testing.assert_allclose(c, np.tril(a * 2, ahead) @ v, rtol=1e-4, atol=1e-4)


def test_what_is_left_out_is_not_read() -> None:
    """0 times an infinity is NaN in the program; after the step it is not there."""
    a, v, c = np.ones((64, 64), np.float32), np.ones(64, np.float32), np.empty(64, np.float32)
    v[40] = np.inf
    build(trimmed_sum(64, 16))(a, v, c)
    assert c[31] == 64 and c[63] == np.inf


def test_one_term_has_nothing_to_leave_out() -> None:
    sch = sums(1)
    assert not sch.can_trim_reduction("C", sch.get_loops("C")[0])


def test_the_producer_computes_what_is_read() -> None:
    assert "T.where(ax1 <= i_0 * 16 + 15)" in trimmed_sum(64, 16).mod.script()


def test_zeros_that_another_block_rounds_are_zeros() -> None:
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((32, 32), "float32"), C: T.Buffer((32,), "float32")):
    E = T.alloc_buffer((32, 32))
    R = T.alloc_buffer((32, 32), "float16")
    for i, j in T.grid(32, 32):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.if_then_else(vj <= vi, A[vi, vj], T.float32(0))
    for i, j in T.grid(32, 32):
        with T.block("R"):
            vi, vj = T.axis.remap("SS", [i, j])
            R[vi, vj] = T.Cast("float16", E[vi, vj] - E[vi, vj] * T.float32(0.5))
    for i, k in T.grid(32, 32):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + T.Cast("float32", R[vi, vk])
""")
    )
    i_0, _ = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.trim_reduction("C", i_0)
    assert "T.where(k <= i_0 * 16 + 15)" in sch.mod.script()
