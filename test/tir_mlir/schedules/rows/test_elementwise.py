"""schedules.elementwise: chains of operators, of any rank, in one pass."""

import re
import warnings

import numpy as np
import pytest
from programs.rowwise import chain, reduced
from programs.short import each, program

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.target import AVX2

RNG = np.random.default_rng(7)


def check(shape, row, dtype="float32", **options):
    sch = Schedule(chain(shape, row, dtype))
    schedules.elementwise(sch, "out", **options)
    x, r = RNG.integers(-4, 5, shape).astype(dtype), RNG.integers(-4, 5, row).astype(dtype)
    y = np.full(shape, 99, dtype)
    build(sch)["main"](x, r, y)
    np.testing.assert_array_equal(y, np.maximum(x * r + x, r) * x)
    return sch


@pytest.mark.parametrize("shape", [(1,), (127,), (3, 17), (4, 5, 3), (7, 1)])
def test_any_shape(shape):
    sch = check(shape, shape[-1:], threads=1)
    assert len(sch.get_child_blocks(sch.get_block("root"))) == 1


@pytest.mark.parametrize(("shape", "row"), [((3, 4, 33), (4, 1)), ((6, 50), (1, 1))])
def test_broadcasts(shape, row):
    check(shape, row, threads=1)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8"])
def test_element_types(dtype):
    check((3, 37), (37,), dtype, threads=1)


@pytest.mark.parametrize("shape", [(70001,), (3, 40000), (300, 301)])
def test_threads(shape):
    assert "T.parallel" in check(shape, shape[-1:], threads=2).mod.script()


@pytest.mark.nightly
def test_sizes_known_when_it_runs():
    sch = Schedule(program("A:mxn B:nxm", each("B j:n i:m", "B[vj, vi] = A[vi, vj] * T.float32(2)")))
    schedules.elementwise(sch, "B", threads=2)
    run = build(sch)["main"]
    for m, n in ((1, 1), (17, 16), (33, 127)):
        a, b = RNG.random((m, n), np.float32), np.zeros((n, m), np.float32)
        run(a, b)
        np.testing.assert_array_equal(b, 2 * a.T)


def test_short_rows_become_one_loop():
    sch = check((40, 3, 2), (1,), threads=1, target=AVX2)
    assert len(sch.get_loops("out")) == 1
    sch = check((40, 15), (15,), threads=1, target=AVX2)  # the row is read again for each line
    assert len(sch.get_loops("out")) == 2


@pytest.mark.parametrize(("columns", "step", "loops"), [(33, 1, 2), (33, 3, 2), (3, 1, 1)])
def test_rows_of_a_crop_are_long_enough_with_one_vector(columns, step, loops):
    a = te.placeholder((7 * step + 1, columns * step + 1), name="A")
    cut = te.compute((7, columns), lambda i, j: a[i * step + 1, j * step + 1] * 2.0, name="B")
    sch = Schedule(te.create_prim_func([a, cut]))
    schedules.elementwise(sch, "B", threads=1)
    assert len(sch.get_loops("B")) == loops
    x, y = RNG.random((7 * step + 1, columns * step + 1), np.float32), np.zeros((7, columns), np.float32)
    build(sch)["main"](x, y)
    np.testing.assert_array_equal(y, 2 * x[1::step, 1::step])


def test_short_rows_of_a_size_known_when_it_runs():
    sch = Schedule(program("A:mx3 B:mx3", each("B i:m j:3", "B[vi, vj] = A[vi, vj] * T.float32(2)")))
    schedules.elementwise(sch, "B", threads=2)
    run = build(sch)["main"]
    for m in (1, 5, 17, 127):
        a, b = RNG.random((m, 3), np.float32), np.zeros((m, 3), np.float32)
        run(a, b)
        np.testing.assert_array_equal(b, 2 * a)


def test_a_reduction_is_refused():
    with pytest.raises(ScheduleError, match=r'block "C" is a reduction; use tir_mlir.schedules.reduction'):
        schedules.elementwise(Schedule(reduced((4, 4), (1,))), "C")


def test_the_code_of_the_error_function_keeps_its_constants_in_registers():
    x = te.placeholder((64, 64), name="X")
    program = te.create_prim_func([x, te.compute((64, 64), lambda i, j: te.erf(x[i, j]), name="Y")])
    sch = Schedule(program)
    schedules.elementwise(sch, "Y", threads=1, target="avx512")
    text = build(sch, target="avx512", cache=False).assembly
    loops = text.count("vfnmadd")  # one a vector
    assert loops and text.count("vmovaps") <= 5 * loops and text.count("vfmadd") <= 18 * loops


def test_loops_that_another_iter_is_added_to_are_not_fused():
    x = te.placeholder((1, 2, 20, 20), "float32", name="X")
    sch = Schedule(te.create_prim_func([x, topi.nn.windows(x, (3, 3), 1, 1)]))
    schedules.elementwise(sch, "T_windows", threads=1)
    assert sch.get(sch.get_loops("T_windows")[-1]).extent == 20


@pytest.mark.parametrize("widths", [(1, 1), (1, 2), (5, 6)])
def test_columns_of_two_buffers_have_vectors_or_none_asked_for(widths):
    a, b = (te.placeholder((3, 20, n), name=f"x{n}{m}") for m, n in enumerate(widths))
    sch = Schedule(te.create_prim_func([a, b, topi.concatenate((a, b), -1)]))
    schedules.elementwise(sch, "T_concat", threads=1)
    x, y = (RNG.random((3, 20, n), np.float32) for n in widths)
    joined = np.zeros((3, 20, sum(widths)), np.float32)
    with warnings.catch_warnings(action="error"):
        build(sch)["main"](x, y, joined)
    np.testing.assert_array_equal(joined, np.concatenate((x, y), -1))


def test_threads_have_equal_pieces_of_a_vector():
    """Not three of 32768 elements and the rest."""
    a = te.placeholder((100000,), name="A")
    sch = Schedule(te.create_prim_func([a, te.compute((100000,), lambda i: a[i] * 2.0, name="B")]))
    schedules.elementwise(sch, "B", target="avx2", threads=2)
    assert re.search(r"T.parallel\(4\):\s+for i_1 in T.vectorized\(25000\)", sch.mod.script())
