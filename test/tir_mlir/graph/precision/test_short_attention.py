"""Attention whose weights are rounded for tiles and dot products of a CPU."""

import numpy as np
import pytest

from tir_mlir.dialect.diagnostics import BuildWarning
from tir_mlir.graph import GraphBuilder, compile_graph
from tir_mlir.targets.stages import BuildOptions


def test_an_exact_comparison_warns_of_the_rounding():
    b = GraphBuilder()
    q, k, v = (b.input(name, (1, 32, 1, 32), "bfloat16") for name in "qkv")
    b.output(b.op("nn.attention", q, k, v))
    options = BuildOptions(target="sapphire_rapids", cache=False)
    with pytest.warns(BuildWarning, match=r"the stage short_attention rounds.*fix: after = compile_graph"):
        graph = compile_graph(b.finish(), until="short_attention", options=options, verify=True)
    assert 'weights_dtype="bfloat16"' in graph.script()


def attention(queries, keys, masked=False, causal=None):
    b = GraphBuilder()
    shapes = (2, queries, 32), (2, keys, 32), (2, keys, 48)
    operands = [b.input(name, (1, *shape), "bfloat16") for name, shape in zip("qkv", shapes, strict=True)]
    if masked:
        operands.append(b.input("m", (1, 1, queries, keys), "bool"))
    b.output(b.op("nn.attention", *operands, layout="BHSD", causal_mask=causal))
    return b.finish()


def reference(q, k, v, seen):
    """In float64. A query that sees no key gets the mean of the values."""
    s = np.where(seen, q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), np.finfo(np.float32).min)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


@pytest.mark.parametrize(
    ("queries", "keys", "masked", "causal"),
    [(15, 16, False, None), (17, 48, True, None), (127, 128, False, "TopLeft"), (16, 127, False, "BottomRight")],
)
def test_the_error_is_that_of_rounding_weights_and_results(queries, keys, masked, causal):
    """By 2^-9 of each weight, which are 1 in all, and of the result: of values of at most 4, and then some."""
    rng = np.random.default_rng(queries)
    shapes = (1, 2, queries, 32), (1, 2, keys, 32), (1, 2, keys, 48)
    words = [(rng.uniform(-4, 4, s).astype("float32").view("uint32") >> 16).astype("uint16") for s in shapes]
    seen = np.tri(queries, keys, keys - queries if causal == "BottomRight" else 0 if causal else keys, dtype=bool)
    mask = [rng.random((1, 1, queries, keys)) < 0.3] if masked else []
    if masked:
        mask[0][..., 0, :] = False
    model = attention(queries, keys, masked, causal).build_model(threads=1)
    (result,) = (model(*words, *mask),)
    widened = [(x.astype("uint32") << 16).view("float32").astype("float64") for x in (*words, np.asarray(result))]
    wanted = reference(*widened[:3], mask[0] if masked else seen)
    assert np.abs(widened[3] - wanted).max() < 2 * 4 * 2.0**-9 + 1e-4


@pytest.mark.parametrize(("queries", "keys", "short"), [(17, 48, True), (17, 40, False), (4, 48, False)])
def test_dot_products_take_whole_vectors_of_keys(queries, keys, short):
    options = BuildOptions(target="zen4", cache=False)
    text = compile_graph(attention(queries, keys), until="short_attention", options=options).script()
    assert ("weights_dtype" in text) is short
