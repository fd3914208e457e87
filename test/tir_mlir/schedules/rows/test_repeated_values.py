"""schedules.elementwise computes costly values of a column once for several rows."""

import numpy as np
import pytest

from tir_mlir import Schedule, build, schedules, te

RNG = np.random.default_rng(7)


def normalized(rows, columns, value=lambda x, s: x / te.sqrt(s + 1.0)):
    """A function of an element of X and a value of its column."""
    x, s = te.placeholder((rows, columns), name="X"), te.placeholder((columns,), name="S")
    return te.create_prim_func([x, s, te.compute((rows, columns), lambda i, j: value(x[i, j], s[j]), name="Y")])


def scheduled(program, **options):
    sch = Schedule(program)
    schedules.elementwise(sch, "Y", **{"threads": 1, **options})
    return sch


def result(sch, *inputs):
    y = np.full_like(inputs[0], 99)
    build(sch)["main"](*inputs, y)
    return y


def shares(sch):
    return "T.unroll" in sch.mod.script()


@pytest.mark.parametrize("shape", [(1, 1), (3, 17), (4, 16), (9, 127), (64, 33)])
def test_results_of_any_shape(shape):
    x, s = RNG.random(shape, np.float32), RNG.random(shape[1], np.float32)
    np.testing.assert_allclose(result(scheduled(normalized(*shape)), x, s), x / np.sqrt(s + 1), rtol=1e-6)


def test_rows_of_a_number_known_when_it_runs():
    sch = scheduled(normalized(te.var("n"), 40))
    assert shares(sch)
    for rows in (1, 4, 7):
        x, s = RNG.random((rows, 40), np.float32), RNG.random(40, np.float32)
        np.testing.assert_allclose(result(sch, x, s), x / np.sqrt(s + 1), rtol=1e-6)


def test_it_is_equivalent_over_the_field():
    assert scheduled(normalized(9, 37)).verify()


def test_a_vector_of_columns_has_one_root_and_one_division():
    text = build(scheduled(normalized(64, 16), target="avx512"), target="avx512", cache=False).assembly
    assert text.count("vsqrtps") == text.count("vdivps") == 1


def test_without_reciprocals_each_element_is_divided():
    x, s = RNG.integers(1, 60, (9, 37)).astype(np.float32), RNG.integers(1, 60, 37).astype(np.float32)
    assert (x * (np.float32(1) / s) != x / s).any()  # else no test
    program = normalized(9, 37, lambda x, s: x / s)
    np.testing.assert_array_equal(result(scheduled(program), x, s), x * (np.float32(1) / s))
    plain = scheduled(program, reciprocal=False)
    np.testing.assert_array_equal(result(plain, x, s), x / s)
    assert not shares(plain)


@pytest.mark.parametrize("value", [lambda x, s: x * s, lambda x, s: te.abs(s) - x, lambda x, s: te.sqrt(x * s)])
def test_cheap_values_and_values_of_an_element_are_not_shared(value):
    assert not shares(scheduled(normalized(16, 40, value)))


def test_values_of_a_row_need_no_rows_together():
    x, s = te.placeholder((16, 40), name="X"), te.placeholder((16,), name="S")
    y = te.compute((16, 40), lambda i, j: x[i, j] * te.exp(s[i]), name="Y")
    assert not shares(scheduled(te.create_prim_func([x, s, y])))


def test_rows_are_shared_out_to_threads():
    sch = scheduled(normalized(300, 301), threads=2)
    assert shares(sch) and "T.parallel(75)" in sch.mod.script()
    x, s = RNG.random((300, 301), np.float32), RNG.random(301, np.float32)
    np.testing.assert_allclose(result(sch, x, s), x / np.sqrt(s + 1), rtol=1e-6)


def test_auto_passes_the_policy_on():
    for reciprocal in (True, False):
        sch = Schedule(normalized(9, 37, lambda x, s: x / s))
        schedules.auto(sch, threads=1, reciprocal=reciprocal)
        assert ('"reciprocal"' in sch.mod.script()) == reciprocal
