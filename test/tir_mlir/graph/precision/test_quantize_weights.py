"""Graphs with rounded weights: what they compute, what they tell, what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from harness.graph_cases import mlp, random, run_mlp
from harness.graphs import graph_of, operators

from tir_mlir import build, quantize_weights
from tir_mlir.errors import BuildError, GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import STAGES, compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.precision.formats import format_of, from_bfloat16, round_weight, to_bfloat16

SIZES = (64, 32, 16)
FORMATS = [("bf16", None), ("int8", None), ("int8", 16), ("int4", None)]


def wanted(graph: Graph, x: np.ndarray, name: str, group: int | None) -> np.ndarray:
    """What NumPy computes with the rounded weights."""
    how = format_of(name, group)
    weights = {n: round_weight(w, how, 0).values if w.ndim == 2 else w for n, w in graph.weights.items()}
    return run_mlp(Graph(graph.module, weights), x)


@pytest.mark.parametrize(("name", "group"), FORMATS)
@pytest.mark.parametrize("rows", [1, 5, "n", 70])
@pytest.mark.few(1)
def test_a_model_computes_with_the_rounded_weights(rows, name, group):
    graph = mlp(rows, SIZES)
    model = build(quantize_weights(graph, name, group), threads=1)
    x = random(7 if rows == "n" else rows, SIZES[0], seed=9)
    np.testing.assert_allclose(model(x), wanted(graph, x, name, group), rtol=1e-4, atol=1e-5)


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "group"), FORMATS)
@pytest.mark.nightly
def test_every_stage_keeps_what_the_rounded_graph_computes(name, group):
    graph = quantize_weights(mlp(3, SIZES), name, group)
    for stage in STAGES[-4:]:
        assert compile_graph(graph, until=stage.name).verify(graph), stage.name


def rounded_rows(x: np.ndarray) -> np.ndarray:
    step = np.abs(x).max(axis=1, keepdims=True) * np.float32(1 / 127)
    return np.rint(x / step) * step


ROUNDED = {"bf16": lambda x: from_bfloat16(to_bfloat16(x)), "int8": rounded_rows, "int4": rounded_rows}


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.parametrize("rows", [1, 3, 40, "n"])
@pytest.mark.parametrize("name", list(ROUNDED))
def test_activations_are_rounded_too(name, rows):
    graph = mlp(rows, (128, 32))
    kind = "bf16" if name == "bf16" else "int8"
    small = quantize_weights(graph, name, activations=kind)
    x = random(5 if rows == "n" else rows, 128, seed=4)
    found = build(small, threads=1)(x)
    values = round_weight(graph.weights["w0"], format_of(name, activations=kind), 0).values
    expected = ROUNDED[name](x) @ values.T + graph.weights["b0"]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    assert f"activations {small.rounding.weights[0].format.split()[-1]}" in repr(small.rounding)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", list(ROUNDED))
def test_stages_keep_what_rounded_activations_compute(name):
    small = quantize_weights(mlp(2, (128, 32)), name, activations="bf16" if name == "bf16" else "int8")
    assert compile_graph(small).verify(small)


def test_rounded_weights_are_all_that_a_model_keeps():
    graph = mlp(1, SIZES)
    before, after = build(graph, threads=1), build(graph, threads=1, weights="int8")
    dense = 64 * 32 + 32 * 16
    assert 4 * dense < before.memory.weights and dense < after.memory.weights < 1.6 * dense
    assert {str(t.dtype) for _, t in after.plan.weights.values()} == {"int8", "float32"}
    four = build(quantize_weights(graph, "int4", activations="int8"), threads=1)
    assert four.memory.weights < 0.55 * after.memory.weights + 500
    assert after.memory.unshared == before.memory.unshared  # no widened weight in the arena


def test_the_errors_are_told():
    graph = mlp(1, SIZES)
    told = quantize_weights(graph, "int4", 16, only=["w*"]).rounding
    assert [w.name for w in told.weights] == ["w0", "w1"] and not told.kept
    values = round_weight(graph.weights["w0"], format_of("int4", 16), 0).values
    distance = np.linalg.norm(values - graph.weights["w0"]) / np.linalg.norm(graph.weights["w0"])
    assert told.weights[0].relative == pytest.approx(distance, rel=1e-4) and 0.01 < distance < 0.2
    assert told.weights[0].after == 32 * 64 // 2 + 4 * 32 * 4
    text = repr(told)
    assert (
        text.startswith("2 weights rounded: 10,240 bytes before, 1,920 after") and "32x64  int4, groups of 16" in text
    )
    assert "<td>w0</td>" in told._repr_html_()


@pytest.mark.nightly
def test_outputs_are_compared_on_inputs():
    graph = mlp(2, SIZES)
    errors = [quantize_weights(graph, name).compare(graph, random(2, 64)).relative for name in ("bf16", "int8", "int4")]
    assert 0 < errors[0] < errors[1] < errors[2] < 0.5 or 0 < errors[1] < errors[0] < errors[2] < 0.5
    assert "relative error" in repr(graph.compare(graph, random(2, 64), threads=1))


def test_names_choose_weights():
    graph = mlp(1, SIZES)
    small = quantize_weights(graph, "int8", keep=["w1"])
    assert [w.name for w in small.rounding.weights] == ["w0"] and small.rounding.kept == {"w1": "it was not chosen"}
    mixed = quantize_weights(small, "bf16", only=lambda name, shape: shape == (16, 32))
    assert [(w.name, w.format) for w in mixed.rounding.weights] == [
        ("w0", "int8, a scale per channel"),
        ("w1", "bfloat16"),
    ]
    assert sorted(mixed.weights) == ["b0", "b1", "w0.int8", "w0.scale", "w1.bfloat16"]


def test_what_a_format_cannot_store_is_kept_and_told():
    graph = mlp(1, (33, 32, 10))
    told = quantize_weights(graph, "int4").rounding
    assert [w.name for w in told.weights] == ["w1"] and "rows of 33" in told.kept["w0"] and "kept: w0" in repr(told)


@pytest.mark.parametrize(("more", "words"), [
    ({"only": ["w7"]}, "no product has a weight 'w7'; fix: one of w0, w1"),
    ({"keep": ["b*"]}, "no product has a weight 'b\\*'"),
    ({"only": ["w0"]}, "w0 cannot be stored as int4, groups of 32: its rows of 33"),
])  # fmt: skip
def test_names_that_do_not_fit_are_refused(more, words):
    graph = mlp(1, (33, 32, 10))
    with pytest.raises(GraphError, match=words):
        quantize_weights(graph, "int4", **more)


def test_verify_tells_that_rounded_weights_are_others():
    graph = mlp(1, SIZES)
    with pytest.raises(GraphError, match=r"rounded weights are other weights: w0, w1; fix: .*compare"):
        quantize_weights(graph, "int8").verify(graph)


def test_a_program_has_no_weights_to_round():
    from programs.quantized import Weights, dequantized_product

    with pytest.raises(BuildError, match="weights is for graphs"):
        build(dequantized_product(1, Weights(8, 32)), weights="int8")


def test_a_transposed_weight_and_one_of_two_products():
    def write(b, x):
        w = b.weight("w", random(32, 32) / 6)
        return b.op("matmul", b.op("matmul", x, w), b.op("permute_dims", w))

    graph = graph_of(write, (2, 32))
    small = quantize_weights(graph, "int4")
    assert "permute_dims" not in operators(small)
    x, w = random(2, 32), graph.weights["w"]
    how = format_of("int4")
    expected = x @ round_weight(np.ascontiguousarray(w.T), how, 0).values.T @ round_weight(w, how, 0).values.T
    np.testing.assert_allclose(build(small, threads=1)(x), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "activations"), [("bf16", None), ("bf16", "bf16"), ("int8", None)])
def test_a_convolution_with_a_batch_norm(name, activations):
    def write(b, x):
        w = b.weight("w", random(8, 4, 3, 3) / 6)
        statistics = [b.weight(n, random(8) ** 2 + k) for k, n in enumerate(("gamma", "beta", "mean", "var"))]
        return b.op("nn.relu", b.op("nn.batch_norm", b.op("nn.conv2d", x, w, padding=1), *statistics))

    graph = graph_of(write, (1, 4, 6, 7))
    small = quantize_weights(graph, name, activations=activations)
    assert len(small.rounding) == 1
    found, before = (build(g, threads=1)(random(1, 4, 6, 7)) for g in (small, graph))
    relative = np.linalg.norm(found - before) / np.linalg.norm(before)
    assert 1e-5 < relative < 0.02
    assert "int8" not in name or small.weights["w.int8"].dtype == np.int8


def test_a_weight_that_is_one_number_scales_another():
    b, w = GraphBuilder("main"), random(32, 64) / 8
    scaled = b.op("multiply", b.weight("w", w), b.weight("scale", np.array(3, np.float32)))
    b.output(b.op("nn.dense", b.input("x", (5, 64)), scaled))
    x = random(5, 64, seed=3)
    found = build(quantize_weights(b.finish(), "bfloat16"), threads=1)(x)
    np.testing.assert_allclose(found, x @ (3 * w).T, rtol=0.02, atol=0.05)


def test_two_readers_of_a_weight_each_widen_it():
    def write(b, x):
        w = b.weight("w", random(16, 16))
        return b.op("nn.dense", b.op("nn.relu", b.op("nn.dense", x, w)), w)

    small = quantize_weights(graph_of(write, (1, 16)), "bf16")
    fused = compile_graph(small, until="fuse_tir")
    assert operators(fused) == ["call_tir", "call_tir"] and fused.verify(small)


def test_a_model_is_exported_with_its_rounded_weights(tmp_path):
    model = build(mlp(1, SIZES), threads=1, weights="int4")
    model.export(tmp_path / "net")
    head = (tmp_path / "net" / "net.safetensors").read_bytes()[:2000]
    assert b'"w0.int4":{"dtype":"U8","shape":[32,32]' in head and b'"w0.scale":{"dtype":"F32"' in head


@pytest.mark.parametrize(("name", "group"), [("int8", None), ("int4", None)])
@pytest.mark.nightly
def test_a_bias_that_is_an_operand_of_the_product_stays(name, group):
    def layer(biased):
        def write(b, x):
            w, bias = b.weight("w0", random(8, 64)), b.weight("b0", random(8, seed=5))
            return b.op("nn.dense", x, w, bias) if biased else b.op("add", b.op("nn.dense", x, w), bias)

        return quantize_weights(graph_of(write, (3, 64)), name, group)

    x = random(3, 64, seed=9)
    one, other = (build(layer(biased), threads=1)(x) for biased in (True, False))
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
