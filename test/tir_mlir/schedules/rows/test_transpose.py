"""schedules.transpose, and elementwise of transposed inputs: any shape and type, by squares in registers."""

import numpy as np
import pytest
from programs.rowwise import chain, reduced
from programs.short import each, program

from tir_mlir import Schedule, build, schedules, te
from tir_mlir.dialect.diagnostics import ScheduleError

RNG = np.random.default_rng(7)


def transposed(m, n, dtype="float32", value=lambda x: x):
    a = te.placeholder((m, n), dtype, name="A")
    return te.create_prim_func([a, te.compute((n, m), lambda i, j: value(a[j, i]), name="B")])


def check(m, n, dtype="float32", **options):
    sch = Schedule(transposed(m, n, dtype))
    schedules.transpose(sch, "B", **options)
    a, b = RNG.integers(-4, 5, (m, n)).astype(dtype), np.full((n, m), 99, dtype)
    build(sch)["main"](a, b)
    np.testing.assert_array_equal(b, a.T)
    return sch


@pytest.mark.parametrize(("m", "n"), [(8, 8), (9, 33), (127, 65), (64, 200)])
def test_any_shape(m, n):
    check(m, n, threads=1)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8"])
def test_element_types(dtype):
    check(33, 70, dtype, threads=1)


def test_threads_share_the_rows():
    assert "T.parallel" in check(300, 700, threads=2).mod.script()


def test_inputs_of_a_computation_are_transposed_into_a_tile():
    sch = Schedule(transposed(70, 33, value=lambda x: x * 2.0 + 1.0))
    schedules.elementwise(sch, "B", threads=1)
    assert "A_global[v1, v0] = A[v0, v1]" in sch.mod.script()
    a, b = RNG.random((70, 33), np.float32), np.zeros((33, 70), np.float32)
    build(sch)["main"](a, b)
    np.testing.assert_allclose(b, 2 * a.T + 1, rtol=1e-6)
    assert sch.verify()


def test_axes_of_a_batch_stay_outside():
    x = te.placeholder((2, 19, 3, 40), name="X")
    y = te.compute((2, 3, 40, 19), lambda n, h, w, c: x[n, c, h, w], name="Y")
    sch = Schedule(te.create_prim_func([x, y]))
    schedules.elementwise(sch, "Y", threads=1)
    a, b = RNG.random((2, 19, 3, 40), np.float32), np.zeros((2, 3, 40, 19), np.float32)
    build(sch)["main"](a, b)
    np.testing.assert_array_equal(b, a.transpose(0, 2, 3, 1))


@pytest.mark.parametrize(("n", "k", "width"), [(96, 40, 48), (90, 33, 9), (64, 100, 16)])
def test_panels_of_rows_are_packed_in_tiles(n, k, width):
    """The last iter is a part of the index of a row."""
    w = te.placeholder((n, k), name="W")
    panels = te.compute((n // width, k, width), lambda p, i, lane: w[p * width + lane, i], name="P")
    sch = Schedule(te.create_prim_func([w, panels]))
    schedules.elementwise(sch, "P", threads=1)
    assert "T.unroll(" in sch.mod.script()
    a, b = RNG.random((n, k), np.float32), np.zeros((n // width, k, width), np.float32)
    build(sch)["main"](a, b)
    np.testing.assert_array_equal(b, a.reshape(-1, width, k).transpose(0, 2, 1))
    assert sch.verify()


@pytest.mark.nightly
def test_sizes_known_when_it_runs():
    sch = Schedule(program("A:mxn B:nxm", each("B j:n i:m", "B[vj, vi] = A[vi, vj]")))
    schedules.transpose(sch, "B", threads=2)
    run = build(sch)["main"]
    for m, n in ((1, 1), (17, 16), (33, 127)):
        a, b = RNG.random((m, n), np.float32), np.zeros((n, m), np.float32)
        run(a, b)
        np.testing.assert_array_equal(b, a.T)


@pytest.mark.parametrize("program", [transposed(7, 40), chain((9, 9), (9,)), reduced((9, 9), (1,))])
def test_a_block_that_transposes_nothing_is_refused(program):
    name = next(n for n in ("out", "B", "C") if f'"{n}"' in program.script())
    with pytest.raises(ScheduleError, match=r"transposes no input of 8 x 8 elements or more; use tir_mlir.schedules"):
        schedules.transpose(Schedule(program), name)
