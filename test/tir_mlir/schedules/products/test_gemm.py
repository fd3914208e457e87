"""schedules.gemm: any shape, any layout, any thread count gives NumPy's product."""

from dataclasses import replace

import numpy as np
import pytest
from programs.products import batched, product
from programs.reduction import row_sums
from programs.short import each, program

from tir_mlir import Schedule, build, schedules
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.prediction.thread_shares import parallel_regions
from tir_mlir.schedules.products.gemm_panels import BLOCKS
from tir_mlir.target import Target

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
"""Caches so small that every level of tiles is there."""
WIDE = Target(vector_bits=256, registers=32, l1=1 << 10, l2=8 << 10, l3=16 << 10, cores=2)
"""So many registers that tiles are wide, and so small an L2 that panels are packed and reductions split."""
RNG = np.random.default_rng(7)


def check(program, shapes, run=lambda a, b: a @ b, dtype="float32", **options):
    sch = Schedule(program)
    schedules.gemm(sch, "C", **options)
    a, b = (RNG.integers(-4, 5, s).astype(dtype) for s in shapes[:2])
    c = np.full(shapes[2], 99, dtype)
    build(sch)["main"](a, b, c)
    np.testing.assert_array_equal(c, run(a, b))
    return sch


@pytest.mark.few(5)
@pytest.mark.parametrize("target", [None, SMALL, WIDE], ids=["host", "small", "wide"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (16, 16, 16), (15, 17, 127), (127, 15, 1), (33, 70, 40)])
def test_ragged_sizes(m, n, k, target):
    check(product(m, n, k), [(m, k), (k, n), (m, n)], target=target, threads=1)


@pytest.mark.few(3)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("k", [1, 29])
@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
def test_transposed_operands(left, right, k, target):
    m, n = 17, 33
    shapes = [(k, m) if left else (m, k), (n, k) if right else (k, n), (m, n)]
    run = lambda a, b: (a.T if left else a) @ (b.T if right else b)  # noqa: E731
    check(product(m, n, k, left_turned=left, right_turned=right), shapes, run, target=target, threads=1)


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_element_types(dtype):
    check(product(13, 22, 37, dtype), [(13, 37), (37, 22), (13, 22)], dtype=dtype, target=SMALL, threads=1)


@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
def test_threads_share_the_rows(target):
    sch = check(product(150, 160, 90), [(150, 90), (90, 160), (150, 160)], target=target, threads=2)
    assert "T.parallel" in sch.mod.script()


def test_threads_share_the_columns_where_they_divide_evenly():
    sch = check(product(150, 256, 90), [(150, 90), (90, 256), (150, 256)], target=WIDE, threads=2)
    assert "for j_0 in T.parallel(8)" in sch.mod.script()


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("n", [40, 65])
def test_threads_start_once_where_a_sum_is_split(left, n):
    """In place of for each part of the sum, as the right operand is packed as a whole."""
    m, k, target = 61, 150, replace(SMALL, l3=1 << 20)
    run = lambda a, b: (a.T if left else a) @ b  # noqa: E731
    shapes = [(k, m) if left else (m, k), (k, n), (m, n)]
    sch = check(product(m, n, k, left_turned=left), shapes, run, target=target, threads=2)
    regions = parallel_regions(sch.mod.mlir)
    assert "C_rf" in sch.mod.script() and [region.entries for region in regions] == [1] * len(regions)


def test_a_long_reduction_is_split_into_panels():
    sch = check(product(40, 96, 700), [(40, 700), (700, 96), (40, 96)], target=WIDE, threads=1)
    assert "C_rf" in sch.mod.script()


@pytest.mark.parametrize(("m", "n", "threads"), [(48, 50, 1), (63, 33, 1), (65, 50, 2), (127, 50, 1)])
def test_few_registers_do_with_panels_where_the_left_operand_is_read_seldom(m, n, threads):
    shapes = [(m, 33), (33, n), (m, n)]
    sch = check(product(m, n, 33), shapes, target=SMALL, threads=threads)
    assert "j_2" not in sch.mod.script(), "columns are in blocks"


@pytest.mark.parametrize(("m", "n", "l3"), [(127, 200, 16 << 10), (127, 15, 1 << 20), (17, 50, 16 << 10)])
def test_few_registers_take_blocks_where_panels_take_more_time(m, n, l3):
    """The left operand is read often, the right one is small, or few rows use a panel."""
    target = replace(SMALL, l3=l3)
    sch = check(product(m, n, 33), [(m, 33), (33, n), (m, n)], target=target, threads=1)
    assert "j_2" in sch.mod.script()


