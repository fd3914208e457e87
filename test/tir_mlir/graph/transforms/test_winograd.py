"""Convolutions with fewer multiplications: which ones, and that results are the same."""

import numpy as np
import pytest
from harness.graphs import check_same, graph_of, operators

import tir_mlir
from tir_mlir import quantize_weights, te, topi
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.winograd import winograd


def layer(size=(16, 18), channels=(32, 48), window=3, dtype="float32", weight=True, **attrs):
    """A convolution in NHWC; its weights are multiples of 4, so that all numbers are exact."""
    shape = (channels[1], channels[0] // attrs.get("groups", 1), window, window)
    numbers = 4 * np.random.default_rng(1).integers(-4, 5, shape).astype(dtype)

    def write(b, x, *given):
        attrs.setdefault("padding", 1)
        return b.op("nn.conv2d", x, *given or [b.weight("w", numbers)], data_layout="NHWC", **attrs)

    return graph_of(write, (1, *size, channels[0]), *[] if weight else [shape], dtype=dtype)


@pytest.mark.parametrize(("size", "channels", "padding"), [
    ((16, 18), (32, 48), 1), ((18, 16), (127, 16), [0, 0, 2, 2]), ((17, 15), (33, 64), [1, 1, 0, 2]),
])  # fmt: skip
def test_results_are_the_same(size, channels, padding):
    graph = layer(size, channels, padding=padding)
    made = winograd(graph, "avx2", 1)
    assert operators(made) == ["nn.winograd_weights", "nn.conv2d_winograd"]
    check_same(graph, made)


def test_it_is_proved_over_a_field():
    graph = layer()
    assert winograd(graph, "avx2", 1).verify(graph)


@pytest.mark.parametrize("given", [
    {"size": (15, 16)}, {"channels": (3, 32)}, {"channels": (32, 20)}, {"strides": 2}, {"window": 1, "padding": 0},
    {"groups": 2}, {"dilation": 2, "padding": 2}, {"dtype": "float64"}, {"weight": False}, {"size": (4, 4)},
    {"size": (2, 64)},
], ids=str)  # fmt: skip
def test_other_convolutions_remain(given):
    assert operators(winograd(layer(**given), "avx2", 1)) == ["nn.conv2d"]


def test_rows_of_tiles_are_enough_for_the_threads():
    assert operators(winograd(layer(), "avx2", 64)) == ["nn.conv2d"]


def test_weights_that_are_widened_in_each_call_remain():
    assert "nn.conv2d" in operators(winograd(quantize_weights(layer(), "bfloat16"), "avx2", 1))


RNG = np.random.default_rng(5)


def layer_of_bytes(x: np.ndarray, w: np.ndarray, **options: object) -> Graph:
    b = GraphBuilder()
    image, kernel = b.input("x", x.shape, str(x.dtype)), b.weight("w", w)
    b.output(b.op("nn.conv2d", image, kernel, data_layout="NHWC", out_dtype="int32", **options))
    return b.finish()


def sums(x: np.ndarray, w: np.ndarray, padding: list[int], value: int) -> np.ndarray:
    """The convolution by definition."""
    top, left, bottom, right = padding
    image = np.pad(x.astype("int64"), ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=value)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2))
    return np.einsum("nyxcij,ocij->nyxo", windows, w.astype("int64"))


@pytest.mark.parametrize(
    ("dtype", "size", "padding", "value"),
    [
        ("uint8", (1, 11, 13), [1, 1, 1, 1], 0),
        ("uint8", (2, 9, 12), [0, 2, 1, 0], 255),
        ("int8", (1, 17, 15), [0, 0, 0, 0], 0),
        ("int8", (3, 8, 8), [1, 1, 1, 1], -128),
    ],
)
def test_results_of_bytes_are_those_of_the_definition(dtype, size, padding, value):
    least = -128 if dtype == "int8" else 0
    x = RNG.integers(least, least + 256, (*size, 33)).astype(dtype)
    w = RNG.integers(-128, 128, (35, 33, 3, 3)).astype("int8")
    graph = winograd(layer_of_bytes(x, w, padding=padding, pad_value=value), "avx2", 1)
    assert "R.nn.winograd_results" in graph.script()
    np.testing.assert_array_equal(tir_mlir.build(graph, threads=1)(x), sums(x, w, padding, value))


def test_the_largest_sums_of_bytes_are_exact():
    x, w = np.full((1, 13, 12, 64), 255, "uint8"), np.full((32, 64, 3, 3), -128, "int8")
    w[1::2, ::2] = 127
    graph = winograd(layer_of_bytes(x, w), "avx2", 1)
    np.testing.assert_array_equal(tir_mlir.build(graph, threads=1)(x), sums(x, w, [0] * 4, 0))


def test_sixteen_tiles_share_the_weights_of_bytes():
    x, w = np.zeros((1, 10, 10, 32), "uint8"), np.zeros((32, 32, 3, 3), "int8")
    assert "nn.winograd_tiles" in winograd(layer_of_bytes(x, w), "avx2", 1).script()


@pytest.mark.parametrize(
    ("target", "size", "channels", "options"),
    [
        ("avx512_vnni", 16, 32, {}),
        ("avx2", 8, 32, {}),
        ("avx2", 96, 64, {}),
        ("avx2", 16, 16, {}),
        ("avx2", 32, 32, {"strides": 2}),
        ("avx2", 32, 32, {"dilation": 2}),
    ],
)
def test_other_convolutions_of_bytes_remain(target, size, channels, options):
    x, w = np.zeros((1, size, size, channels), "uint8"), np.zeros((32, channels, 3, 3), "int8")
    assert "nn.conv2d" in winograd(layer_of_bytes(x, w, **options), target, 1).script()


def test_operators_of_bytes_refuse_other_images_and_products():
    with pytest.raises(GraphError, match="pass int8 or uint8 of even height and width, 4 at least"):
        topi.nn.winograd_tiles(te.placeholder((1, 5, 4, 8), "uint8", name="x"))
    with pytest.raises(GraphError, match=r"pass int32 of \(4, 4, n, 2, 3, o\) for 3 x 5 pixels"):
        topi.nn.winograd_results(te.placeholder((4, 4, 1, 2, 2, 8), "int32", name="m"), [3, 5])
