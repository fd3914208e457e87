"""Rules: patterns of nodes of MLIR, what is written for them, and graphs of many nodes."""

import time

import numpy as np
import pytest
from harness.graphs import check_same, graph_of, operators

from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.rewrite import Rewriter, Rule, apply_rules, is_const, is_expr, is_op, is_var, wildcard
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.simplify import simplify

X, Y = wildcard(), wildcard()


def sums(b, x, y):
    return b.op("nn.relu", b.op("add", b.op("multiply", x, y), b.constant(np.float32(2))))


PRODUCT = is_op("multiply")(X, Y)


@pytest.mark.parametrize(
    ("pattern", "number"),
    [
        (is_op("relax.add")(PRODUCT, wildcard()), 1),
        (is_op("add")(is_const(), PRODUCT), 1),  # in either order
        (is_op("add", "nn.relu")(varg_default_wildcard=True), 2),
        (is_op("multiply")(is_var(), X), 0),  # operands that no node computes are values of MLIR
        (is_op("multiply")(X, X), 0),
        (is_op("nn.relu")(PRODUCT + wildcard()), 1),
        (PRODUCT.has_shape((3, 4)).has_rank(2).has_dtype("float32"), 1),
        (PRODUCT.has_shape((4, 3)) | is_op("exp")(X), 0),
        (is_op("nn.relu")(~PRODUCT), 1),
    ],
)
def test_nodes_that_match(pattern, number):
    graph = graph_of(sums, (3, 4), (3, 4))
    with enter_context():
        assert len(list(Rewriter(graph).calls(pattern))) == number


def test_a_value_stands_for_itself():
    graph = graph_of(sums, (3, 4), (3, 4))
    with enter_context():
        x, y = graph.func.inputs
        calls = Rewriter(graph).calls
        assert list(calls(is_op("multiply")(is_expr(x), y))) and not list(calls(is_op("exp")(x)))


def test_a_rule_is_applied_until_nothing_changes():
    rule = Rule(is_op("negative")(is_op("negative")(X)), lambda call, matches: matches[X])

    def write(b, x):
        for _ in range(5):
            x = b.op("negative", x)
        return x

    graph = graph_of(write, (3,))
    made = clean(apply_rules(graph, [rule]))
    assert operators(made) == ["negative"] and operators(graph) == ["negative"] * 5
    check_same(graph, made)


def test_what_is_written_is_matched_again_by_the_first_rule_that_fits():
    rules = [
        Rule(is_op("exp")(X), lambda call, m: call.emit("tanh", [m[X]])),
        Rule(is_op("tanh", "exp")(X), lambda call, m: call.emit("sigmoid", [m[X]])),
        Rule(is_op("sigmoid")(X), lambda call, m: None),
    ]
    graph = graph_of(lambda b, x: b.op("exp", x), (3,))
    assert operators(clean(apply_rules(graph, rules))) == ["sigmoid"]


def test_a_long_graph_takes_time_in_proportion():
    """A reshape moves behind all operators; four times the nodes take less than ten times as long."""

    def chain(length):
        def write(b, x):
            y = b.op("reshape", x, shape=(2, 3, 4))
            for _ in range(length):
                y = b.op("nn.relu", y)
            return y

        graph = graph_of(write, (6, 4))
        start = time.process_time()
        made = simplify(graph)
        seconds = time.process_time() - start
        assert operators(made) == [*["nn.relu"] * length, "reshape"]
        return seconds

    chain(10)
    assert chain(400) < 10 * chain(100)
