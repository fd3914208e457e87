"""Operators of ONNX Runtime, by NumPy or by the standard's operators that they stand for."""

import math

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper, numpy_helper  # noqa: E402

import tir_mlir  # noqa: E402
from tir_mlir.errors import GraphError  # noqa: E402

RNG = np.random.default_rng(3)


def f(*shape):
    return RNG.standard_normal(shape).astype("float32")


def results(op, inputs, outputs=1, weights=(), **attrs):
    """The results of a node whose operands are arrays by name; "" is left out."""
    node = helper.make_node(op, list(inputs), [f"y{n}" for n in range(outputs)], domain="com.microsoft", **attrs)
    given = {name: x for name, x in inputs.items() if x is not None and name not in weights}
    node.input[:] = [name if x is not None else "" for name, x in inputs.items()]
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in given.items()
    ]
    graph = helper.make_graph(
        [node], "g", infos, [helper.make_value_info(n, onnx.TypeProto()) for n in node.output],
        [numpy_helper.from_array(inputs[n], n) for n in weights],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    made = tir_mlir.from_onnx(helper.make_model(graph, opset_imports=imports, ir_version=10))
    found = tir_mlir.build(made, threads=1, optimize="fast")(*given.values())
    return found if isinstance(found, tuple) else (found,)


def close(ours, wanted):
    np.testing.assert_allclose(ours, wanted, rtol=2e-4, atol=2e-5)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normed(x, scale, shift=0.0, eps=1e-12):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * scale + shift


def by_heads(x, n):
    return x.reshape(*x.shape[:2], n, -1).transpose(0, 2, 1, 3)


def attended(q, k, v, bias=0.0):
    y = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) + bias) @ v
    return y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1)


def turned(x, cos, sin):
    """x (batch, heads, tokens, depth) by angles (batch, tokens, depth / 2)."""
    a, b = np.split(x, 2, -1)
    cos, sin = cos[:, None], sin[:, None]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def test_fused_product():
    x, y = f(2, 4, 3), f(2, 5, 4)
    (z,) = results("FusedMatMul", {"x": x, "y": y}, alpha=0.5, transA=1, transB=1)
    close(z, 0.5 * x.swapaxes(1, 2) @ y.swapaxes(1, 2))


def test_skip_layer_norm_with_its_sum():
    x, skip, scale, shift, bias = f(2, 3, 8), f(2, 3, 8), f(8), f(8), f(8)
    operands = {"x": x, "s": skip, "g": scale, "b": shift, "c": bias}
    (y,) = results("SkipLayerNormalization", operands, epsilon=1e-5)
    close(y, normed(x + skip + bias, scale, shift, 1e-5))


def test_embeddings():
    ids, segments = RNG.integers(0, 9, (2, 4)).astype("int32"), RNG.integers(0, 2, (2, 4)).astype("int32")
    words, places, kinds, scale, shift = f(9, 8), f(6, 8), f(2, 8), f(8), f(8)
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], "int32")
    operands = {"i": ids, "s": segments, "w": words, "p": places, "k": kinds, "g": scale, "b": shift, "m": mask}
    y, count = results("EmbedLayerNormalization", operands, outputs=2)
    close(y, normed(words[ids] + places[:4] + kinds[segments], scale, shift))
    assert count.tolist() == [3, 2]


