"""Row-wise schedules divide once for a row, unless they are told not to."""

import numpy as np
import pytest
from programs.rowwise import softmax
from programs.short import each, program

from tir_mlir import Schedule, build, schedules, te

RNG = np.random.default_rng(7)


def by_sum(rows, columns):
    """X / the sum of its row."""
    x, k = te.placeholder((rows, columns), name="X"), te.reduce_axis((0, columns), name="k")
    s = te.compute((rows,), lambda i: te.sum(x[i, k], axis=k), name="S")
    return te.create_prim_func([x, te.compute((rows, columns), lambda i, j: x[i, j] / s[i], name="Y")])


def scheduled(program, last="Y", **options):
    sch = Schedule(program)
    schedules.rowwise(sch, last, threads=1, **options)
    return sch


def result(sch, x):
    y = np.empty_like(x)
    build(sch)["main"](x, y)
    return y


def test_an_element_is_multiplied_by_the_reciprocal_of_its_row():
    x = RNG.integers(1, 60, (9, 37)).astype(np.float32)
    total = x.sum(1, keepdims=True)  # exact
    np.testing.assert_array_equal(result(scheduled(by_sum(9, 37)), x), x * (np.float32(1) / total))


def test_switched_off_each_element_is_divided():
    x = RNG.integers(1, 60, (9, 37)).astype(np.float32)
    assert (x * (np.float32(1) / x.sum(1, keepdims=True)) != x / x.sum(1, keepdims=True)).any()  # else no test
    np.testing.assert_array_equal(result(scheduled(by_sum(9, 37), reciprocal=False), x), x / x.sum(1, keepdims=True))


def test_the_result_is_within_the_documented_bound():
    x = RNG.random((50, 127), np.float32) + 1
    exact = x.astype(np.float64) / x.sum(1, keepdims=True).astype(np.float64)
    off = np.abs(result(scheduled(by_sum(50, 127)), x) - exact) / exact
    assert off.max() < 1e-5  # that of the sum; the quotient alone is within 1.5 ulp


def test_zero_and_infinite_sums():
    x = np.array([[0.0, 0.0], [np.inf, 1.0]], np.float32)
    with np.errstate(invalid="ignore"):
        expected = x / x.sum(1, keepdims=True)
    np.testing.assert_array_equal(result(scheduled(by_sum(2, 2)), x), expected)


def test_only_blocks_that_divide_by_a_value_of_their_row_are_annotated():
    assert scheduled(softmax((8, 40)), "out").mod.script().count('"reciprocal"') == 1
    rows = program(
        "X:8x40 Y:8x40; S:8",
        each("S i:8 k:40R", "S[vi] = S[vi] + X[vi, vk]", init="S[vi] = T.float32(0)"),
        each("Y:8x40", "Y[vi, vj] = X[vi, vj] - S[vi]"),
    )
    assert '"reciprocal"' not in scheduled(rows).mod.script()


@pytest.mark.parametrize("shape", [(33, 20), (5, 16)])
def test_rows_as_lanes(shape):
    sch = Schedule(softmax(shape, 0))
    schedules.softmax(sch, "out", threads=1)
    x = RNG.uniform(-5, 5, shape).astype(np.float32)
    power = np.exp(x.astype(np.float64) - x.max(0))
    np.testing.assert_allclose(result(sch, x), power / power.sum(0), rtol=1e-6)


def test_it_is_equivalent_over_the_field():
    assert scheduled(by_sum(9, 37)).verify()


def test_one_division_a_row_is_left():
    text = build(scheduled(by_sum(64, 256)), cache=False).assembly
    assert "vdivps" not in text.replace("vdivss", "")


def test_a_quotient_that_is_rounded_to_an_integer_is_divided():
    """floor(x / x) is 1 also where x * (1 / x) is less."""
    x, y = te.placeholder((60,), name="X"), te.placeholder((9, 60), name="Y")
    z = te.compute((9, 60), lambda i, j: te.floor(y[i, j] / x[j]), name="Z")
    sch = Schedule(te.create_prim_func([x, y, z]))
    schedules.elementwise(sch, "Z", threads=1)
    divisors = np.arange(1, 61, dtype=np.float32)
    values = np.repeat(divisors[None] * np.float32(7), 9, axis=0)
    assert (np.floor(values * (np.float32(1) / divisors)) != 7).any()  # else no test
    out = np.empty_like(values)
    build(sch)["main"](divisors, values, out)
    np.testing.assert_array_equal(out, 7)
