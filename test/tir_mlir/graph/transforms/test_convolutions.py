"""Batch normalization in weights, and images with their channels last."""

import numpy as np
import pytest
from harness.graphs import check_same, graph_of, operators

from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.transforms.channels_last import channels_last
from tir_mlir.graph.transforms.fold_batch_norm import fold_batch_norm
from tir_mlir.graph.transforms.lift_weights import lift_weights

RNG = np.random.default_rng(5)


def weights(b, *shape, name="w"):
    name = f"{name}{len(b.weights)}"
    return b.weight(name, RNG.uniform(0.5, 1.5, shape).astype("float32"))


def normalized(b, x, channels, **given):
    return b.op("nn.batch_norm", x, *(weights(b, channels) for _ in range(4)), **given)


def left(graph):
    """The operators that run each time."""
    return [name for name in operators(lift_weights(graph)) if name != "reshape"]


@pytest.mark.parametrize(("write", "shape", "names"), [
    (lambda b, x: normalized(b, b.op("nn.conv2d", x, weights(b, 5, 3, 3, 3), padding=1), 5), (1, 3, 7, 6),
     ["nn.conv2d", "add"]),
    (lambda b, x: normalized(b, b.op("add", b.op("nn.conv2d", x, weights(b, 5, 3, 1, 1)), weights(b, 5, 1, 1)), 5),
     (2, 3, 5, 5), ["nn.conv2d", "add"]),
    (lambda b, x: normalized(b, b.op("nn.conv2d", x, weights(b, 6, 1, 3, 3), groups=6), 6), (1, 6, 5, 5),
     ["nn.conv2d", "add"]),
    (lambda b, x: normalized(b, b.op("nn.dense", x, weights(b, 5, 4)), 5, axis=1), (3, 4), ["nn.dense", "add"]),
    (lambda b, x: normalized(b, b.op("nn.relu", x), 3, scale=False), (1, 3, 4, 4), ["nn.relu", "multiply", "add"]),
    (lambda b, x: normalized(b, x, 3, center=False), (1, 3, 4, 4), ["multiply", "add"]),
])  # fmt: skip
def test_batch_normalization_goes_into_weights(write, shape, names):
    graph = graph_of(write, shape)
    made = fold_batch_norm(graph)
    assert left(made) == names
    check_same(graph, made, rtol=2e-6)


def test_what_others_read_is_not_scaled():
    def write(b, x):
        y = b.op("nn.conv2d", x, weights(b, 5, 3, 1, 1))
        return normalized(b, y, 5), y

    graph = graph_of(write, (1, 3, 4, 4))
    made = fold_batch_norm(graph)
    assert left(made) == ["nn.conv2d", "multiply", "add"]
    check_same(graph, made, rtol=2e-6)


def test_statistics_that_are_inputs_stay():
    graph = graph_of(lambda b, x, s: b.op("nn.batch_norm", x, s, s, s, s), (1, 3, 4, 4), (3,))
    assert operators(fold_batch_norm(graph)) == ["nn.batch_norm"]


def block(b, x):
    y = b.op("nn.relu", b.op("add", b.op("nn.conv2d", x, weights(b, 4, 3, 3, 3), padding=1), weights(b, 4, 1, 1)))
    z = b.op(
        "nn.max_pool2d", b.op("nn.conv2d", y, weights(b, 4, 4, 1, 1)), pool_size=2, strides=1, padding=[0, 0, 1, 1]
    )
    return b.op("nn.relu", b.op("add", z, y))


@pytest.mark.nightly
def test_permutations_are_left_at_the_ends_only():
    graph = graph_of(block, (1, 3, 6, 5))
    made = channels_last(graph)
    names = left(made)
    assert names.count("permute_dims") == 2 and names[0] == names[-1] == "permute_dims"
    with enter_context():
        assert {n.attributes["data_layout"] for n in made.func.nodes if n.operator == "nn.conv2d"} == {"NHWC"}
    check_same(graph, made, rtol=2e-6)


