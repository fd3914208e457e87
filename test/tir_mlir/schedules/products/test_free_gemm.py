"""schedules.gemm(free=True): every point is the same product; the defaults are the schedule without it."""

from __future__ import annotations

import numpy as np
import pytest
from harness.spaces import check_points
from programs.products import batched, matrix_vector, product, widened
from programs.quantized import Weights, dequantized_product, packed_weights

from tir_mlir import Schedule, schedules
from tir_mlir.schedules.block_queries import LARGE
from tir_mlir.schedules.products.free_products import depths
from tir_mlir.target import Target
from tir_mlir.tune.spaces.deciders import Defaults, Recording

WIDE = Target(vector_bits=256, registers=32, l1=1 << 10, l2=8 << 10, l3=16 << 10, cores=2)
SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
RNG = np.random.default_rng(7)


def points(m, n, k, count=4, left=False, right=False, **options):
    a, b = (RNG.integers(-4, 5, s).astype("float32") for s in ((k, m) if left else (m, k), (n, k) if right else (k, n)))
    return check_points(
        product(m, n, k, left_turned=left, right_turned=right),
        lambda sch: schedules.gemm(sch, "C", free=True, **options),
        [a, b], (a.T if left else a) @ (b.T if right else b), count,
    )  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize(("m", "n", "k"), [(15, 17, 127), (127, 15, 1), (33, 70, 40), (17, 127, 300)])
def test_every_point_of_panels_is_the_product(m, n, k):
    points(m, n, k, target=WIDE, threads=1)


@pytest.mark.few(1)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_points_with_transposed_operands(left, right):
    points(17, 127, 33, left=left, right=right, target=WIDE, threads=1)


def test_points_with_threads():
    names = points(151, 160, 90, target=WIDE, threads=2)
    assert "C.threads" in names


def test_threads_may_share_columns():
    decider = Recording(Defaults())
    schedules.gemm(Schedule(product(151, 160, 90), decider=decider), "C", WIDE, 2, free=True)
    assert "C.by_columns" in decider.decisions


@pytest.mark.few(1)
@pytest.mark.parametrize(("m", "n", "k"), [(15, 17, 127), (127, 15, 1), (151, 160, 90)])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_point_of_blocks_is_the_product(m, n, k, threads):
    points(m, n, k, 3, target=SMALL, threads=threads)


def test_what_is_free_in_blocks():
    names = points(127, 70, 300, 6, target=SMALL, threads=1)
    assert names >= {f"C.{field}" for field in "tile_vectors depth rows columns pack_right pack_left prefetch".split()}


def test_points_of_a_batch():
    a, b = (RNG.integers(-4, 5, s).astype("float32") for s in ((3, 15, 33), (3, 33, 17)))
    check_points(batched(3, 15, 17, 33), lambda sch: schedules.gemm(sch, "C", SMALL, 2, free=True), [a, b], a @ b)


@pytest.mark.few(2)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("n", "k"), [(17, 127), (300, 1100)])
def test_points_of_a_matrix_times_a_vector(turned, n, k):
    a, x = (RNG.integers(-4, 5, s).astype("float32") for s in ((n, k), (k,)))
    names = check_points(
        matrix_vector(n, k, turned=turned),
        lambda sch: schedules.gemv(sch, "C", SMALL, 2, free=True),
        [a.T.copy() if turned else a, x], a @ x,
    )  # fmt: skip
    assert "C.streams" in names


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_points_of_dot_products(kind):
    a, b = (RNG.integers(0, 100, s).astype(kind) for s in ((33, 70), (70, 47)))
    program = widened(33, 47, 70, kind)
    expected = a.astype("int32") @ b.astype("int32")
    check_points(program, lambda sch: schedules.gemm(sch, "C", None, 1, free=True), [a, b], expected)


@pytest.mark.parametrize("m", [1, 5, 70])
def test_points_of_dequantised_products(m):
    weights = Weights(40, 128, form="halves")
    q, s, matrix = packed_weights(weights, RNG)
    a = RNG.integers(-4, 5, (m, 128)).astype("float32")
    check_points(
        dequantized_product(m, weights),
        lambda sch: schedules.gemm(sch, "C", SMALL, 1, free=True), [q, s, a], a @ matrix.T, 3,
    )  # fmt: skip


def test_what_is_free_in_panels():
    names = points(127, 70, 300, 6, target=WIDE, threads=1)
    fields = "tile_vectors tile_rows depth unroll packed block prefetch"
    assert names >= {f"C.{field}" for field in fields.split()}


def test_the_defaults_are_the_schedule_itself():
    free, fixed = Schedule(product(127, 70, 300), decider=Defaults()), Schedule(product(127, 70, 300))
    schedules.gemm(free, "C", WIDE, 1, free=True)
    schedules.gemm(fixed, "C", WIDE, 1)
    assert free.mod.script() == fixed.mod.script()


def test_without_free_nothing_is_sampled():
    sch = Schedule(product(127, 70, 300))
    schedules.gemm(sch, "C", WIDE, 1)
    assert not sch.trace.decisions


def test_a_long_reduction_may_be_split():
    sch = Schedule(product(64, 64, 512), decider=Defaults())
    schedules.gemm(sch, "C", Target(vector_bits=512, registers=32, l1=32 << 10, l2=1 << 20, l3=32 << 20), 1, free=True)
    depth = next(i for i in sch.trace if i.arguments.get("name") == "C.depth")
    assert depth.arguments["candidates"] == [128, 256, 512]


@pytest.mark.parametrize(
    ("k", "candidates"),
    [
        (1024, {128, 256, 512, 1024}),
        (1000, {250, 500, 1000}),
        (127, {127}),
        (1021, {256, 511, 1021}),
        (300, {150, 300}),
    ],
)
def test_passes_over_the_reduction_are_even(k, candidates):
    assert set(depths(k, k)) == candidates


def test_a_reduction_of_symbolic_length_has_its_default_depth():
    assert list(depths(LARGE, 96)) == [96]
