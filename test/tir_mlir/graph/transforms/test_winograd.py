"""Convolutions with fewer multiplications: which ones, and that results are the same."""

import numpy as np
import pytest
from harness.graphs import check_same, graph_of, operators

from tir_mlir import quantize_weights
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
