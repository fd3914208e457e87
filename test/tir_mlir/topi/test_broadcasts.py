"""Operators of two and three tensors beside NumPy."""

import numpy as np
import pytest
from harness.operators import random, run

from tir_mlir import topi

FLOATS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "floor_divide": lambda a, b: np.floor(a / b), "floor_mod": np.mod, "mod": np.fmod,
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
    "greater_equal": np.greater_equal, "atan2": np.arctan2,
}  # fmt: skip
INTEGERS = {
    **{n: f for n, f in FLOATS.items() if n not in ("atan2", "divide", "floor_divide")},
    "floor_divide": np.floor_divide, "divide": lambda a, b: np.trunc(a / b).astype(a.dtype),
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
}  # fmt: skip
SHAPES = [
    ((3, 5), (3, 5), None), ((2, 1, 5), (3, 1), None), ((7,), (2, 7), None), ((), (4,), None), ((1, 1), (15, 17), None),
    ((5, 3), (3,), [("n", 3), (3,)]), ((5, 4), (5, 1), [("n", 4), ("n", 1)]),
    ((5, 1, 7), (6, 7), [("n", 1, "m"), (6, "m")]),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "shapes"), SHAPES)
def test_shapes_broadcast(one, other, shapes):
    a, b = random(*one), random(*other, seed=1)
    np.testing.assert_array_equal(run(topi.add, a, b, shapes=shapes, like=a + b), a + b)


def test_functions_of_floats():
    a, b = random(3, 5, 7) * np.float32(3), random(5, 1, seed=1)
    a[0, 0, 0] = b[0, 0]
    got = run(lambda a, b: [getattr(topi, n)(a, b) for n in FLOATS], a, b)
    for name, one in zip(FLOATS, got, strict=True):
        np.testing.assert_allclose(one, FLOATS[name](a, b), rtol=2e-6, atol=2e-6, err_msg=name)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_functions_of_integers(dtype):
    a, b = random(4, 7, dtype=dtype), random(7, dtype=dtype, seed=3)
    b[b == 0] = 3
    names = [n for n in INTEGERS if dtype != "uint8" or n not in ("subtract",)]
    for name, one in zip(names, run(lambda a, b: [getattr(topi, n)(a, b) for n in names], a, b), strict=True):
        np.testing.assert_array_equal(one, INTEGERS[name](a, b), err_msg=name)


def test_shifts():
    a, b = random(9, dtype="int32"), np.abs(random(9, dtype="int32", seed=1))
    left, right = run(lambda a, b: [topi.left_shift(a, b), topi.right_shift(a, b)], a, b)
    np.testing.assert_array_equal(left, a << b)
    np.testing.assert_array_equal(right, a >> b)


def test_functions_of_bool():
    a, b = random(4, 8, dtype="bool"), random(8, dtype="bool", seed=1)
    names = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}
    for name, one in zip(names, run(lambda a, b: [getattr(topi, n)(a, b) for n in names], a, b), strict=True):
        np.testing.assert_array_equal(one, names[name](a, b))


def test_a_number_takes_the_type_of_the_tensor():
    a = random(5, dtype="float16")
    got = run(lambda a: [topi.add(a, 1), topi.subtract(2.5, a), topi.multiply(a, np.float32(3))], a)
    for one, wanted in zip(got, (a + np.float16(1), np.float16(2.5) - a, a * np.float16(3)), strict=True):
        assert one.dtype == np.float16
        np.testing.assert_array_equal(one, wanted)


def test_powers():
    a, b = np.abs(random(3, 5)) + np.float32(0.1), random(5)
    got = run(
        lambda a, b: [topi.power(a, b), topi.power(a, 2), topi.power(b, 3), topi.power(a, 0.5), topi.power(2.0, b)],
        a,
        b,
    )
    for one, wanted in zip(got, (a**b, a**2, b**3, a**0.5, 2.0**b), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=3e-6)


def test_powers_of_integers():
    a = random(7, dtype="int32")
    for one, power in zip(run(lambda a: [topi.power(a, p) for p in (0, 2, 5)], a), (0, 2, 5), strict=True):
        np.testing.assert_array_equal(one, a**power)


@pytest.mark.parametrize("shapes", [None, [("n", 1), (5,), ("n", 5)]])
def test_where(shapes):
    c, a, b = random(4, 1, dtype="bool"), random(5), random(4, 5, seed=1)
    wanted = np.where(c, a, b)
    np.testing.assert_array_equal(run(topi.where, c, a, b, shapes=shapes, like=wanted), wanted)


def test_where_of_numbers():
    c = random(9, dtype="bool")
    one, two = run(lambda c: [topi.where(c, 1.5, float("-inf")), topi.where(c, topi.full((9,), "int32", 3), 4)], c)
    np.testing.assert_array_equal(one, np.where(c, np.float32(1.5), np.float32(-np.inf)))
    np.testing.assert_array_equal(two, np.where(c, 3, 4))


def test_broadcast_to():
    x = random(3, 1)
    np.testing.assert_array_equal(run(topi.broadcast_to, x, shape=(2, 3, 4)), np.broadcast_to(x, (2, 3, 4)))