@pytest.mark.parametrize("write", [
    lambda b, y: b.op("reshape", b.op("mean", y, axis=[2, 3]), shape=(2, 4)),
    lambda b, y: b.op("reshape", b.op("nn.adaptive_avg_pool2d", y, output_size=[1, 1]), shape=(2, 4)),
    lambda b, y: b.op("mean", b.op("concat", y, y, axis=1), axis=[2, 3], keepdims=False),
])  # fmt: skip
@pytest.mark.nightly
def test_the_end_of_a_network_needs_no_permutation(write):
    graph = graph_of(lambda b, x: write(b, block(b, x)), (2, 3, 6, 5))
    made = channels_last(graph)
    assert left(made).count("permute_dims") == 1
    check_same(graph, made, rtol=1e-5)


@pytest.mark.nightly
def test_a_gate_of_channels_is_no_obstacle():
    def write(b, x):
        y = block(b, x)
        gate = b.op("nn.conv2d", b.op("mean", y, axis=[2, 3], keepdims=True), weights(b, 4, 4, 1, 1))
        return b.op("mean", b.op("multiply", y, b.op("sigmoid", gate)), axis=[2, 3])

    graph = graph_of(write, (1, 3, 6, 5))
    made = channels_last(graph)
    assert left(made).count("permute_dims") == 1
    check_same(graph, made, rtol=1e-5)


@pytest.mark.parametrize(("divided", "axes", "joined"), [
    ((1, 2, 2, 2, 6, 5), (0, 1, 4, 2, 5, 3), (1, 2, 12, 10)),  # a pixel shuffle
    ((2, 4, 6, 5), (1, 0, 2, 3), (1, 8, 6, 5)),  # channels of groups, without the axis of images
    ((1, 8, 3, 2, 5, 1), (0, 3, 5, 1, 2, 4), (1, 16, 3, 5)),  # pixels to channels
])  # fmt: skip
def test_what_moves_parts_of_axes_is_no_obstacle(divided, axes, joined):
    def write(b, x):
        y = b.op(
            "permute_dims",
            b.op("reshape", b.op("nn.conv2d", x, weights(b, 8, 3, 3, 3), padding=1), shape=divided),
            axes=axes,
        )
        return b.op("nn.conv2d", b.op("reshape", y, shape=joined), weights(b, 2, joined[1], 3, 3))

    graph = graph_of(write, (1, 3, 6, 5))
    made = channels_last(graph)
    assert left(made).count("permute_dims") == 3  # of the input, the parts and the result
    check_same(graph, made)


def test_what_joins_parts_of_several_axes_keeps_its_layout():
    def write(b, x):
        y = b.op("reshape", b.op("nn.conv2d", x, weights(b, 4, 3, 3, 3), padding=1), shape=(1, 2, 2, 30))
        return b.op("reshape", b.op("permute_dims", y, axes=(0, 1, 3, 2)), shape=(1, 2, 30, 2))

    made = channels_last(graph_of(write, (1, 3, 6, 5)))
    assert left(made)[:3] == ["permute_dims", "nn.conv2d", "permute_dims"]


@pytest.mark.nightly
def test_an_operator_over_channels_keeps_its_layout():
    graph = graph_of(lambda b, x: b.op("nn.softmax", block(b, x), axis=1), (1, 3, 6, 5))
    made = channels_last(graph)
    assert left(made)[-2:] == ["permute_dims", "nn.softmax"]
    check_same(graph, made, rtol=1e-5)


def test_graphs_without_images_are_returned_as_they_are():
    graph = graph_of(lambda b, x: b.op("nn.relu", x), (3, 4))
    assert channels_last(graph) is graph


@pytest.mark.nightly
def test_channels_of_depthwise_weights_are_last():
    def write(b, x):
        y = b.op("nn.relu6", b.op("nn.conv2d", block(b, x), weights(b, 4, 1, 3, 3), groups=4, padding=1))
        return b.op("mean", y, axis=[2, 3])

    graph = graph_of(write, (1, 3, 6, 5))
    made = channels_last(graph)
    with enter_context():
        layouts = [n.attributes["kernel_layout"] for n in made.func.nodes if n.operator == "nn.conv2d"]
    assert layouts == ["OIHW", "OIHW", "HWOI"] and left(made).count("permute_dims") == 1
    check_same(graph, made, rtol=1e-5)