@pytest.mark.parametrize(("l3", "threads", "blocked"), [(1024, 1, True), (256, 1, False), (1024, 2, False)])
def test_blocks_of_rows_pass_over_panels_that_come_fast_enough(l3, threads, blocked):
    """The panels take 96 KB: they come from L3 as fast as a tile takes them, and not from memory."""
    m, n, k = 301, 96, 250
    target = replace(WIDE, l2=64 << 10, l3=l3 << 10)
    sch = check(product(m, n, k), [(m, k), (k, n), (m, n)], target=target, threads=threads)
    first, *_, rows, _ = (sch.get(x).extent for x in sch.get_loops("C_update"))
    assert (first == -(-m // (BLOCKS[-1] * rows))) == blocked


@pytest.mark.parametrize(
    ("l2", "threads", "outer"), [(192, 1, [3, 17, 3]), (448, 1, [8, 17]), (64, 1, [3, 8, 8]), (192, 2, [4, 17, 2])]
)
def test_a_tile_of_rows_passes_over_the_panels_that_half_of_l2_holds(l2, threads, outer):
    """A panel takes 32 KB; not if L2 holds all three matrices, and none if it holds one panel: then rows are in blocks.
    Threads have equal numbers of panels."""
    m, n, k = 101, 250, 250
    target = replace(WIDE, l2=l2 << 10, l3=1 << 20)
    sch = check(product(m, n, k), [(m, k), (k, n), (m, n)], target=target, threads=threads)
    extents = [sch.get(x).extent for x in sch.get_loops("C_update")]
    assert extents == [*outer, 63, 4, 6, 32]


@pytest.mark.parametrize(("m", "n", "packs"), [(192, 50, True), (40, 50, False), (192, 48, False)])
def test_rows_that_are_read_often_across_lines_are_packed(m, n, packs):
    """Of a right operand that L2 holds: 24 tiles read it, and L1 holds rows of 48 columns where they are."""
    target = replace(WIDE, l1=32 << 10, l2=256 << 10, l3=1 << 20)
    sch = check(product(m, n, 40), [(m, 40), (40, n), (m, n)], target=target, threads=1)
    assert ("B_global" in sch.mod.script()) == packs


@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
def test_a_batch(target):
    check(batched(3, 17, 18, 19), [(3, 17, 19), (3, 19, 18), (3, 17, 18)], target=target, threads=1)


def test_threads_take_whole_products_of_a_batch():
    sch = check(batched(6, 70, 80, 90), [(6, 70, 90), (6, 90, 80), (6, 70, 80)], target=SMALL, threads=2)
    assert "for h in T.parallel(6)" in sch.mod.script()


def test_threads_take_products_of_a_short_sum():
    # no block is named "C" at the end
    sch = check(batched(6, 160, 160, 16), [(6, 160, 16), (6, 16, 160), (6, 160, 160)], threads=2)
    assert "for h in T.parallel(6)" in sch.mod.script()


@pytest.mark.nightly
@pytest.mark.filterwarnings("error", "ignore:.*registers of accumulators")  # of CPUs with 16
@pytest.mark.parametrize(("target", "threads"), [(SMALL, 1), (WIDE, 1), (WIDE, 2)], ids=["small", "wide", "shared"])
def test_sizes_known_when_it_runs(target, threads):
    program = product("m", "n", "k")
    sch = Schedule(program)
    schedules.gemm(sch, "C", target=target, threads=threads)
    run = build(sch)["main"]
    for m, n, k in ((1, 1, 1), (16, 16, 16), (17, 127, 15)):
        a, b, c = (RNG.integers(-4, 5, s).astype("float32") for s in ((m, k), (k, n), (m, n)))
        run(a, b, c)
        np.testing.assert_array_equal(c, a @ b)


def test_the_trace_is_the_schedule():
    sch = Schedule(product(40, 40, 40))
    schedules.gemm(sch, "C", target=SMALL, threads=1)
    again = Schedule(product(40, 40, 40))
    sch.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == sch.mod.script()


def test_no_product():
    with pytest.raises(ScheduleError, match='block "C" is not a matrix product: it must have one output, two inputs'):
        schedules.gemm(Schedule(row_sums(8, 8)), "C")


def test_a_sum_scattered_into_rows_is_no_product():
    scattered = program(
        "A:1x5:int32 X:1:int32 C:1x5:int32",
        each("C j:5 i:1R", "C[X[vi], vj] = C[X[vi], vj] + A[vi, vj]"),
        name="scattered",
    )
    with pytest.raises(ScheduleError, match='block "C" is not a matrix product: each operand must be indexed by the'):
        schedules.gemm(Schedule(scattered), "C")


@pytest.mark.nightly
def test_one_program_for_all_sizes_keeps_its_tiles():
    """Tiles in registers and whole vectors, whatever the sizes turn out to be."""
    sch = Schedule(product("m", "n", "k"))
    schedules.gemm(sch, "C", target=Target(vector_bits=128, registers=16), threads=1)
    lib = build(sch)
    for m, n, k in ((6, 8, 700), (127, 129, 15), (300, 17, 341)):
        a, b, c = (RNG.integers(-4, 5, s).astype("float32") for s in ((m, k), (k, n), (m, n)))
        lib["main"](a, b, c)
        np.testing.assert_array_equal(c, a @ b)
