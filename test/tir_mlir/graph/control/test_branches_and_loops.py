"""Branches and loops of graphs: what they compute, built and in Python, and that transforms of regions are verified."""

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.errors import GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.script import parse

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 8)).astype("float32")
W = (RNG.standard_normal((8, 8)) / 4).astype("float32")


def nested():
    """p[n] ? relu(s @ w.T) : s @ w.T + s for each n, and the sums of the rows of each s."""
    b = GraphBuilder()
    p, x, w = b.input("p", ("n",), "bool"), b.input("x", (4, 8)), b.weight("w", W)

    def step(r, _, s, chosen):
        s = r.branch(
            chosen,
            lambda u: u.op("nn.relu", u.op("nn.dense", s, w)),
            lambda u: u.op("add", u.op("nn.dense", s, w), s),
        )
        return [s, r.op("sum", s, axis=[1])]

    b.output(*b.loop(step, [x], [p]))
    return b.finish()


def expected(p, x):
    sums = []
    for chosen in p:
        x = np.maximum(x @ W.T, 0) if chosen else x @ W.T + x
        sums.append(x.sum(1))
    return x, np.array(sums)


def test_a_branch_in_a_loop_shares_its_weights_and_the_arena():
    model, p = build(nested(), threads=1), np.array([True, False, True])
    for mine, right in zip(model(p, X), expected(p, X), strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-5, atol=1e-5)
    assert model.memory.weights == W.nbytes


def test_the_interpreter_runs_regions():
    p = np.array([False, True])
    for mine, right in zip(nested().interpret(p, X)[0], expected(p, X), strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-5, atol=1e-5)


def test_stages_keep_what_regions_compute():
    assert compile_graph(nested()).verify(nested())


def test_another_operator_in_a_region_is_a_difference():
    other = Graph(parse(nested().script().replace("R.nn.relu", "R.tanh")))
    assert not other.verify(Graph(parse(nested().script())))


def test_the_text_of_regions_is_read_again():
    again = parse(nested().script())
    assert parse(again.script()).script() == again.script() and "R.loop(cls.body, (x, p), carried=1" in again.script()


def test_a_loop_runs_while_its_condition_holds():
    b = GraphBuilder()
    x = b.input("x", (4, 8))

    def test(r, s):
        return r.op("less", r.op("sum", s), r.constant(np.float32(1000)))

    def step(r, _, s):
        s = r.op("add", s, s)
        return [test(r, s), s]

    b.output(b.loop(step, [x], condition=test(b, x)))
    model = build(b.finish(), threads=1)
    np.testing.assert_array_equal(model(np.ones((4, 8), "float32")), np.full((4, 8), 32, "float32"))
    np.testing.assert_array_equal(model(np.full((4, 8), 99, "float32")), np.full((4, 8), 99, "float32"))


def test_what_a_loop_carries_may_be_exchanged():
    b = GraphBuilder()
    n, x, y = b.input("n", (), "int64"), b.input("x", (3,)), b.input("y", (3,))
    b.output(*b.loop(lambda r, _, s, t: [t, r.op("add", s, t)], [x, y], steps=n))
    model, one = build(b.finish(), threads=1), np.ones(3, "float32")
    assert [v[0] for v in model(np.array(5), one, one)] == [8, 13]
    assert [v[0] for v in model(np.array(0), one, 2 * one)] == [1, 2]


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda b, x: b.branch(x, lambda r: x, lambda r: x), r"is one bool, not \(4, 8\) float32"),
        (
            lambda b, x: b.branch(b.constant(True), lambda r: x, lambda r: r.op("sum", x)),
            r"both sides of a branch .* not \(\(4, 8\) float32\) and \(\(\) float32\)",
        ),
        (lambda b, x: b.loop(lambda r, _, s: r.op("sum", s), [x], steps=2), r"carries x.* returns \(\) float32 for it"),
        (lambda b, x: b.loop(lambda r, _, s: s, [x]), "a number of steps, or a condition"),
        (
            lambda b, x: b.loop(lambda r, _, v: [r.constant(True), v], [], [x], condition=b.constant(True)),
            "rows runs all its steps",
        ),
    ],
)
def test_regions_that_do_not_fit_are_refused(write, message):
    b = GraphBuilder()
    with pytest.raises(GraphError, match=message):
        write(b, b.input("x", (4, 8)))


def test_a_state_is_written_where_the_old_one_is():
    b = GraphBuilder()
    x, y = b.input("x", (500,)), b.input("y", (500,))
    b.output(b.loop(lambda r, _, state: r.op("add", r.op("multiply", state, 0.5), y), [x], steps=3))
    lib = build(b.finish())
    control = next(call.control for call in lib.plan.calls if call.control is not None)
    assert not control.after and not control.body.copies and lib.memory.arena < 500
    ones = np.ones(500, "float32")
    assert (lib(ones, ones) == 1.875).all()


def test_states_that_change_places_keep_their_values():
    b = GraphBuilder()
    x, y = b.input("x", (5,)), b.input("y", (5,))
    b.output(*b.loop(lambda r, _, a, c: (r.op("add", a, c), r.op("multiply", a, 2.0)), [x, y], steps=2))
    a, c = build(b.finish())(np.ones(5, "float32"), np.ones(5, "float32"))
    assert (a == 4).all() and (c == 4).all()
