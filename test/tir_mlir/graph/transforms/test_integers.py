"""Quantised graphs in integers: what is computed, what remains in floats, and what it is equal to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tir_mlir
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.patches import patches
from tir_mlir.graph.transforms.scale_sums import scale_sums
from tir_mlir.target import AVX2, AVX512, AVX512_VNNI, host

RNG = np.random.default_rng(3)
STEP = np.float32(0.02)


def layer(weight_zero: int = 0, groups: int = 1, residual: bool = False, zero: int = 3) -> Graph:
    """quantize(relu(conv2d(dequantize(x), dequantize(w)) + bias)) of 16 channels, perhaps with a sum after it."""
    b = GraphBuilder()
    x = b.input("x", (1, 16, 6, 6), "uint8")
    kernel, scales = RNG.integers(-127, 128, (16, 16 // groups, 3, 3)).astype("int8"), RNG.uniform(0.001, 0.01, 16)
    image = b.op("dequantize", x, b.constant(STEP), b.constant(np.int32(zero)))
    zeros = [b.constant(np.int32(weight_zero))] if weight_zero else []
    scale = b.weight("scale", scales.astype("float32")) if not zeros else b.constant(STEP)
    weight = b.op("dequantize", b.weight("w", kernel), scale, *zeros, axis=0)
    y = b.op("nn.conv2d", image, weight, padding=[1] * 4, groups=groups)
    y = b.op("nn.relu", b.op("add", y, b.weight("bias", RNG.normal(0, 1, (1, 16, 1, 1)).astype("float32"))))
    y = b.op("quantize", y, b.constant(np.float32(0.05)), out_dtype="uint8")
    if residual:
        y = b.op("add", b.op("dequantize", y, b.constant(np.float32(0.05))), image)
        y = b.op("quantize", y, b.constant(np.float32(0.1)), out_dtype="uint8")
    b.output(y)
    return b.finish()


def operators(graph: Graph, until: str = "integers") -> str:
    return compile_graph(graph, until=until).script()


def expected(graph: Graph, x: np.ndarray, groups: int) -> np.ndarray:
    """The numbers by definition, in float64."""
    image = np.pad(x.astype("float64") - 3, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (2, 3))[0]
    parts = [
        np.einsum("chwij,ocij->ohw", a, k)
        for a, k in zip(np.split(windows, groups), np.split(graph.weights["w"].astype("float64"), groups), strict=True)
    ]
    scale = float(STEP) * graph.weights["scale"].astype("float64")[:, None, None]
    y = np.maximum(np.concatenate(parts) * scale + graph.weights["bias"][0], 0)
    return np.clip(np.rint(y / float(np.float32(0.05))), 0, 255)


AVX_VNNI = replace(AVX2, features=AVX2.features | {"avxvnni"})


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("target", "groups"),
    [
        (host(), 1),
        (host(), 4),
        (host(), 16),
        (AVX2, 1),
        (AVX2, 4),
        (AVX_VNNI, 1),
        (AVX512, 1),
        (AVX512_VNNI, 1),
        (AVX_VNNI, 16),
        (AVX512_VNNI, 16),
    ],
)
def test_results_are_those_of_the_definition(target, groups):
    """On each instruction set: multiply-adds of pairs, dot products of four bytes, tiles."""
    if not target.runs_here:
        pytest.skip(target.hindrance)
    graph, x = layer(groups=groups), RNG.integers(0, 256, (1, 16, 6, 6)).astype("uint8")
    result = np.asarray(tir_mlir.build(graph, target=target, threads=1)(x))
    np.testing.assert_array_equal(result[0], expected(graph, x, groups))


def test_a_convolution_is_of_integers_and_rounds_once():
    text = operators(layer())
    assert 'out_dtype="int32"' in text and "pad_value=3" in text
    assert text.count("R.round_to") == 1 and "R.quantize" not in text and "R.dequantize" not in text


def test_a_sum_reads_integers_and_scales_them_for_the_result():
    text = operators(layer(residual=True))
    assert text.count("R.round_to") == text.count("R.dequantize") == 2 and "R.quantize" not in text


def test_sums_are_scaled_and_rounded_by_one_operator_as_by_several():
    """That of a residual adds two tensors of integers."""
    graph, x = layer(residual=True), RNG.integers(0, 256, (1, 16, 6, 6)).astype("uint8")
    before = compile_graph(graph, until="integers")
    after = scale_sums(before)
    text = after.script()
    assert text.count("R.requantize") == 2 and "R.round_to" not in text and "R.dequantize" not in text
    (one,), _ = after.interpret(x)
    (several,), _ = before.interpret(x)
    np.testing.assert_array_equal(one, several)


def test_layers_that_differ_in_scales_and_zero_points_are_one_function():
    b, w = GraphBuilder(), RNG.integers(-128, 128, (16, 16)).astype("int8")
    x, steps = b.input("x", (17, 16), "uint8"), (b.constant(np.float32(0.1)), b.constant(np.uint8(3)))
    for number, (scale, zero) in enumerate([(0.5, 7), (0.25, 200)]):
        weight = b.op("dequantize", b.weight(f"w{number}", w + number), b.constant(np.float32(0.2)))
        product = b.op("nn.dense", b.op("dequantize", x, *steps), weight)
        steps = b.constant(np.float32(scale)), b.constant(np.uint8(zero))
        x = b.op("quantize", product, *steps, out_dtype="uint8")
    b.output(x)
    functions = compile_graph(b.finish(), "fuse_tir").module.functions
    assert len([name for name in functions if "dense" in name]) == 1


def test_weights_with_a_zero_point_stay_in_floats():
    assert 'out_dtype="int32"' not in operators(layer(weight_zero=2))


def test_convolutions_of_integers_are_products_with_patches_and_depthwise_ones_are_not():
    assert "R.nn.patches" in operators(layer(), "patches")
    assert "R.nn.patches" not in operators(layer(groups=16), "patches")


@pytest.mark.parametrize(
    ("window", "options"),
    [((3, 3), {"strides": [2, 1]}), ((5, 2), {"padding": [2, 0, 1, 3]}), ((3, 1), {"dilation": [2, 2], "padding": 2})],
)
def test_depthwise_weights_in_groups_of_rows_compute_the_same(window, options):
    b = GraphBuilder()
    x = b.input("x", (2, 9, 7, 16), "uint8")
    w = b.weight("w", RNG.integers(-128, 128, (*window, 16, 1)).astype("int8"))
    layouts = {"data_layout": "NHWC", "kernel_layout": "HWOI", "out_dtype": "int32"}
    b.output(b.op("nn.conv2d", x, w, groups=16, **layouts, **options))
    graph, image = b.finish(), RNG.integers(0, 256, (2, 9, 7, 16)).astype("uint8")
    grouped = patches(graph, "avx512_vnni")
    assert "HWOI4h" in grouped.script()
    found, wanted = (tir_mlir.build(g, threads=1)(image) for g in (grouped, graph))
    np.testing.assert_array_equal(found, wanted)


def test_parts_of_a_tensor_are_rounded_before_they_are_put_together():
    """One of the scale of the result is not rounded at all; the other one moves behind a permutation."""
    b, scales = GraphBuilder(), (np.float32(0.05), np.float32(0.02))
    images = [b.input(name, (1, 4, 3, 3), "uint8") for name in "xy"]
    x, y = (b.op("dequantize", v, b.constant(s)) for v, s in zip(images, scales, strict=True))
    both = b.op("concat", x, b.op("permute_dims", y, axes=[0, 1, 3, 2]), axis=1)
    b.output(b.op("quantize", both, b.constant(scales[0]), out_dtype="uint8"))
    graph = b.finish()
    assert operators(graph).count("R.round_to") == 1 and "R.quantize" not in operators(graph)
    given = [RNG.integers(0, 256, (1, 4, 3, 3)).astype("uint8") for _ in "xy"]
    rounded = np.rint(given[1].swapaxes(2, 3).astype("float32") * (scales[1] / scales[0]))
    np.testing.assert_array_equal(tir_mlir.build(graph, threads=1)(*given), np.concatenate([given[0], rounded], 1))


def test_patches_are_computed_in_the_function_of_the_product():
    script = compile_graph(layer(), until="fuse_tir").module.prim_funcs
    assert any(name.startswith("fused_nn_patches_nn_dense") for name in script)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batches": []}, "no batches"),
        ({"batches": [1], "method": "mean"}, "no method 'mean'"),
        ({"batches": [1], "percentile": 3}, "percentile=3"),
        ({"batches": [1], "keep": ["other"]}, "no product has a weight 'other'"),
    ],
)
def test_calibrate_refuses(options, message):
    b = GraphBuilder()
    b.output(b.op("nn.dense", b.input("x", (2, 4), "float32"), b.weight("w", np.ones((3, 4), "float32"))))
    with pytest.raises(GraphError, match=message):
        tir_mlir.calibrate(b.finish(), **options)


def biased(kind):
    """A layer with a bias, as a graph and an input."""
    b, rng = GraphBuilder("main"), np.random.default_rng(3)
    f = lambda *shape: rng.standard_normal(shape, np.float32)  # noqa: E731
    if kind == "dense":
        x = f(4, 16)
        y = b.op("add", b.op("nn.dense", b.input("x", x.shape), b.weight("w", f(6, 16))), b.weight("bias", f(6)))
    else:
        x = f(1, 3, 6, 6)
        y = b.op("nn.conv2d", b.input("x", x.shape), b.weight("w", f(4, 3, 3, 3)), padding=1)
        y = b.op("add", y, b.op("reshape", b.weight("bias", f(4)), shape=(4, 1, 1)))
    b.output(y)
    return b.finish(), x


NPU = {"activations": "int8", "symmetric": True, "per_channel": False, "bias": "int32"}


@pytest.mark.nightly
@pytest.mark.parametrize("method", ["min-max", "percentile", "entropy"])
@pytest.mark.parametrize("kind", ["dense", "conv2d"])
def test_calibrate_for_a_machine_of_one_scale(kind, method):
    graph, x = biased(kind)
    eight = graph.calibrate([x], method, threads=1, **NPU)
    assert all(layer.zero == 0 for layer in eight.calibration.layers)
    assert eight.weights["w.scale"].shape == () and eight.weights["bias.int32"].dtype == np.int32
    assert eight.compare(graph, x, threads=1).relative < 0.02


@pytest.mark.parametrize("kind", ["dense", "conv2d"])
def test_a_bias_of_integers_is_added_to_the_sums(kind):
    graph, x = biased(kind)
    eight = graph.calibrate([x], threads=1, **NPU)
    text = compile_graph(eight, until="integers").script()
    (line,) = [line for line in text.splitlines() if "R.add(" in line]
    assert 'dtype="int32")' in line
    w, s, bias = (eight.weights[n] for n in ("w.int8", "w.scale", "bias.int32"))
    if kind == "dense":
        step = np.float32(np.abs(x).max() / 127)
        q = np.clip(np.rint(x / step), -128, 127).astype(int)
        wanted = ((q @ w.T.astype(int) + bias).astype("float32") * (step * s)).astype("float32")
        np.testing.assert_allclose(tir_mlir.build(eight, threads=1)(x), wanted, rtol=1e-6)


def attention(**attrs: object) -> tuple[Graph, list[np.ndarray]]:
    """Two heads of keys for four of queries, and a mask that hides some of them."""
    b, f = GraphBuilder(), lambda *s: RNG.standard_normal(s).astype("float32")
    arrays = [f(1, 5, 4, 8), f(1, 7, 2, 8), f(1, 7, 2, 6)]
    seen = b.constant(np.arange(7) % 3 != 1)
    b.output(b.op("nn.attention", *(b.input(n, a.shape) for n, a in zip("qkv", arrays, strict=True)), seen, **attrs))
    return b.finish(), arrays


@pytest.mark.nightly
def test_symmetric_attention_is_two_products_of_integers():
    graph, arrays = attention(causal_mask="BottomRight", scale=0.5)
    eight = graph.calibrate([tuple(arrays)], threads=1, **NPU)
    text = compile_graph(eight, until="integers").script()
    assert text.count('out_dtype="int32"') == 2 and "R.nn.attention" not in text
    assert eight.compare(graph, *arrays, threads=1).relative < 0.03


def test_attention_that_is_kept_remains_one_operator():
    graph, arrays = attention()
    eight = graph.calibrate([tuple(arrays)], threads=1, keep=["lv*"], **NPU)
    assert "R.nn.attention" in eight.script() and [*eight.calibration.kept.values()] == ["it was not chosen"]


def test_errors_of_layers_are_measured_when_they_are_read(monkeypatch):
    graph, x = biased("dense")
    built = []
    monkeypatch.setattr(Graph, "build_model", lambda *a, call=Graph.build_model, **k: built.append(a) or call(*a, **k))
    told = graph.calibrate([x], threads=1).calibration
    assert len(told) == 1 and told.names == ("w",) and len(built) == 1
    assert told.worst() == ["w"] and "1 layers in 8 bits" in repr(told) and len(built) == 2


@pytest.mark.nightly
def test_activations_of_int8_have_zero_points():
    graph, x = biased("dense")
    (layer,) = graph.calibrate([np.abs(x)], threads=1, activations="int8").calibration.layers
    assert layer.zero == -128


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"activations": "int4"}, "activations='int4'; fix: uint8 or int8"),
        ({"symmetric": True}, 'fix: activations="int8"'),
        ({"bias": "int16"}, "bias='int16'; fix: float32 or int32"),
    ],
)
def test_calibrate_refuses_kinds_of_integers(options, message):
    graph, x = biased("dense")
    with pytest.raises(GraphError, match=message):
        graph.calibrate([x], threads=1, **options)


def pooled(bound: str = "nn.relu", scale: float = 0.05) -> Graph:
    """A convolution with a bound, rounded, and the maxima of windows of it, rounded as well."""
    b = GraphBuilder()
    image = b.op("dequantize", b.input("x", (1, 2, 4, 4), "uint8"), b.constant(STEP), b.constant(np.int32(3)))
    weight = b.op("dequantize", b.weight("w", np.ones((3, 2, 1, 1), "int8")), b.constant(STEP))
    y = b.op(bound, b.op("nn.conv2d", image, weight))
    y = b.op("quantize", y, b.constant(np.float32(scale)), out_dtype="uint8")
    y = b.op("nn.max_pool2d", b.op("dequantize", y, b.constant(np.float32(scale))), pool_size=[2, 2], strides=[2, 2])
    b.output(b.op("quantize", y, b.constant(np.float32(0.1)), out_dtype="uint8"))
    return b.finish()


@pytest.mark.parametrize("graph", [layer(residual=True), pooled(), pooled("nn.relu6")])
def test_positive_scales_that_move_below_bounds_are_verified(graph):
    assert "round_to" in compile_graph(graph, until="integers", verify=True).script()


@pytest.mark.parametrize("bound", ["nn.relu", "nn.relu6"])
def test_a_negative_scale_remains_behind_bounds_and_maxima(bound):
    text = compile_graph(pooled(bound, scale=-0.05), until="integers", verify=True).script()
    assert text.index(bound) < text.index("R.quantize") < text.index("R.dequantize") < text.index("max_pool2d")


def test_another_scale_is_a_difference():
    assert not compile_graph(pooled(), until="integers").verify(pooled(scale=0.04))
