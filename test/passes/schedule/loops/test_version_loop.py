"""version_loop: one of the copies of a nest runs, and does what the loop did."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import reads_back
from programs.parsed import parse
from programs.products import product
from programs.short import each, main

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import ScheduleError

SIZES = (0, 1, 2, 3, 16, 17, 40)

ROWS = main(
    "A:mx12 C:mx12; B:mx12",
    each("B i:m j:12", "B[vi, vj] = A[vi, vj] * 2.0"),
    each("C i:m j:12", "C[vi, vj] = B[vi, vj] + 1.0"),
)
TRIANGLE = """
@T.prim_func
def main(a: T.handle):
    m = T.int32()
    A = T.match_buffer(a, (m, m), "float32")
    for i in range(m):
        for j in range(i + 1):
            with T.block("A"):
                vi = T.axis.spatial(m, i)
                vj = T.axis.spatial(m, j)
                A[vi, vj] = 1.0
"""


def check_product(sch: Schedule) -> None:
    assert sch.verify()
    lib, rng = build(sch), np.random.default_rng(0)
    for m in SIZES:
        a, b = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((m, 9), (9, 20)))
        c = np.full((m, 20), 99, np.float32)
        lib(a, b, c)
        np.testing.assert_array_equal(c, a @ b)


def check_rows(sch: Schedule) -> None:
    assert sch.verify()
    lib = build(sch)
    for m in SIZES:
        a = np.arange(m * 12, dtype=np.float32).reshape(m, 12)
        c = np.full_like(a, -1)
        lib(a, c)
        np.testing.assert_array_equal(c, a * 2 + 1)


def test_each_version_is_scheduled_for_its_range():
    sch = Schedule(product("m", 20, 9))
    block = sch.get_block("C")
    few, some, many = sch.version_loop(sch.get_loops(block)[0], [2, 16])
    sch.vectorize(sch.get_loops(sch.get_child_blocks(few)[0])[1])
    sch.unroll(sch.split(some, [None, 4])[1])
    tiled = sch.cache_write(block, 0, "local")
    sch.reverse_compute_at(tiled, many)
    sch.parallel(many)
    check_product(sch)
    reads_back(sch)


def test_the_last_version_is_the_nest_from_before():
    sch = Schedule(product("m", 20, 9))
    block, loop = sch.get_block("C"), sch.get_loops("C")[0]
    versions = sch.version_loop(loop, [16])
    assert [sch.get(x).name for x in versions] == ["i0", "i"]
    assert sch.get(versions[-1]) == sch.get(loop)
    assert [sch.get(b).name for x in versions for b in sch.get_child_blocks(x)] == ["C_i0", "C"]
    sch.split(sch.get_loops(block)[1], [None, 4])
    check_product(sch)


@pytest.mark.parametrize("name", ["B", "C"])
def test_consumers_and_producers_see_one_writer(name):
    sch = Schedule(parse(ROWS))
    sch.version_loop(sch.get_loops(name)[0], [3, 16])
    sch.parallel(sch.get_loops(name)[0])
    check_rows(sch)
    reads_back(sch)


def test_versions_of_an_inner_loop():
    sch = Schedule(parse(ROWS))
    i, j = sch.get_loops("B")
    sch.reorder(j, i)
    few, _ = sch.version_loop(i, [3])
    sch.split(few, [None, 2])
    check_rows(sch)


def test_a_version_has_versions():
    sch = Schedule(product("m", 20, 9))
    few, _ = sch.version_loop(sch.get_loops("C")[0], [16])
    sch.version_loop(few, [1])
    check_product(sch)


def test_the_number_of_tiles_selects():
    sch = Schedule(product("m", 20, 9))
    tiles, _ = sch.split(sch.get_loops("C")[0], [None, 4])
    sch.version_loop(tiles, [1])
    assert "T.where((m + 3) // 4 < 2)" in sch.mod.script()
    check_product(sch)


@pytest.mark.parametrize(
    ("limits", "why"),
    [([], "needs at least one number"), ([0], "must be positive and increase"), ([4, 4], "must be positive and incr")],
)
def test_limits_are_refused(limits, why, refused):
    sch = Schedule(product("m", 20, 9))
    refused(sch, why, lambda: sch.version_loop(sch.get_loops("C")[0], limits))


def test_a_constant_size_has_one_version():
    sch = Schedule(product(16, 20, 9))
    with pytest.raises(ScheduleError, match="loop i always runs 16 times, so one version is enough"):
        sch.version_loop(sch.get_loops("C")[0], [4])


def test_a_size_that_varies():
    sch = Schedule(parse(TRIANGLE))
    i, j = sch.get_loops("A")
    with pytest.raises(ScheduleError, match="the number of iterations of loop j varies while the program runs"):
        sch.version_loop(j, [4])
    sch.version_loop(i, [4])
    assert sch.verify()


def test_several_bounds_are_refused():
    sch = Schedule(parse(TRIANGLE.replace("range(i + 1)", "T.serial(T.min(i, 4))")))
    with pytest.raises(ScheduleError, match=r"loop j ends at the minimum of several bounds"):
        sch.version_loop(sch.get_loops("A")[1], [4])
