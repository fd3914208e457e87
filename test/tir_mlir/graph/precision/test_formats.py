"""Rounded weights: the nearest numbers of a format, and how they lie in memory."""

import numpy as np
import pytest

from tir_mlir.errors import GraphError
from tir_mlir.graph.precision.formats import Format, format_of, from_bfloat16, hindrance, round_weight, to_bfloat16

WEIGHT = np.random.default_rng(0).standard_normal((6, 64)).astype("float32")


def test_bfloat16_is_the_nearest_with_ties_to_even():
    given = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-7 - 2**-12, 0, np.inf], "float32")
    wanted = np.array([1, 1, 1 + 2**-6, -1 - 2**-7, 0, np.inf], "float32")
    np.testing.assert_array_equal(from_bfloat16(to_bfloat16(given)), wanted)


def test_bfloat16_is_that_of_torch():
    torch = pytest.importorskip("torch")
    bits = torch.from_numpy(WEIGHT).to(torch.bfloat16).view(torch.uint16).numpy()
    np.testing.assert_array_equal(to_bfloat16(WEIGHT), bits)


@pytest.mark.parametrize(("shape", "axis"), [((5, 7), 0), ((3, 3, 4, 5), 3), ((4, 2, 3, 3), 0)])
def test_int8_has_a_scale_for_each_channel(shape, axis):
    weight = np.random.default_rng(1).standard_normal(shape).astype("float32")
    made = round_weight(weight, Format("int8"), axis)
    assert made.stored.dtype == np.int8 and made.scale.shape == (shape[axis],)
    wide = made.scale.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    np.testing.assert_array_equal(made.stored.astype("float32") * wide, made.values)
    assert (np.abs(weight - made.values) <= wide * 0.5001).all()
    assert np.abs(made.stored).max() == 127


def test_int4_has_two_numbers_in_a_byte_and_a_scale_for_each_group():
    made = round_weight(WEIGHT, Format("int4", 32), 0)
    assert made.stored.shape == (6, 32) and made.stored.dtype == np.uint8 and made.scale.shape == (6, 2)
    low, high = ((made.stored >> n & 15).astype("float32") - 8 for n in (0, 4))
    first = np.concatenate([low[:, :16], high[:, :16]], axis=1)
    np.testing.assert_array_equal(first * made.scale[:, :1], made.values[:, :32])
    assert (np.abs(WEIGHT - made.values) <= made.scale.repeat(32, axis=1) * 0.5001).all()


def test_int8_by_group_is_closer_than_by_channel():
    distances = [np.linalg.norm(round_weight(WEIGHT, Format("int8", g), 0).values - WEIGHT) for g in (8, 32, None)]
    assert distances == sorted(distances)


def test_int4_by_channel_limits_the_largest_to_be_closer():
    weight = np.random.default_rng(2).standard_normal((4, 512)).astype("float32")
    made = round_weight(weight, format_of("int4", activations="int8"), 0)
    assert made.stored.shape == (4, 256) and made.scale.shape == (4,)
    assert (made.scale < np.abs(weight).max(axis=1) / 7).all()
    low, high = ((made.stored.reshape(4, 4, 64) >> n & 15).astype("float32") - 8 for n in (0, 4))
    np.testing.assert_array_equal(np.concatenate([low, high], 2).reshape(4, -1) * made.scale[:, None], made.values)
    assert np.linalg.norm(made.values - weight) < 0.12 * np.linalg.norm(weight)


@pytest.mark.parametrize(("name", "group", "activations", "words"), [
    ("int4", 12, "int8", "groups of a multiple of 8"),
    ("bf16", None, "int8", "multiplied by activations of bfloat16"),
    ("int8", None, "bf16", "multiplied by activations of int8"),
])  # fmt: skip
def test_activations_that_do_not_fit(name, group, activations, words):
    with pytest.raises(GraphError, match=words):
        format_of(name, group, activations)


def test_zeros_stay_zeros():
    for how in (Format("int8"), Format("int4", 2), Format("bfloat16")):
        made = round_weight(np.zeros((2, 4), "float32"), how, 0)
        assert not made.values.any() and (made.scale is None or np.isfinite(made.scale).all())


@pytest.mark.parametrize(("weight", "how", "axis", "why"), [
    (WEIGHT.astype("float64"), Format("int8"), 0, "float64"),
    (np.full((2, 2), np.nan, "float32"), Format("bfloat16"), 0, "not finite"),
    (WEIGHT, Format("int4", 48), 0, "rows of 64 are no whole groups of 48"),
    (np.zeros((2, 2, 3, 3), "float32"), Format("int4", 2), 0, "dense"),
])  # fmt: skip
def test_what_cannot_be_stored_is_told(weight, how, axis, why):
    assert why in str(hindrance(weight, how, axis))


@pytest.mark.parametrize(("name", "group", "words"), [
    ("int5", None, "fix: one of bf16"), ("int4", 3, "an even number"), ("bf16", 32, "has no scales"), (8, None, "8"),
])  # fmt: skip
def test_a_format_that_there_is_not(name, group, words):
    with pytest.raises(GraphError, match=words):
        format_of(name, group)
