"""schedules.reduction: any axes of any rank, by vectors and threads."""

import numpy as np
import pytest
from programs.parsed import parse
from programs.rowwise import chain, reduced
from programs.short import each, program

from tir_mlir import Schedule, build, schedules, te
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.target import AVX2, Target

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
RNG = np.random.default_rng(7)
NUMPY = {te.sum: np.sum, te.max: np.max, te.min: np.min}


def check(shape, axes, dtype="float32", op=te.sum, **options):
    sch = Schedule(reduced(shape, axes, dtype, op, before=lambda x: x + x))
    schedules.reduction(sch, "C", **options)
    x = RNG.integers(-4, 5, shape).astype(dtype)
    want = np.atleast_1d(NUMPY[op](x + x, axis=axes)).astype(dtype)
    c = np.full(want.shape, 99, dtype)
    build(sch)["main"](x, c)
    np.testing.assert_array_equal(c, want)
    return sch


@pytest.mark.parametrize("shape", [(1, 1), (15, 17), (16, 127)])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_ragged_sizes(shape, axes):
    check(shape, axes, threads=1)


@pytest.mark.parametrize("axes", [(1,), (0, 2), (1, 2), (0, 1, 2)])
def test_three_axes(axes):
    check((5, 18, 19), axes, target=SMALL, threads=1)


@pytest.mark.parametrize("op", [te.max, te.min])
def test_other_combiners(op):
    check((6, 37), (1,), op=op, threads=1)


@pytest.mark.parametrize("dtype", ["float64", "int8"])
def test_element_types(dtype):
    check((6, 20), (1,), dtype, threads=1)


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_threads(axes):
    assert "T.parallel" in check((600, 301), axes, threads=2).mod.script()
    sch = Schedule(reduced((50, 30), axes))
    schedules.reduction(sch, "C", threads=2)
    assert "parallel" not in sch.mod.script()


def test_one_result_has_a_part_for_each_thread():
    assert "in T.parallel(2)" in check((600, 301), (0, 1), threads=2).mod.script()


@pytest.mark.parametrize("turned", [False, True])
def test_sizes_known_when_it_runs(turned):
    index = "vk, vi" if turned else "vi, vk"
    sch = Schedule(
        parse(f"""
@T.prim_func
def main(a: T.handle, c: T.handle):
    m = T.int32()
    n = T.int32()
    A = T.match_buffer(a, ({"n, m" if turned else "m, n"}), "float32")
    C = T.match_buffer(c, (m,), "float32")
    for i, k in T.grid(m, n):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[{index}]
""")
    )
    schedules.reduction(sch, "C", threads=2)
    run = build(sch)["main"]
    for m, n in ((1, 1), (17, 16), (33, 127)):
        a, c = RNG.integers(-4, 5, (m, n)).astype("float32"), np.full(m, 99, "float32")
        run(np.ascontiguousarray(a.T) if turned else a, c)
        np.testing.assert_array_equal(c, a.sum(1))


def test_several_results_at_once():
    sch = Schedule(
        program(
            "A:9x50 I:9:int32 V:9",
            each(
                "argmax i:9 k:50R",
                "index: T.int32 = T.Select(V[vi] >= A[vi, vk], I[vi], vk)",
                "value: T.float32 = T.Select(V[vi] >= A[vi, vk], V[vi], A[vi, vk])",
                "I[vi] = index",
                "V[vi] = value",
                init="I[vi] = -1; V[vi] = T.min_value('float32')",
            ),
        )
    )
    schedules.reduction(sch, "argmax", threads=1)
    a, at, value = RNG.random((9, 50), np.float32), np.zeros(9, np.int32), np.zeros(9, np.float32)
    build(sch)["main"](a, at, value)
    np.testing.assert_array_equal(at, a.argmax(1))
    np.testing.assert_array_equal(value, a.max(1))


def test_several_results_of_an_unknown_kind():
    lines = (
        "less: T.float32 = V[vi] - A[vi, vk]",
        "more: T.float32 = W[vi] - 2 * A[vi, vk]",
        "V[vi] = less",
        "W[vi] = more",
    )
    sch = Schedule(program("A:3x64 V:3 W:3", each("C i:3 k:64R", *lines, init="V[vi] = 0.0; W[vi] = 0.0")))
    schedules.reduction(sch, "C", threads=1)
    a, v, w = RNG.integers(-4, 5, (3, 64)).astype("float32"), np.zeros(3, "float32"), np.zeros(3, "float32")
    build(sch)["main"](a, v, w)
    np.testing.assert_array_equal([v, w], [-a.sum(1), -2 * a.sum(1)])


def test_nothing_to_reduce():
    with pytest.raises(ScheduleError, match=r'block "out" is not a reduction; use tir_mlir.schedules.elementwise'):
        schedules.reduction(Schedule(chain((4, 4), (4,))), "out")


@pytest.mark.parametrize(("columns", "together"), [(128, False), (8192, True)])
def test_rows_are_read_together_unless_their_results_fit_in_registers(columns, together):
    sch = check((40, columns), (0,), target="avx512", threads=1)
    assert ("T.unroll(8)" in sch.mod.script()) == together
    assert sch.verify()


@pytest.mark.parametrize(("last", "fused"), [(3, True), (20, True), (16, False), (127, False)])
def test_axes_of_a_sum_become_one_loop_if_the_last_does_not_fill_its_vectors(last, fused):
    sch = Schedule(reduced((7, 6, last), (1, 2)))
    schedules.reduction(sch, "C", AVX2, threads=1)
    blocks = [sch.get(b).name for b in sch.get_child_blocks(sch.get_block("root"))]
    assert blocks == (["C_init", "C_update"] if fused else ["C"])
    x, y = RNG.random((7, 6, last), np.float32), np.zeros(7, "f")
    build(sch)["main"](x, y)
    np.testing.assert_allclose(y, x.sum((1, 2)), rtol=1e-5)
