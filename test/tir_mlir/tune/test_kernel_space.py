"""The space of kernels for a GPU: every point is a schedule that runs as kernels."""

import numpy as np
import pytest
from programs.short import each, program

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.tune.spaces.kernels import kernels

PRODUCT = each("C i:48 j:40 k:24R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0")
SOFT = each("D i:48 j:40", "D[vi, vj] = C[vi, vj] * 2.0")


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_products_with_what_follows(seed):
    sch = Schedule(program("A:48x24 B:24x40 D:48x40; C:48x40", PRODUCT, SOFT), seed=seed)
    kernels(sch)
    draw = np.random.default_rng(0)
    a, b = draw.random((48, 24), dtype=np.float32), draw.random((24, 40), dtype=np.float32)
    d = np.zeros((48, 40), np.float32)
    build(sch, target="cuda-emulated")(a, b, d)
    np.testing.assert_allclose(d, a @ b * 2, rtol=1e-5)


def test_the_first_choice_is_a_tile_in_shared_memory():
    sch = Schedule(program("A:48x24 B:24x40 C:48x40", PRODUCT), seed=0)
    kernels(sch)
    assert 'scope="shared"' in sch.mod.script()


def test_a_program_without_loops_is_refused():
    sch = Schedule(program("A:1", '    with T.block("A"):\n        A[0] = 1.0'))
    with pytest.raises(ScheduleError, match='block "A" has no loop'):
        kernels(sch)
