"""Products of matrices and fully connected layers beside NumPy."""

import numpy as np
import pytest
from harness.operators import picked, random, run

from tir_mlir import topi

MATMULS = [
    ((15, 17), (17, 3), None), ((2, 9, 16), (2, 16, 5), None), ((2, 1, 4, 6), (3, 6, 5), None), ((7,), (7, 5), None),
    ((3, 7), (7,), None), ((7,), (7,), None), ((2, 3, 7), (7, 4), None), ((1, 1), (1, 1), None),
    ((5, 8), (8, 3), [("n", 8), (8, 3)]), ((2, 5, 6), (2, 6, 6), [(2, "n", "k"), (2, "k", 6)]),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "shapes"), MATMULS)
def test_matmul(one, other, shapes):
    a, b = random(*one), random(*other, seed=1)
    np.testing.assert_allclose(run(topi.matmul, a, b, shapes=shapes, like=a @ b), a @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_transposed_operands(left, right):
    a, b = random(2, 5, 7), random(2, 7, 3, seed=1)
    one, other = (np.ascontiguousarray(x.swapaxes(1, 2)) if t else x for x, t in ((a, left), (b, right)))
    np.testing.assert_allclose(run(topi.matmul, one, other, transp_a=left, transp_b=right), a @ b, rtol=1e-5, atol=1e-5)


def test_batch_matmul_transposes_the_second():
    a, b = random(3, 4, 5), random(3, 6, 5, seed=1)
    np.testing.assert_allclose(run(topi.nn.batch_matmul, a, b), a @ b.swapaxes(1, 2), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 17), (15, 16), (2, 3, 17), (2, 1, 3, 8), (9,)])
def test_dense_with_bias(shape):
    x, w, b = random(*shape), random(5, shape[-1], seed=1), random(5, seed=2)
    np.testing.assert_allclose(run(topi.nn.dense, x, w, b), x @ w.T + b, rtol=1e-5, atol=1e-5)


def test_dense_of_symbolic_sizes():
    x, w = random(2, 5, 16), random(3, 16, seed=1)
    got = run(topi.nn.dense, x, w, shapes=[("b", "n", 16), (3, 16)], like=x @ w.T)
    np.testing.assert_allclose(got, x @ w.T, rtol=1e-5, atol=1e-5)


def test_short_floats_are_summed_in_float32():
    x, w = random(3, 64, dtype="float16"), random(5, 64, dtype="float16", seed=1)
    exact = x.astype("float32") @ w.astype("float32").T
    short, long = run(lambda x, w: [topi.nn.dense(x, w), topi.nn.dense(x, w, out_dtype="float32")], x, w)
    np.testing.assert_allclose(long, exact, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(short.astype("float32"), exact.astype("float16").astype("float32"), rtol=2e-3, atol=1e-3)


def test_bytes_are_summed_in_int32():
    x, w = random(4, 33, dtype="int8"), random(33, 5, dtype="int8", seed=1)
    got = run(topi.matmul, x, w, out_dtype="int32")
    np.testing.assert_array_equal(got, x.astype("int32") @ w.astype("int32"))


@pytest.mark.parametrize("axis", [1, -1])
def test_bias_along_an_axis(axis):
    x, b = random(2, 3, 4), random((2, 3, 4)[axis])
    np.testing.assert_array_equal(run(topi.nn.bias_add, x, b, axis=axis), x + (b if axis == -1 else b[:, None]))


EINSUMS = [("ij,jk->ik", (3, 4), (4, 5)), ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)), ("i,j->ij", (3,), (4,)),
           ("ij,ij->", (3, 4), (3, 4)), ("bij,jk", (2, 3, 4), (4, 5)), ("ij,j->ji", (3, 4), (4,))]  # fmt: skip


@pytest.mark.parametrize(("subscripts", "one", "other"), EINSUMS)
def test_einsum(subscripts, one, other):
    a, b = random(*one), random(*other, seed=1)
    got = run(lambda a, b: topi.einsum(subscripts, a, b), a, b)
    np.testing.assert_allclose(got, np.einsum(subscripts, a, b), rtol=1e-5, atol=1e-5)


def test_einsum_of_one_operand():
    a = random(3, 4)
    np.testing.assert_allclose(run(lambda a: topi.einsum("ij->j", a), a), a.sum(0), rtol=1e-5, atol=1e-5)


SCHEDULES = [
    (topi.nn.dense, [(128, 64), (32, 64)], {}, "gemm"),
    (topi.nn.dense, [("n", 64), (32, 64)], {}, "gemm"),
    (topi.nn.dense, [(1, 64), (32, 64)], {}, "gemm"),
    (topi.matmul, [(2, 4, 16, 64), (2, 4, 64, 32)], {}, "gemm"),
    (topi.matmul, [(2, "n", 64), (2, 64, "n")], {}, "gemm"),
    (topi.matmul, [(16, 64), (64,)], {}, "gemv"),
]


@pytest.mark.parametrize(("function", "shapes", "attrs", "schedule"), SCHEDULES)
def test_schedules(function, shapes, attrs, schedule):
    assert picked(function, *shapes, **attrs) == [schedule]
