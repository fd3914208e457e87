"""Integers with a scale."""

import numpy as np
import pytest
from harness.operators import random, run
from programs.quantized import Weights, packed_weights

from tir_mlir import te, topi
from tir_mlir.errors import GraphError


def test_for_a_whole_tensor():
    x = random(3, 17) * np.float32(4)
    wanted = np.clip(np.round(x / np.float32(0.1)) + 3, -128, 127).astype("int8")
    np.testing.assert_array_equal(run(topi.quantize, x, scale=0.1, zero_point=3), wanted)


@pytest.mark.parametrize("axis", [0, 1])
def test_for_each_channel(axis):
    x = random(5, 7) * np.float32(4)
    scale = np.abs(random(x.shape[axis], seed=1)) + np.float32(0.05)
    zero = random(x.shape[axis], dtype="int8", seed=2)
    row = (slice(None), None) if axis == 0 else (None, slice(None))
    wanted = np.clip(np.round(x / scale[row]) + zero[row], -128, 127).astype("int8")
    stored = run(topi.quantize, x, scale, zero, axis=axis)
    np.testing.assert_array_equal(stored, wanted)
    back = run(topi.dequantize, stored, scale, zero, axis=axis)
    np.testing.assert_array_equal(back, (wanted.astype("float32") - zero[row]) * scale[row])


def test_without_sign():
    x = random(9)
    got = run(topi.quantize, x, scale=0.01, zero_point=128, out_dtype="uint8")
    np.testing.assert_array_equal(got, np.clip(np.round(x / np.float32(0.01)) + 128, 0, 255))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("size", [1, 15, 16, 17, 127])
def test_limits_and_ties(dtype, size):
    """Rounding and limits may change places, not the result."""
    info = np.iinfo(dtype)
    edges = [info.min - 3.5, info.max + 3.5, -2.5, -0.5, 0.5, 1.5, info.max + 0.5, info.min - 0.5, -1e30, 1e30, np.inf]
    x = np.resize(np.array(edges, "float32"), size)
    wanted = np.clip(np.round(x) + 3, info.min, info.max).astype(dtype)
    np.testing.assert_array_equal(run(topi.round_to, x, out_dtype=dtype, zero_point=3), wanted)
    zero = np.array(3, dtype)
    got = run(lambda data, z: topi.round_to(data, out_dtype=dtype, zero_point=z), x, zero)
    np.testing.assert_array_equal(got, wanted)


def test_sums_are_scaled_bounded_and_rounded():
    sums, addend = random(3, 17, dtype="int32"), random(3, 17, dtype="uint8", seed=1)
    offset, scale, bias = (random(17, dtype=t, seed=n) for n, t in ((2, "int32"), (3, "float32"), (4, "float32")))
    more = {"offset": offset, "bias": bias, "addend": addend, "addend_scale": np.float32(0.25)}
    more |= {"addend_zero": np.int32(3), "top": np.float32(90.5), "zero_point": np.uint8(7)}
    options = {"given": " ".join(more), "relu": True, "out_dtype": "uint8"}
    got = run(lambda *operands: topi.requantize(*operands, **options), sums, scale, *map(np.asarray, more.values()))
    scaled = (sums - offset).astype("float64") * scale + bias + (addend.astype("float64") - 3) * 0.25
    wanted = np.round(np.clip(scaled, 0, 90.5)) + 7
    np.testing.assert_array_equal(got, np.clip(wanted, 0, 255))


@pytest.mark.parametrize("given", ["zero_point bias", "bias", "addend top", "addend_zero top", "bias other"])
def test_operands_of_sums_are_named_in_order(given):
    sums, scale, *more = te.placeholder((3,), "int32"), *(te.placeholder((3,)) for _ in range(3))
    with pytest.raises(GraphError, match=rf"requantize: given='{given}'[\s\S]*fix: name "):
        topi.requantize(sums, scale, *more, given=given)


@pytest.mark.parametrize("order", ["halves", "pairs"])
def test_four_bits_by_group(order):
    weights = Weights(6, 128, 32, order)
    stored, scale, matrix = packed_weights(weights, np.random.default_rng(0))
    got = run(topi.dequantize_group, stored, scale, group_size=32, order=order)
    np.testing.assert_array_equal(got, matrix)


def test_a_product_with_weights_of_four_bits_is_computed_from_them():
    def product(x, stored, scale):
        return topi.nn.dense(x, topi.dequantize_group(stored, scale, group_size=32))

    weights = Weights(24, 128, 32, "halves")
    stored, scale, matrix = packed_weights(weights, np.random.default_rng(0))
    x = np.random.default_rng(1).integers(-3, 4, (1, 128)).astype("float32")
    np.testing.assert_array_equal(run(product, x, stored, scale), x @ matrix.T)


def test_eight_bits_by_group():
    stored = np.random.default_rng(0).integers(-127, 128, (5, 96)).astype("int8")
    scale = random(5, 3)
    got = run(topi.dequantize_group, stored, scale, group_size=32, bits=8)
    np.testing.assert_array_equal(got, stored.astype("float32") * scale.repeat(32, axis=1))


def test_other_numbers_of_bits_are_refused():
    with pytest.raises(GraphError, match=r"bits=5\n  fix: pass 4 or 8"):
        topi.dequantize_group(te.placeholder((2, 4), "int8"), te.placeholder((2, 1)), group_size=4, bits=5)


@pytest.mark.parametrize("order", ["halves", "pairs"])
def test_four_bits_as_bytes(order):
    stored, scale, matrix = packed_weights(Weights(6, 128, 64, order), np.random.default_rng(0))
    got = run(topi.unpack_int4, stored, group_size=64, order=order)
    np.testing.assert_array_equal(got * scale.repeat(64, axis=1), matrix)


def test_rows_of_no_whole_groups_are_not_unpacked():
    with pytest.raises(GraphError, match="groups of 48"):
        topi.unpack_int4(te.placeholder((2, 64), "uint8"), group_size=48)
