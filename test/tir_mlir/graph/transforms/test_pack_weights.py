"""Weights in panels, which the graph of the weights computes."""

import numpy as np
import pytest
from harness.graphs import check_same, graph_of

from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.transforms.lift_weights import weights_graph
from tir_mlir.graph.transforms.pack_weights import pack_weights

RNG = np.random.default_rng(5)


def weight(b, name, *shape):
    return b.weight(name, RNG.integers(-3, 4, shape).astype("float32"))


def fused(write, *shapes):
    return compile_graph(graph_of(write, *shapes), until="fuse_tir")


def weights_read(graph):
    with enter_context():
        func = graph.func
        return {func.weight(n): func.input_type(n).shape for n in range(len(func.inputs)) if func.weight(n)}


@pytest.mark.parametrize(("rows", "columns", "depth"), [(15, 127, 17), (16, 64, 16), (127, 15, 33)])
def test_a_product_reads_panels_that_are_computed_once(rows, columns, depth):
    graph = fused(lambda b, x: b.op("nn.relu", b.op("nn.dense", x, weight(b, "w", columns, depth))), (rows, depth))
    made = pack_weights(graph, threads=1)
    (name,) = weights_read(made)
    assert name == "w.panels" and len(weights_read(made)[name]) == 3
    check_same(graph, made)


@pytest.mark.nightly
def test_a_convolution_reads_panels():
    def write(b, x):
        return b.op("nn.conv2d", x, weight(b, "w", 20, 3, 3, 3), padding=1)

    graph = fused(write, (1, 3, 8, 7))
    made = pack_weights(graph, threads=1)
    assert "w.panels" in weights_read(made)
    check_same(graph, made)


def test_equal_weights_are_packed_once_and_equal_functions_stay_one():
    def write(b, x):
        w = weight(b, "w", 16, 16)
        return b.op("nn.dense", b.op("nn.dense", x, w), w)

    made = pack_weights(fused(write, (8, 16)), threads=1)
    assert list(weights_read(made)) == ["w.panels"] and len(made.module.prim_funcs) == 1


def test_a_graph_of_weights_that_exists_is_extended():
    def write(b, x):
        return b.op("matmul", x, b.op("permute_dims", weight(b, "w", 40, 16)))

    graph = fused(write, (8, 16))
    with enter_context():
        before = weights_graph(graph)
        assert before is not None
    made = pack_weights(graph, threads=1)
    with enter_context():
        assert len(weights_graph(made).nodes) == 2
    assert all(name.endswith(".panels") for name in weights_read(made))
    check_same(graph, made)


def test_a_weight_in_another_shape_is_packed():
    def write(b, x):
        return b.op("nn.dense", x, b.op("reshape", weight(b, "w", 4, 5, 16), shape=[20, 16]))

    graph = fused(write, (8, 16))
    made = pack_weights(graph, threads=1)
    assert all(name.endswith(".panels") for name in weights_read(made))
    check_same(graph, made)


@pytest.mark.parametrize("write", [
    lambda b, x: b.op("nn.dense", x, b.op("nn.relu", x)),
    lambda b, x: b.op("add", x, weight(b, "w", 16, 16)),
])  # fmt: skip
def test_what_is_no_weight_of_a_product_stays(write):
    graph = fused(write, (16, 16))
    assert pack_weights(graph, threads=1) is graph


def test_a_parameter_that_is_once_no_weight_stays():
    def write(b, x, y):
        return b.op("nn.dense", x, weight(b, "w", 16, 16)), b.op("nn.dense", x, y)

    graph = fused(write, (16, 16), (16, 16))
    assert pack_weights(graph, threads=1) is graph
