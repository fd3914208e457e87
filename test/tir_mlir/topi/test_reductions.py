"""Reductions over axes beside NumPy."""

import numpy as np
import pytest
from harness.operators import random, run

from tir_mlir import topi

FUNCTIONS = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean, "variance": np.var, "std": np.std,
}  # fmt: skip
AXES = [(None, False), (0, True), (-1, False), ((0, 2), False), ((1, 2), True), ((-1, 0), True)]


@pytest.mark.parametrize(("axis", "keepdims"), AXES)
def test_of_floats(axis, keepdims):
    x = random(3, 5, 17)
    got = run(lambda x: [getattr(topi, n)(x, axis, keepdims) for n in FUNCTIONS], x)
    for name, one in zip(FUNCTIONS, got, strict=True):
        wanted = FUNCTIONS[name](x.astype("float64"), axis=axis, keepdims=keepdims)
        assert one.shape == wanted.shape
        np.testing.assert_allclose(one, wanted, rtol=2e-5, atol=2e-6, err_msg=name)


@pytest.mark.nightly
def test_of_symbolic_sizes():
    x = random(5, 3, 7)
    wanted = [x.sum(0), x.mean((0, 2)), x.max(1, keepdims=True), x.var(0)]
    got = run(
        lambda x: [topi.sum(x, 0), topi.mean(x, (0, 2)), topi.max(x, 1, True), topi.variance(x, 0)],
        x, shapes=[("n", "m", 7)], like=wanted,
    )  # fmt: skip
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


def test_short_floats_are_summed_in_float32():
    x = np.full((2, 5000), 0.1, "float16")
    total, mean = run(lambda x: [topi.sum(x, 1), topi.mean(x, 1)], x)
    np.testing.assert_array_equal(total, x.astype("float32").sum(1).astype("float16"))
    np.testing.assert_array_equal(mean, x.astype("float32").mean(1).astype("float16"))


def test_of_integers():
    x = random(4, 9, dtype="int32")
    got = run(lambda x: [topi.sum(x, 1), topi.prod(x, 0), topi.max(x), topi.min(x, 1)], x)
    for one, wanted in zip(got, (x.sum(1), x.prod(0), x.max(), x.min(1)), strict=True):
        np.testing.assert_array_equal(one, wanted)


def test_of_bool():
    x = random(4, 3, dtype="bool")
    all_, any_ = run(lambda x: [topi.all(x, 1), topi.any(x, 0)], x)
    np.testing.assert_array_equal(all_, x.all(1))
    np.testing.assert_array_equal(any_, x.any(0))


def test_over_no_axes_is_the_input():
    x = random(3, 4)
    np.testing.assert_array_equal(run(topi.sum, x, axis=()), x)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize(("axis", "keepdims"), [(None, False), (1, False), (-1, True)])
def test_positions_of_the_greatest_and_the_least(dtype, axis, keepdims):
    x = random(4, 5, 9, dtype=dtype)
    x[1] = x[0]
    x[:, 2] = 3  # equals: the first one counts
    most, least = run(lambda x: [f(x, axis, keepdims) for f in (topi.argmax, topi.argmin)], x)
    np.testing.assert_array_equal(most, x.argmax(axis, keepdims=keepdims))
    np.testing.assert_array_equal(least, x.argmin(axis, keepdims=keepdims))


def test_position_of_infinity():
    x = np.array([[-np.inf] * 3, [np.inf, 1, np.inf]], "float32")
    np.testing.assert_array_equal(run(topi.argmax, x, axis=1), [0, 0])


@pytest.mark.parametrize(("shape", "axis"), [((3, 7), 1), ((64, 3), 0), ((2, 1024), -1), ((4, 5), None), ((1,), 0)])
@pytest.mark.parametrize("exclusive", [False, True])
def test_cumulative_sums(shape, axis, exclusive):
    x = random(*shape)
    wanted = np.cumsum(x.astype("float64"), axis)
    if exclusive:
        wanted -= x.reshape(wanted.shape)
    np.testing.assert_allclose(run(topi.cumsum, x, axis=axis, exclusive=exclusive), wanted, rtol=1e-4, atol=2e-5)


def test_a_cumulative_sum_of_symbolic_size_in_another_type():
    x = random(5, 3, dtype="int8")
    wanted = np.cumsum(x, 0, dtype="int64")
    np.testing.assert_array_equal(run(topi.cumsum, x, axis=0, dtype="int64", shapes=[("n", 3)], like=wanted), wanted)
