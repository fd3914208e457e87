"""Weights of few bits as other tools store them: each exact to its definition."""

import numpy as np
import pytest

from tir_mlir.errors import ArgumentError
from tir_mlir.graph.precision import stored_formats

RNG = np.random.default_rng(0)
N, K, GROUP = 8, 256, 32
AWQ = (0, 2, 4, 6, 1, 3, 5, 7)


def halves(*shape):
    return RNG.uniform(0.5, 1, shape).astype("float16")


def with_halves(data, size, places):
    """Rows of blocks of bytes, with finite float16 at some places."""
    blocks = data.reshape(len(data), -1, size)
    for place in places:
        blocks[:, :, place : place + 2] = halves(*blocks.shape[:2], 1).view("uint8")
    return data


@pytest.mark.parametrize(("name", "size", "places"), [("q4_0", 18, [0]), ("q8_0", 34, [0]), ("q4_k", 144, [0, 2])])
def test_blocks_are_those_of_gguf(name, size, places):
    gguf = pytest.importorskip("gguf")
    data = with_halves(RNG.integers(0, 256, (N, 2 * size), "uint8"), size, places)
    kind = {"q4_0": "Q4_0", "q8_0": "Q8_0", "q4_k": "Q4_K"}[name]
    wanted = gguf.quants.dequantize(data, gguf.GGMLQuantizationType[kind])
    np.testing.assert_array_equal(getattr(stored_formats, name)(data).values(), wanted)


def test_q4_0_has_weights_16_apart_in_a_byte():
    data = with_halves(RNG.integers(0, 256, (N, 36), "uint8"), 18, [0])
    blocks = data.reshape(N, 2, 18)
    d = np.ascontiguousarray(blocks[:, :, :2]).view("float16").astype("float32")
    q = np.concatenate([blocks[:, :, 2:] & 15, blocks[:, :, 2:] >> 4], axis=2).astype("float32") - 8
    np.testing.assert_array_equal(stored_formats.q4_0(data).values(), (q * d).reshape(N, -1))


@pytest.mark.parametrize("zeros", [False, True])
def test_matmul_nbits(zeros):
    q, z = RNG.integers(0, 16, (N, K), "uint8"), RNG.integers(0, 16, (N, K // GROUP), "uint8")
    scale = halves(N, K // GROUP).astype("float32")
    pairs, packed_z = (x.reshape(N, -1, 2)[..., 0] | x.reshape(N, -1, 2)[..., 1] << 4 for x in (q, z))
    data = pairs.reshape(N, K // GROUP, GROUP // 2)
    found = stored_formats.matmul_nbits(data, scale, packed_z if zeros else None, GROUP).values()
    zero = z.repeat(GROUP, 1).astype("float32") if zeros else 8
    np.testing.assert_allclose(found, (q.astype("float32") - zero) * scale.repeat(GROUP, 1), rtol=0, atol=1e-6)


def words(numbers, order=(0, 1, 2, 3, 4, 5, 6, 7)):
    """8 numbers of the last axis in an int32."""
    eight = numbers.reshape(*numbers.shape[:-1], -1, 8).astype("uint32")
    shifted = [eight[..., column] << np.uint32(4 * place) for place, column in enumerate(order)]
    return np.bitwise_or.reduce(shifted).view("int32")


@pytest.mark.parametrize("name", ["gptq", "awq"])
def test_words_of_safetensors(name):
    q, z = RNG.integers(0, 16, (N, K), "uint8"), RNG.integers(1, 16, (N, K // GROUP), "uint8")
    scale = halves(K // GROUP, N)
    if name == "gptq":
        given = words(q).T, words(z.T - 1)
    else:
        given = words(q.T, AWQ), words(z.T, AWQ)
    found = getattr(stored_formats, name)(*given, scale, GROUP).values()
    wanted = (q.astype("float32") - z.repeat(GROUP, 1)) * scale.T.astype("float32").repeat(GROUP, 1)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("bits", "zeros"), [(4, True), (8, False)])
def test_torchao(bits, zeros):
    half = 1 << (bits - 1)
    q, z = RNG.integers(-half, half, (N, K), "int8"), RNG.integers(-half, half, (N, K // GROUP), "int8")
    scale = halves(N, K // GROUP).astype("float32")
    found = stored_formats.torchao(q, scale, z if zeros else None, bits).values()
    zero = z.repeat(GROUP, 1).astype("float32") if zeros else 0
    np.testing.assert_allclose(found, (q.astype("float32") - zero) * scale.repeat(GROUP, 1), rtol=0, atol=1e-4)


def test_scales_that_are_not_finite_are_refused():
    data = np.full((1, 18), 255, "uint8")
    with pytest.raises(ArgumentError, match="q4_0: a scale is not finite"):
        stored_formats.q4_0(data)


def test_bytes_that_are_no_blocks_are_refused():
    with pytest.raises(ArgumentError, match="not rows of blocks of 34 bytes"):
        stored_formats.q8_0(np.zeros((2, 33), "uint8"))
