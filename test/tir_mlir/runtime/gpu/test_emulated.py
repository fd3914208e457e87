"""Kernels run by the CPU: the threads of a block one after the other, from one barrier to the next."""

import numpy as np
import pytest
from programs.bound import BOUND, matmul
from programs.short import each, program

from tir_mlir import Schedule, build, target
from tir_mlir.dialect.diagnostics import LoweringError


@pytest.mark.parametrize("name", BOUND)
@pytest.mark.few(5)
def test_results(name):
    bound = BOUND[name]
    bound.check(build(bound.schedule(), target="cuda-emulated", cache=False))


def test_the_name():
    assert target.named("cuda-emulated") == target.CUDA("sm_80", emulated=True)


def test_a_program_without_threads_is_refused():
    with pytest.raises(LoweringError, match="is not bound to blocks or threads"):
        build(program("A:8 B:8", each("B:8", "B[vi] = A[vi]")), target="cuda-emulated")


def test_what_no_gpu_launches_is_refused():
    sch = Schedule(program("A:2050 B:2050", each("B:2050", "B[vi] = A[vi]")))
    sch.bind(sch.split(sch.get_loops("B")[0], [2, 1025])[1], "threadIdx.x")
    with pytest.raises(LoweringError, match="a block has 1025 threads"):
        build(sch, target="cuda-emulated")


def test_real_sizes():
    sch, size = matmul(256, 64, 16, 4, 4), 256
    a, b = np.random.default_rng(0).random((2, size, size), dtype=np.float32)
    c = np.full((size, size), np.nan, np.float32)
    build(sch, target="cuda-emulated")(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=2e-5)
