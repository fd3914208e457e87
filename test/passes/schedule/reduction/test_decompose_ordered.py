"""decompose_reduction of blocks with ordered iters."""

import numpy as np
import pytest
from harness.schedules import quick_build
from programs.short import each, nest, program, sblock

from tir_mlir import Schedule


def joined():
    """The time steps with the sums of a step in a buffer of their own."""

    return program(
        "X:5 U:5x5 H:4x5; Z:3x5",
        each("start:5", "H[0, vi] = X[vi]"),
        nest(
            "t:3",
            nest("i:5 k:5", sblock("Z", "OSR t i k", "Z[vt, vi] += H[vt, vk] * U[vk, vi]", init="Z[vt, vi] = 0.0")),
            nest("i:5", sblock("H", "OS t i", "H[vt + 1, vi] = Z[vt, vi]")),
        ),
    )


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