@pytest.mark.parametrize("zeros", [False, True])
def test_weights_of_4_bits(zeros):
    x, n, k, block = f(3, 64), 5, 64, 16
    q, by = RNG.integers(0, 16, (n, k)), RNG.uniform(0.1, 1, (n, k // block)).astype("float32")
    z = RNG.integers(0, 16, (n, k // block)) if zeros else np.full((n, k // block), 8)
    packed = (q[:, ::2] | q[:, 1::2] << 4).astype("uint8").reshape(n, k // block, block // 2)
    operands = {"x": x, "w": packed, "s": by.reshape(-1)}
    if zeros:
        operands["z"] = (z[:, ::2] | z[:, 1::2] << 4).astype("uint8").reshape(-1)
    (y,) = results("MatMulNBits", operands, weights=list(operands)[1:], K=k, N=n, bits=4, block_size=block)
    close(y, x @ ((q - z.repeat(block, 1)) * by.repeat(block, 1)).T)


def test_weights_of_8_bits():
    x, n, k, block = f(3, 64), 5, 64, 16
    q, z = RNG.integers(0, 256, (n, k)).astype("uint8"), RNG.integers(0, 256, (n, k // block)).astype("uint8")
    by = RNG.uniform(0.01, 0.1, (n, k // block)).astype("float32")
    operands = {"x": x, "w": q.reshape(n, k // block, block), "s": by, "z": z}
    (y,) = results("MatMulNBits", operands, weights=list(operands)[1:], K=k, N=n, bits=8, block_size=block)
    numbers = (q.astype(int) - z.repeat(block, 1)) * by.repeat(block, 1)
    np.testing.assert_allclose(y, x @ numbers.T, rtol=1e-3, atol=1e-3)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / 2**0.5))


def by_groups(x, groups):
    """(x - mean) / deviation of groups of the last axis, over the image."""
    parts = x.reshape(len(x), -1, groups, x.shape[-1] // groups)
    mean, var = parts.mean((1, 3), keepdims=True), parts.var((1, 3), keepdims=True)
    return ((parts - mean) / np.sqrt(var + 1e-5)).reshape(x.shape)


def first(x):
    """The channels before the image."""
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2))


A, B, C, IMAGE, PART = f(3, 4), f(5, 4), f(5), f(2, 3, 4, 6), f(2, 3, 4, 5)
KERNEL = f(5, 6, 1, 1)
FUSED = {
    "QuickGelu": ({"x": A}, {"alpha": 1.3}, lambda: A * sigmoid(1.3 * A)),
    "BiasSplitGelu": ({"x": A, "b": B[0]}, {}, lambda: (A + B[0])[:, :2] * gelu((A + B[0])[:, 2:])),
    "FusedGemm": ({"a": A, "b": B, "c": C}, {"activation": "LeakyRelu", "activation_alpha": 0.2, "transB": 1},
                  lambda: np.where(A @ B.T + C > 0, A @ B.T + C, 0.2 * (A @ B.T + C))),
    "GroupNorm": ({"x": IMAGE, "g": A[0].repeat(2)[:6], "b": C[:1].repeat(6)}, {"groups": 3, "activation": 1},
                  lambda: (lambda y: y * sigmoid(y))(by_groups(IMAGE, 3) * A[0].repeat(2)[:6] + C[0])),
    "FusedConv": ({"x": first(IMAGE), "w": KERNEL, "b": C, "z": first(PART)},
                  {"activation": "Clip", "activation_params": [-0.5, 0.5]},
                  lambda: first(np.clip(IMAGE @ KERNEL[:, :, 0, 0].T + C + PART, -0.5, 0.5))),
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("op", FUSED)
def test_fused(op):
    operands, attrs, wanted = FUSED[op]
    close(results(op, operands, **attrs)[0], wanted())


@pytest.mark.nightly
def test_grouped_queries_with_sinks_and_limited_scores():
    q, k, v, sinks = f(1, 3, 16), f(1, 3, 8), f(1, 3, 8), f(4)
    operands = {"q": q, "k": k, "v": v, "pk": None, "pv": None, "n": np.array([2], "int32"), "t": np.array(3, "int32")}
    operands |= {"c": None, "s": None, "p": None, "a": None, "h": sinks}
    y, *_ = results("GroupQueryAttention", operands, outputs=3, num_heads=4, kv_num_heads=2, softcap=2.0)
    q1, k1, v1 = by_heads(q, 4), by_heads(k, 2).repeat(2, 1), by_heads(v, 2).repeat(2, 1)
    scores = 2 * np.tanh(q1 @ k1.swapaxes(-1, -2) / 4) + np.where(np.tri(3), 0, -1e30)
    powers = np.exp(scores)
    wanted = powers / (powers.sum(-1, keepdims=True) + np.exp(sinks)[:, None, None]) @ v1
    close(y, wanted.transpose(0, 2, 1, 3).reshape(1, 3, 16))


@pytest.mark.nightly
def test_attention_of_one_product_with_a_mask_and_a_past():
    x, w, b, past = f(2, 3, 8), f(8, 24), f(24), f(2, 2, 2, 4, 4)
    mask = np.array([[1] * 7, [1] * 4 + [0] * 3], "int32")
    y, present = results("Attention", {"x": x, "w": w, "b": b, "m": mask, "p": past}, outputs=2, num_heads=2)
    q, k, v = (by_heads(p, 2) for p in np.split(x @ w + b, 3, -1))
    k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
    close(y, attended(q, k, v, np.where(mask, 0, -10000.0)[:, None, None]))
    close(present, np.stack([k, v]))


def test_multi_head_attention_of_another_sequence():
    q, k, v, bias = f(2, 3, 8), f(2, 5, 8), f(2, 5, 8), f(24)
    (y,) = results("MultiHeadAttention", {"q": q, "k": k, "v": v, "b": bias}, num_heads=2)
    parts = [by_heads(x + b, 2) for x, b in zip((q, k, v), np.split(bias, 3), strict=True)]
    close(y, attended(*parts))


def test_rotary_embedding():
    x, cos, sin, places = f(2, 3, 8), f(9, 2), f(9, 2), RNG.integers(0, 9, (2, 3))
    (y,) = results("RotaryEmbedding", {"x": x, "p": places, "c": cos, "s": sin})
    wanted = turned(by_heads(x, 2), cos[places], sin[places])
    close(y, wanted.transpose(0, 2, 1, 3).reshape(2, 3, 8))


@pytest.mark.nightly
@pytest.mark.parametrize("room", [0, 6])
def test_grouped_queries_with_a_cache(room):
    """One new token behind those of each row, or a first prompt."""
    tokens, depth, lengths = (1, 4, np.array([5, 3], "int32")) if room else (3, 4, np.array([2, 2], "int32"))
    q, k, v, cos, sin = f(2, tokens, 16), f(2, tokens, 8), f(2, tokens, 8), f(9, 2), f(9, 2)
    past = [f(2, 2, room, depth), f(2, 2, room, depth)] if room else [None, None]
    operands = {"q": q, "k": k, "v": v, "pk": past[0], "pv": past[1], "n": lengths, "t": np.array(7, "int32")}
    sizes = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}
    y, keys, values = results("GroupQueryAttention", {**operands, "c": cos, "s": sin}, outputs=3, **sizes)
    before = lengths - tokens + 1
    for row in range(2):
        at = before[row] + np.arange(tokens)
        q1, k1 = (turned(by_heads(x[row : row + 1], n), cos[at][None], sin[at][None]) for x, n in ((q, 4), (k, 2)))
        v1 = by_heads(v[row : row + 1], 2)
        if room:
            k1, v1 = (
                np.concatenate([p[row : row + 1, :, : before[row]], x], 2) for p, x in zip(past, (k1, v1), strict=True)
            )
        seen = np.arange(k1.shape[2]) <= at[:, None]
        close(y[row : row + 1], attended(q1, k1.repeat(2, 1), v1.repeat(2, 1), np.where(seen, 0, -1e30)))
        close(keys[row : row + 1, :, : k1.shape[2]], k1)
        close(values[row : row + 1, :, : k1.shape[2]], v1)


PAIR = r"keys without values, or values without keys\n  fix: both, or one packed tensor"
ANGLES = r"do_rotary without cosines and sines\n  fix: both tables"


@pytest.mark.parametrize(
    ("parts", "attrs", "message"),
    [
        ({"k": f(1, 3, 8)}, {}, PAIR),
        ({"v": f(1, 3, 8)}, {}, PAIR),
        ({"k": f(1, 3, 8), "v": f(1, 3, 8)}, {"do_rotary": 1}, ANGLES),
        ({"k": f(1, 3, 8), "v": f(1, 3, 8), "c": f(9, 2)}, {"do_rotary": 1}, ANGLES),
    ],
    ids=["keys", "values", "no tables", "no sines"],
)
def test_grouped_queries_that_lack_an_operand(parts, attrs, message):
    lengths = {"n": np.array([2], "int32"), "t": np.array(3, "int32")}
    operands = {"q": f(1, 3, 16), **dict.fromkeys(["k", "v", "pk", "pv"]), **lengths, "c": None, "s": None} | parts
    with pytest.raises(GraphError, match="GroupQueryAttention, node y0: " + message):
        results("GroupQueryAttention", operands, outputs=3, num_heads=4, kv_num_heads=2, **attrs)


def test_an_lstm_of_integers_without_a_scale():
    weights = {"w": np.zeros((1, 3, 32), "int8"), "r": np.zeros((1, 8, 32), "int8")}
    operands = {"x": f(4, 2, 3), **weights, **dict.fromkeys("blicp")}
    with pytest.raises(
        GraphError, match=r"node y0: weights in integers without a scale\n  fix: one for each direction"
    ):
        results("DynamicQuantizeLSTM", operands, outputs=3, weights=weights, hidden_size=8)


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        ("BiasGelu", lambda x, b: 0.5 * (x + b) * (1 + np.vectorize(math.erf)((x + b) / 2**0.5))),
        (
            "FastGelu",
            lambda x, b: 0.5 * (x + b) * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + b + 0.044715 * (x + b) ** 3))),
        ),
    ],
)
def test_gelu_of_a_sum(op, wanted):
    x, bias = f(3, 8), f(8)
    close(results(op, {"x": x, "b": bias})[0], wanted(x, bias))


def test_a_sum_of_rounded_numbers():
    x, y = (RNG.integers(0, 256, (3, 4)).astype("uint8") for _ in range(2))
    parts = {"x": x, "xs": np.float32(0.1), "xz": np.uint8(7), "y": y, "ys": np.float32(0.2), "yz": np.uint8(9)}
    scalars = {name: np.asarray(v) for name, v in {**parts, "s": np.float32(0.3), "z": np.uint8(100)}.items()}
    (found,) = results("QLinearAdd", scalars, weights=[n for n in scalars if n not in "xy"])
    wanted = np.round(((x.astype(int) - 7) * 0.1 + (y.astype(int) - 9) * 0.2) / 0.3) + 100
    assert np.abs(found.astype(int) - np.clip(wanted, 0, 255)).max() <= 1  # a tie in float32
