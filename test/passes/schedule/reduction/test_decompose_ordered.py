"""decompose_reduction of blocks with ordered iters."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build

from tir_mlir import Schedule
from tir_mlir.script import tir as T


def joined():
    """The time steps with the sums of a step in a buffer of their own."""

    @T.prim_func
    def main(X: T.Buffer((5,), "float32"), U: T.Buffer((5, 5), "float32"), H: T.Buffer((4, 5), "float32")):
        Z = T.alloc_buffer((3, 5))
        for i in range(5):
            with T.block("start"):
                vi = T.axis.spatial(5, i)
                H[0, vi] = X[vi]
        for t in range(3):
            for i, k in T.grid(5, 5):
                with T.block("Z"):
                    vt, vi, vk = T.axis.remap("OSR", [t, i, k])
                    with T.init():
                        Z[vt, vi] = 0.0
                    Z[vt, vi] += H[vt, vk] * U[vk, vi]
            for i in range(5):
                with T.block("H"):
                    vt, vi = T.axis.remap("OS", [t, i])
                    H[vt + 1, vi] = Z[vt, vi]

    return main


@pytest.mark.parametrize("number", [1, 2])
def test_an_ordered_iter_of_an_outer_loop_is_fixed(number):
    sch = Schedule(joined())
    loop = sch.get_loops("Z")[number]
    init = sch.decompose_reduction("Z", loop)
    assert "vt = T.axis.opaque(3, t)" in sch.mod.script()
    assert [sch.get(lp).name for lp in sch.get_loops(init)] == [["t", "i_init"], ["t", "i"]][number - 1]
    u, h = np.random.default_rng(0).random((5, 5), np.float32), np.full((4, 5), np.nan, np.float32)
    x = u[2].copy()
    quick_build(sch.mod)(x, u, h)
    np.testing.assert_allclose(h, [x @ np.linalg.matrix_power(u, t) for t in range(4)], rtol=1e-5)
    assert sch.verify()


def test_an_ordered_iter_of_a_loop_under_the_init_is_refused(refused):
    sch = Schedule(joined())
    refused(
        sch,
        'block "Z" has the ordered iter vt; a reduction has spatial and reduce iters',
        lambda: sch.decompose_reduction("Z", sch.get_loops("Z")[0]),
    )
