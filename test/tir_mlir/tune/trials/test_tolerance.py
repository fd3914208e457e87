"""Results are compared: floats up to the rounding of sums, everything else exactly."""

import numpy as np
import pytest

from tir_mlir.tune.trials.tolerance import first_difference, relative_tolerance, rounds_to_integers


def test_a_longer_sum_may_differ_more():
    assert relative_tolerance("float32", "", 1024) == pytest.approx(8 * 2.0**-24 * 32)


def test_integers_have_no_tolerance():
    assert relative_tolerance("int32", "", 1024) == 0


def test_a_cast_to_a_narrower_type_counts():
    text = "%3 = arith.truncf %2 : f32 to bf16"
    assert relative_tolerance("float32", text, 1) == relative_tolerance("bfloat16", "", 1) > 0.01


def test_a_sum_in_another_order_is_the_same():
    terms = np.random.default_rng(0).uniform(0.5, 1.5, (16, 4096)).astype("f4")
    forward, backward = (np.add.accumulate(t, 1)[:, -1] for t in (terms, terms[:, ::-1]))
    assert (forward != backward).any()
    assert first_difference(forward, backward, "float32", relative_tolerance("float32", "", 4096)) is None


def test_a_missing_term_of_4096_is_seen():
    terms = np.random.default_rng(0).uniform(0.5, 1.5, (16, 4096)).astype("f4")
    want, got = terms.sum(1), terms.sum(1)
    got[5] -= terms[5].min()
    assert first_difference(want, got, "float32", relative_tolerance("float32", "", 4096)) == ((5,), 1)


def test_the_first_index_and_the_number_are_told():
    want = np.zeros((3, 4), "i4")
    got = want.copy()
    got[1, 2] = got[2, 0] = 7
    assert first_difference(want, got, "int32", 0.0) == ((1, 2), 2)


def test_nan_equals_nan_and_nothing_else():
    want = np.array([np.nan, 1, np.inf], "f4")
    assert first_difference(want, want.copy(), "float32", 1e-6) is None
    assert first_difference(want, np.array([np.nan, np.nan, np.inf], "f4"), "float32", 1e-6) == ((1,), 1)
    assert first_difference(want, np.array([np.nan, 1, 3e38], "f4"), "float32", 1e-6) == ((2,), 1)


def test_bfloat16_is_compared_as_numbers():
    want, near, far = (np.array([bits], "u2") for bits in (0x3F80, 0x3F81, 0x4000))  # 1, the next number, 2
    bound = relative_tolerance("bfloat16", "", 1)
    assert first_difference(want, near, "bfloat16", bound) is None
    assert first_difference(want, far, "bfloat16", bound) == ((0,), 1)


def test_integers_rounded_from_floats_may_rarely_differ_by_one():
    want = np.zeros(1000, "i1")
    few, far, many = want.copy(), want.copy(), want + 1
    few[7] = 1
    far[7] = 2
    assert rounds_to_integers("%1 = arith.fptosi %0 : f32 to i8") and not rounds_to_integers("arith.sitofp")
    assert first_difference(want, few, "int8", 0.0, rounded=True) is None
    assert first_difference(want, few, "int8", 0.0) == ((7,), 1)
    assert first_difference(want, far, "int8", 0.0, rounded=True) == ((7,), 1)
    assert first_difference(want, many.astype("i1"), "int8", 0.0, rounded=True) == ((0,), 1000)


def test_results_of_denormal_size_are_compared():
    want = np.full(8, 1e-40, "f4")
    got = want.copy()
    got[3] = 0
    assert first_difference(want, got, "float32", 1e-6) == ((3,), 1)
