"""schedules.gemm(free=True) with every decision at its default is the schedule of the library."""

import pytest
from programs.products import batched, matrix_vector, product, widened

from tir_mlir import Schedule, schedules
from tir_mlir.target import SAPPHIRE_RAPIDS, ZEN4, Target
from tir_mlir.tune.spaces.deciders import Defaults

SMALL = Target(vector_bits=256, registers=16, l1=32 << 10, l2=256 << 10, l3=4 << 20, cores=2)
WIDE = Target(vector_bits=512, registers=32, l1=32 << 10, l2=1 << 20, l3=32 << 20, cores=2)
TARGETS = pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])


def check(program, target, threads=1):
    found = []
    for free in (True, False):
        sch = Schedule(program, decider=Defaults())
        schedules.gemm(sch, "C", target, threads, free=free)
        found.append(sch.mod.script())
    assert found[0] == found[1]


@pytest.mark.few(6)
@TARGETS
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("m", [2, 16, 17, "m"])
def test_rows(m, right, target):
    check(product(m, 70, 45, right_turned=right), target)


@pytest.mark.nightly
@pytest.mark.few(2)
@TARGETS
@pytest.mark.parametrize("m", [16, "m"])
def test_rows_shared_by_threads(m, target):
    check(product(m, 1000, 1024), target, threads=2)


@pytest.mark.nightly
@pytest.mark.few(4)
@TARGETS
@pytest.mark.parametrize("sizes", [(40, 1, 33), (127, 5, 33), (16, 16, 4000), ("m", "n", "k")])
def test_columns_and_steps(sizes, target):
    check(product(*sizes), target)


@pytest.mark.nightly
@pytest.mark.parametrize("m", [2, "m"])
def test_float64(m):
    check(product(m, 64, 64, "float64"), WIDE)


@pytest.mark.few(3)
@pytest.mark.parametrize(("dtype", "sums"), [("int8", "int32"), ("bfloat16", "float32"), ("float16", "float32")])
@pytest.mark.parametrize("m", [2, 40])
def test_narrow_types(m, dtype, sums):
    check(widened(m, 64, 64, dtype, sums), WIDE)


@pytest.mark.nightly
@pytest.mark.few(2)
@pytest.mark.parametrize("cpu", [ZEN4, SAPPHIRE_RAPIDS], ids=["zen4", "sapphire_rapids"])
@pytest.mark.parametrize("m", [2, 64])
def test_instructions_for_narrow_types(m, cpu):
    check(widened(m, 64, 64, "int8", "int32"), cpu)


@pytest.mark.parametrize("threads", [1, 2])
def test_batches(threads):
    check(batched(4, 33, 400, 128), WIDE, threads)


@pytest.mark.parametrize("turned", [False, True])
def test_vectors(turned):
    found = []
    for free in (True, False):
        sch = Schedule(matrix_vector(70, 1000, turned=turned), decider=Defaults())
        schedules.gemv(sch, "C", WIDE, 1, free=free)
        found.append(sch.mod.script())
    assert found[0] == found[1]
