"""Attention and rotary embeddings beside torch."""

import numpy as np
import pytest
from harness.operators import picked, random, run

from tir_mlir.topi import nn

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
sdpa = torch.nn.functional.scaled_dot_product_attention
TOLERANCE = {"float32": 1e-5, "float16": 2e-3}


def inputs(b, sq, sk, h, g, d, dtype="float32"):
    return (
        random(b, sq, h, d, dtype=dtype),
        random(b, sk, g, d, dtype=dtype, seed=1),
        random(b, sk, g, d, dtype=dtype, seed=2),
    )


def reference(q, k, v, **options):
    """In BSHD."""
    q, k, v = (torch.tensor(x).float().transpose(1, 2) for x in (q, k, v))
    return sdpa(q, k, v, enable_gqa=True, **options).transpose(1, 2).numpy()


def close(got, wanted, dtype="float32"):
    np.testing.assert_allclose(got, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    "sizes", [(1, 15, 17, 2, 2, 16), (2, 1, 9, 4, 4, 8), (1, 16, 16, 1, 1, 1), (1, 33, 7, 3, 3, 5)]
)
def test_plain(sizes, dtype):
    q, k, v = inputs(*sizes, dtype)
    close(run(nn.attention, q, k, v), reference(q, k, v), dtype)


def test_weights_are_rounded_for_the_product_only():
    """Of two values, one much less than the other, the sum of the weights is exact: 1, not 1 - 2^-11."""
    q, v = np.zeros((2, 1, 1, 1, 1), "float16")
    k = np.array([0, -8], "float16").reshape(1, 2, 1, 1)
    q, v = q + np.float16(1), np.concatenate([v, v + np.float16(1)], axis=1)
    weight = np.exp(np.float32(-8))
    got = run(nn.attention, q, k, v, scale=1.0, weights_dtype="float16", scheduled=False)
    assert got.item() == np.float16(np.float32(np.float16(weight)) / (1 + weight))


@pytest.mark.parametrize("sizes", [(1, 16, 16, 2, 2, 8), (1, 5, 9, 2, 2, 8)])
def test_causal_from_the_first_key(sizes):
    q, k, v = inputs(*sizes)
    close(run(nn.attention, q, k, v, causal_mask="TopLeft", scheduled=False), reference(q, k, v, is_causal=True))


def test_causal_from_the_last_key():
    q, k, v = inputs(1, 5, 9, 2, 2, 8)
    seen = torch.tensor(np.tri(5, 9, 4, dtype=bool))
    close(run(nn.attention, q, k, v, causal_mask="BottomRight", scheduled=False), reference(q, k, v, attn_mask=seen))


@pytest.mark.parametrize("shape", [(1, 1, 5, 9), (5, 9), (2, 3, 5, 9), (2, 1, 1, 9)])
@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_bias_and_mask(shape, dtype):
    q, k, v = inputs(2, 5, 9, 3, 3, 4)
    bias = random(*shape, dtype=dtype)
    if dtype == "bool":
        bias[..., 0] = True
    got = run(nn.attention, q, k, v, bias, scheduled=False)
    close(got, reference(q, k, v, attn_mask=torch.tensor(bias)))


def test_keys_of_the_first_blocks():
    q, k, v = inputs(1, 2, 9, 2, 2, 8)
    k[:, 6:] = v[:, 6:] = np.nan
    bias, blocks = random(2, 9, dtype="bool") | True, np.zeros((2, 3), "int8")
    got = run(lambda *x: nn.attention(*x[:4], blocks=x[4]), q, k, v, bias, blocks, scheduled=False)
    close(got, reference(q, k[:, :6], v[:, :6]))


def test_scale():
    q, k, v = inputs(1, 4, 4, 2, 2, 4)
    close(run(nn.attention, q, k, v, scale=0.1, scheduled=False), reference(q, k, v, scale=0.1))


@pytest.mark.nightly
@pytest.mark.parametrize("queries", [1, 6])
@pytest.mark.parametrize("mask", [None, "BottomRight"])
def test_heads_that_share_keys(queries, mask):
    q, k, v = inputs(2, queries, 9, 6, 2, 8)
    seen = {} if mask is None else {"attn_mask": torch.tensor(np.tri(queries, 9, 9 - queries, dtype=bool))}
    close(run(nn.attention, q, k, v, causal_mask=mask, scheduled=mask is not None), reference(q, k, v, **seen))


def test_heads_that_share_keys_are_one_attention():
    """Their queries are copied in its order before it, and the result after it."""
    found = picked(nn.attention, (1, 16, 4, 32), (1, "n", 2, 32), (1, "n", 2, 32))
    assert [found[0], set(found[1:-1]), found[-1]] == ["elementwise", {"attention"}, "elementwise"]


def test_heads_before_the_sequence():
    q, k, v = (np.ascontiguousarray(x.swapaxes(1, 2)) for x in inputs(2, 5, 9, 3, 3, 4))
    got = run(nn.attention, q, k, v, layout="BHSD", scheduled=False)
    close(got, sdpa(*(torch.tensor(x) for x in (q, k, v))).numpy())


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.nightly
def test_symbolic_lengths(groups):
    q, k, v = inputs(1, 5, 9, 4, groups, 8)
    seen = torch.tensor(np.tri(5, 9, 4, dtype=bool))
    shapes = [(1, "n", 4, 8), (1, "m", groups, 8), (1, "m", groups, 8)]
    got = run(nn.attention, q, k, v, causal_mask="BottomRight", shapes=shapes, like=q, scheduled=False)
    close(got, reference(q, k, v, attn_mask=seen))


@pytest.mark.parametrize("layout", ["BSHD", "BHSD"])
@pytest.mark.nightly
def test_schedules(layout):
    shape = (1, 64, 4, 32) if layout == "BSHD" else (1, 4, "n", 32)
    assert set(picked(nn.attention, shape, shape, shape, layout=layout, causal_mask="TopLeft")) == {"attention"}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_embedding(interleaved, dtype):
    x = random(2, 5, 3, 8, dtype=dtype)
    angles = np.arange(5)[:, None] * 10000.0 ** (-np.arange(4) / 4)
    cos, sin = (f(angles)[:, None].astype(dtype) for f in (np.cos, np.sin))
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :4], x[..., 4:])
    one, other = a * cos - b * sin, b * cos + a * sin
    wanted = np.stack([one, other], -1).reshape(x.shape) if interleaved else np.concatenate([one, other], -1)
    shapes = [(2, "s", 3, 8), ("s", 1, 4), ("s", 1, 4)]
    close(run(nn.rotary_embedding, x, cos, sin, interleaved=interleaved, shapes=shapes, like=x), wanted, dtype)
