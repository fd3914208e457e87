"""schedules.gemm(packed=...): a parameter that the caller packs once."""

import numpy as np
import pytest
from programs.products import batched, product

from tir_mlir import Schedule, build, schedules
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.target import Target

SMALL = Target(vector_bits=128, registers=16, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
WIDE = Target(vector_bits=256, registers=32, l1=1 << 10, l2=8 << 10, l3=16 << 10, cores=2)
RNG = np.random.default_rng(5)


def ints(*shape):
    return RNG.integers(-4, 5, shape).astype("float32")


@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("n", [15, 96, 127])
def test_right_operand(n, turned, threads, target):
    sch = Schedule(product(40, n, 70, right_turned=turned))
    packing = schedules.gemm(sch, "C", target, threads, packed="B")
    a, b, c = ints(40, 70), ints(70, n), np.full((40, n), 99, "float32")
    packed = packing(b.T.copy() if turned else b)
    assert packed.shape == packing.packed_shape and packed.ctypes.data % 64 == 0
    build(sch)(a, packed, c)
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.nightly
@pytest.mark.parametrize("turned", [False, True])
def test_left_operand(turned):
    sch = Schedule(product(41, 33, 70, left_turned=turned))
    packing = schedules.gemm(sch, "C", WIDE, 1, packed="A")
    a, b, c = ints(41, 70), ints(70, 33), np.empty((41, 33), "float32")
    build(sch)(packing(a.T.copy() if turned else a), b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_a_batch():
    sch = Schedule(batched(3, 17, 18, 19))
    packing = schedules.gemm(sch, "C", WIDE, 1, packed="B")
    a, b, c = ints(3, 17, 19), ints(3, 19, 18), np.empty((3, 17, 18), "float32")
    build(sch)(a, packing(b), c)
    np.testing.assert_array_equal(c, a @ b)


def test_nothing_is_packed_in_the_call():
    sch = Schedule(product(64, 256, 256))
    schedules.gemm(sch, "C", WIDE, 1, packed="B")
    assert "B_global" not in sch.mod.script()


@pytest.mark.parametrize(
    ("program", "name", "message"),
    [
        (product(8, 16, 8), "D", "the operands are A and B"),
        (product(1, 16, 8), "B", "a product with one row or column reads each element once"),
        (product(8, "n", 8), "B", "its shape must be constant"),
    ],
)
def test_refusals(program, name, message):
    with pytest.raises(ScheduleError, match=f'packed="{name}": {message}'):
        schedules.gemm(Schedule(program), "C", packed=name)
