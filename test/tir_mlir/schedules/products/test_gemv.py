"""schedules.gemv: both ways a matrix can lie, any extents, batches and axes of one element."""

from dataclasses import replace

import numpy as np
import pytest
from programs.products import batched, matrix_vector, product

from tir_mlir import Schedule, build, schedules
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.target import Target

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
RNG = np.random.default_rng(11)


def check(program, shapes, run, dtype="float32", **options):
    sch = Schedule(program)
    schedules.gemv(sch, "C", **options)
    a, b = (RNG.integers(-4, 5, s).astype(dtype) for s in shapes[:2])
    c = np.full(shapes[2], 99, dtype)
    build(sch)["main"](a, b, c)
    np.testing.assert_array_equal(c, run(a, b))
    return sch


@pytest.mark.few(8)
@pytest.mark.parametrize("target", [None, SMALL], ids=["host", "small"])
@pytest.mark.parametrize("turned", [False, True], ids=["along the sum", "along the result"])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (15, 17), (16, 16), (127, 1), (1, 127), (300, 129)])
def test_ragged_sizes(n, k, turned, target):
    run = lambda a, x: (a.T if turned else a) @ x  # noqa: E731
    shapes = [(k, n) if turned else (n, k), (k,), (n,)]
    check(matrix_vector(n, k, turned=turned), shapes, run, target=target, threads=1)


@pytest.mark.parametrize(("n", "k", "several"), [(15, 256, True), (17, 144, False)], ids=["of 16 vectors", "of 9"])
def test_a_row_that_is_read_alone_has_several_sums(n, k, several):
    target = replace(SMALL, vector_bits=512)
    sch = check(matrix_vector(n, k), [(n, k), (k,), (n,)], lambda a, x: a @ x, target=target, threads=1)
    assert ("C_rf_rf" in sch.mod.script()) == several


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_element_types(dtype, turned):
    run = lambda a, x: (a.T if turned else a) @ x  # noqa: E731
    shapes = [(37, 22) if turned else (22, 37), (37,), (22,)]
    check(matrix_vector(22, 37, dtype, turned=turned), shapes, run, dtype, target=SMALL, threads=1)


@pytest.mark.parametrize(("m", "n"), [(1, 70), (70, 1)])
@pytest.mark.parametrize("turned", [False, True])
def test_one_row_or_column_of_a_product(m, n, turned):
    shapes = [(m, 45), (n, 45) if turned else (45, n), (m, n)]
    check(product(m, n, 45, right_turned=turned), shapes, lambda a, b: a @ (b.T if turned else b), target=SMALL)


def test_a_batch_of_rows():
    check(batched(3, 1, 18, 19), [(3, 1, 19), (3, 19, 18), (3, 1, 18)], lambda a, b: a @ b, target=SMALL)


def test_threads_share_the_result():
    sch = check(matrix_vector(700, 600), [(700, 600), (600,), (700,)], lambda a, x: a @ x, target=SMALL, threads=2)
    assert "T.parallel" in sch.mod.script()
    shapes = [(600, 700), (600,), (700,)]
    sch = check(matrix_vector(700, 600, turned=True), shapes, lambda a, x: a.T @ x, target=SMALL, threads=2)
    assert "T.parallel" in sch.mod.script()


@pytest.mark.parametrize(
    ("n", "k", "shared"), [(127, 4096, True), (17, 30002, True), (127, 4097, False), (4096, 100, False)]
)
def test_threads_share_long_sums_of_rows_of_a_matrix(n, k, shared):
    """In place of columns, whose parts of the rows are not adjacent."""
    program = matrix_vector(n, k, turned=True)
    sch = check(program, [(k, n), (k,), (n,)], lambda a, x: a.T @ x, target=SMALL, threads=2)
    assert ("C_rf" in sch.mod.script()) == shared and "T.parallel" in sch.mod.script()


@pytest.mark.parametrize("turned", [False, True])
def test_sizes_known_when_it_runs(turned):
    sch = Schedule(matrix_vector("n", "k", turned=turned))
    schedules.gemv(sch, "C", target=SMALL, threads=1)
    run = build(sch)["main"]
    for n, k in ((1, 1), (16, 16), (127, 33)):
        a, x = (RNG.integers(-4, 5, s).astype("float32") for s in ((k, n) if turned else (n, k), (k,)))
        c = np.empty(n, "float32")
        run(a, x, c)
        np.testing.assert_array_equal(c, (a.T if turned else a) @ x)


def test_a_product_of_matrices_is_refused():
    with pytest.raises(ScheduleError, match='block "C" is not a matrix-vector product: the result must have one axis'):
        schedules.gemv(Schedule(product(8, 8, 8)), "C")
