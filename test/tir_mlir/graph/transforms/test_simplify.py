"""Graphs made simpler, and what must stay as it is."""

from __future__ import annotations

import numpy as np
import pytest
from harness.graphs import check_same, graph_of, operators

from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.fold_batch_norm import fold_batch_norm
from tir_mlir.graph.transforms.simplify import simplify


def permuted(b, x, *orders):
    for order in orders:
        x = b.op("permute_dims", x, axes=order)
    return x


def reshaped(b, x, *shapes):
    for shape in shapes:
        x = b.op("reshape", x, shape=shape)
    return x


@pytest.mark.parametrize(("write", "shape", "left"), [
    (lambda b, x: b.op("nn.relu", permuted(b, x, (2, 0, 1), (1, 2, 0))), (2, 3, 4), ["nn.relu"]),
    (lambda b, x: permuted(b, x, (1, 0, 2), (0, 2, 1)), (2, 3, 4), ["permute_dims"]),
    (lambda b, x: permuted(b, x, (1, 0, 2)), (1, 3, 4), ["reshape"]),
    (lambda b, x: permuted(b, x, (1, 0, 2)), (2, 3, 4), ["permute_dims"]),
    (lambda b, x: b.op("nn.relu", reshaped(b, x, (6, 4), (24,), (2, 3, 4))), (2, 3, 4), ["nn.relu"]),
    (lambda b, x: reshaped(b, x, (6, 4), (24,)), (2, 3, 4), ["reshape"]),
])  # fmt: skip
def test_what_is_left(write, shape, left):
    graph = graph_of(write, shape)
    made = simplify(graph)
    assert operators(made) == left
    check_same(graph, made)


def test_a_product_of_many_rows_is_one_product():
    w = np.arange(20.0, dtype="float32").reshape(5, 4)
    graph = graph_of(
        lambda b, x: b.op("nn.relu", b.op("add", b.op("nn.dense", x, b.weight("w", w)), w[:, 0])), (2, 3, 4)
    )
    made = simplify(graph)
    assert operators(made) == ["reshape", "nn.dense", "constant", "add", "nn.relu", "reshape"]
    check_same(graph, made)


@pytest.mark.nightly
def test_symbolic_rows():
    w = np.ones((5, 4), "float32")
    graph = graph_of(lambda b, x: b.op("nn.dense", x, b.weight("w", w)), ("n", 3, 4))
    check_same(graph, simplify(graph), n=7)


def test_a_reshape_that_others_read_stays():
    def write(b, x):
        y = b.op("reshape", x, shape=(2, 3, 4))
        return b.op("nn.relu", y), y

    graph = graph_of(write, (6, 4))
    assert operators(simplify(graph)) == ["reshape", "nn.relu"]


def test_an_operand_along_another_axis_keeps_the_reshape_above():
    graph = graph_of(lambda b, x, y: b.op("add", b.op("reshape", x, shape=(2, 3, 4)), y), (6, 4), (3, 1))
    made = simplify(graph)
    assert operators(made) == ["reshape", "add"]
    check_same(graph, made)


def test_rows_along_the_last_axis_meet_their_product():
    graph = graph_of(lambda b, x: b.op("nn.softmax", b.op("reshape", x, shape=(2, 3, 4)), axis=-1), (6, 4))
    assert operators(simplify(graph)) == ["nn.softmax", "reshape"]


def test_a_softmax_along_another_axis_stays():
    graph = graph_of(lambda b, x: b.op("nn.softmax", b.op("reshape", x, shape=(2, 3, 4)), axis=1), (6, 4))
    made = simplify(graph)
    assert operators(made) == ["reshape", "nn.softmax"]
    check_same(graph, made, rtol=1e-6)


def test_equal_nodes_are_one_and_dead_ones_go():
    def write(b, x):
        b.op("exp", x)
        return b.op("add", b.op("nn.relu", x), b.op("nn.relu", x))

    made = clean(graph_of(write, (3, 5)))
    assert operators(made) == ["nn.relu", "add"] and "@exp" not in made.text()


def test_packed_calls_stay():
    def write(b, x):
        b.call_packed("log", [x], [((3,), "float32")])
        return b.op("nn.relu", x)

    assert operators(clean(graph_of(write, (3,)))) == ["call_packed", "nn.relu"]


def test_the_graph_given_is_not_modified():
    graph = graph_of(lambda b, x: permuted(b, x, (1, 0), (1, 0)), (2, 3))
    before = graph.text()
    simplify(graph)
    assert graph.text() == before


def biased_layer(rows: tuple[int, ...] = (3, 5), normed: bool = False):
    """x @ w.T + b by one operator, then a batch normalization."""

    def write(b, x):
        rng = np.random.default_rng(1)
        w, bias, *rest = (
            b.weight(n, rng.random(s, "f") + 1) for n, s in (("w", (4, 5)), *((n, (4,)) for n in "bgsmv"))
        )
        made = b.op("nn.dense", x, w, bias)
        return b.op("nn.batch_norm", made, *rest, axis=1) if normed else made

    return graph_of(write, rows)


def test_a_product_with_a_bias_is_a_product_and_a_sum():
    for rows in ((3, 5), (2, 3, 5), (5,)):
        graph = biased_layer(rows)
        made = simplify(graph)
        assert "nn.dense" in operators(made) and "add" in operators(made)
        assert made.verify(graph)


def test_a_normalized_product_keeps_its_bias():
    graph = biased_layer(normed=True)
    for made in (fold_batch_norm(graph), fold_batch_norm(simplify(graph))):
        assert "nn.batch_norm" not in operators(made)
        check_same(graph, made, rtol=1e-5)


def test_heads_of_keys_that_are_shared_are_not_copied():
    b = GraphBuilder()
    q, k, v = b.input("q", (1, 4, 3, 8)), b.input("k", (1, 2, 5, 8)), b.input("v", (1, 2, 5, 8))

    def repeated(x):
        spread = b.op("broadcast_to", b.op("expand_dims", x, axis=2), shape=(1, 2, 2, 5, 8))
        return b.op("reshape", spread, shape=(1, 4, 5, 8))

    b.output(b.op("nn.attention", q, repeated(k), repeated(v), layout="BHSD"))
    graph = b.finish()
    simplified = simplify(graph)
    assert [node.operator for node in simplified.func.nodes] == ["nn.attention"]
    assert simplified.verify(graph)
