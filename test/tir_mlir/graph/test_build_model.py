"""Graphs are built to one native function and called."""

import numpy as np
import pytest
from harness.graph_cases import mlp, random, run_mlp

from tir_mlir import build
from tir_mlir.dialect.diagnostics import ArgumentError, BuildError, GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph


@pytest.fixture(scope="module")
def built_mlp():
    return build(mlp(), threads=1)


@pytest.mark.parametrize("batch", [1, 15, 17])
def test_an_mlp_is_right(batch):
    graph = mlp(batch)
    x = random(batch, 33)
    np.testing.assert_allclose(build(graph, threads=1)(x), run_mlp(graph, x), rtol=1e-4, atol=1e-5)


def test_a_symbolic_batch():
    graph = mlp("n")
    model = build(graph, threads=1)
    for n in (1, 15, 17, 3, 64):
        x = random(n, 33, seed=n)
        np.testing.assert_allclose(model(x), run_mlp(graph, x), rtol=1e-4, atol=1e-5)


def test_views_of_several_named_sizes_and_of_no_elements():
    """(n, n) is seen as (1, n, n), and no elements in rows of a named size as a matrix of none."""
    b = GraphBuilder()
    square, nothing = b.input("square", ("n", "n"), "float32"), b.input("nothing", ("n", 2, 0, 4), "float32")
    turned = b.op("permute_dims", b.input("thin", ("n", 1, 0, 0), "float32"), axes=[1, 0, 2, 3])
    b.output(
        b.op("expand_dims", b.op("abs", square), axis=0),
        b.op("nn.dense", nothing, b.input("weight", ("m", 4), "float32")),
        b.op("abs", turned),
    )
    model = build(b.finish(), threads=1)
    for n, m in ((3, 5), (1, 1), (0, 2)):
        x = random(n, n)
        none, thin = np.zeros((n, 2, 0, 4), "float32"), np.zeros((n, 1, 0, 0), "float32")
        views, products, turned = model(x, none, thin, random(m, 4))
        np.testing.assert_array_equal(views, np.abs(x)[None])
        assert products.shape == (n, 2, 0, m) and turned.shape == (1, n, 0, 0)


def test_each_call_returns_new_arrays():
    graph = mlp()
    model = build(graph, threads=1)
    first = model(random(1, 33))
    kept = first.copy()
    model(random(1, 33, seed=1))
    np.testing.assert_array_equal(first, kept)


def test_equal_layers_share_a_function():
    compiled = compile_graph(mlp(4, (16, 16, 16, 16, 16)), until="legalize")
    assert (
        sorted(compiled.module.prim_funcs) == ["add_1", "nn_dense", "nn_relu_1"] or len(compiled.module.prim_funcs) == 3
    )


def test_a_reshape_is_a_view():
    b = GraphBuilder()
    x = b.input("x", (4, 6))
    y = b.op("reshape", b.op("nn.relu", b.op("reshape", x, shape=(2, 12))), shape=(3, 8))
    b.output(y, b.op("reshape", x, shape=(24,)))
    model = build(b.finish(), threads=1)
    assert [c.callee for c in model.plan.calls] == [next(iter(model.schedules))]
    given = random(4, 6)
    first, second = model(given)
    np.testing.assert_array_equal(first, np.maximum(given, 0).reshape(3, 8))
    np.testing.assert_array_equal(second, given.reshape(24))


def test_a_symbolic_reshape():
    b = GraphBuilder()
    x = b.input("x", ("n", 6))
    n = b.sizes.variable("n")
    b.output(b.op("nn.relu", b.op("reshape", b.op("exp", x), shape=(n * 2, 3))), b.op("reshape", x, shape=(n, 2, 3)))
    model = build(b.finish(), threads=1)
    for rows in (1, 5):
        given = random(rows, 6)
        first, second = model(given)
        np.testing.assert_allclose(first, np.exp(given).reshape(-1, 3), rtol=1e-5)
        np.testing.assert_array_equal(second, given.reshape(rows, 2, 3))


def test_constants_and_results_returned_twice():
    b = GraphBuilder()
    x = b.input("x", (5,))
    y = b.op("multiply", x, b.constant(np.float32(3.0)))
    w = b.weight("w", np.arange(3, dtype=np.float32))
    b.output(y, x, y, w)
    model = build(b.finish(), threads=1)
    given = random(5)
    found = model(given)
    for got, expected in zip(found, (given * 3, given, given * 3, np.arange(3)), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_where_schedules_come_from_is_told():
    model = build(mlp(8), threads=1)
    origins = [origin for origin, _ in model.schedules.values()]
    assert any("gemm" in origin for origin in origins)
    assert all(origin.startswith("schedules.auto (") for origin in origins)


def test_an_unknown_stage_is_refused():
    with pytest.raises(GraphError, match=r"no stage .lower.; fix: one of .*legalize"):
        compile_graph(mlp(), until="lower")


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((), {}, r"main takes x; no argument for x"),
        ((1, 2), {}, r"main takes x: 2 arguments are too many"),
        ((), {"y": 1}, r"main takes x; it has no input 'y'"),
        ((1,), {"x": 1}, r"'x' is given twice"),
        ((np.zeros((2, 33), np.float32),), {}, r"argument 0, x.*has extent 2 in dimension 0; 1 is needed"),
        ((np.zeros((1, 33)),), {}, r"argument 0, x.*float64; float32 is needed"),
    ],
)
def test_wrong_arguments_are_named(built_mlp, args, named, message):
    with pytest.raises(ArgumentError, match=message):
        built_mlp(*args, **named)


def test_inputs_by_name():
    graph = mlp()
    x = random(1, 33)
    np.testing.assert_allclose(build(graph, threads=1)(x=x), run_mlp(graph, x), rtol=1e-4, atol=1e-5)


def test_other_drivers_are_refused_for_graphs():
    with pytest.raises(BuildError, match=r"driver is not for graphs"):
        build(mlp(), driver="tools")


def test_threads_are_for_graphs():
    with pytest.raises(BuildError, match=r"threads is for graphs"):
        build(compile_graph(mlp(), until="legalize").module, threads=1)


@pytest.mark.parametrize("name", ["exp", "tanh"])
def test_operators_named_as_functions_of_c(name):
    b = GraphBuilder()
    b.output(b.op(name, b.op(name, b.input("x", (9,), "float64"))))
    x = np.linspace(-1, 1, 9)
    function = getattr(np, name)
    np.testing.assert_allclose(build(b.finish(), threads=1)(x), function(function(x)), rtol=1e-6)


def test_numbers_are_part_of_functions():
    b = GraphBuilder()
    x = b.input("x", (9,))
    b.output(b.op("subtract", b.constant(np.float32(0.1)), b.op("multiply", x, b.constant(np.float32(3)))))
    model = build(b.finish(), threads=1)
    assert model.memory.weights == 0
    np.testing.assert_array_equal(model(random(9)), np.float32(0.1) - random(9) * np.float32(3))


def test_a_number_that_is_returned_is_a_weight():
    b = GraphBuilder()
    c = b.constant(np.float32(0.5))
    b.output(b.op("add", b.input("x", (3,)), c), c)
    found = build(b.finish(), threads=1)(random(3))
    np.testing.assert_array_equal(found[0], random(3) + np.float32(0.5))
    assert found[1].shape == ()
    assert found[1] == 0.5


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("shape", "dtype", "steps", "message"),
    [
        ((2**61,), "float32", ["exp"], r"x of the graph main takes 9223372036854775808 bytes, and at most 2\*\*63 - 1"),
        (
            (2**59,),
            "float64",
            ["cumsum"] * 4,
            "the memory of the results between the nodes of the graph main takes 92.* bytes",
        ),
    ],
)
def test_more_bytes_than_addresses(shape, dtype, steps, message):
    b = GraphBuilder()
    x = b.input("x", shape, dtype)
    for step in steps:
        x = b.op(step, x, **({"axis": 0} if step == "cumsum" else {}))
    b.output(x)
    with pytest.raises(GraphError, match=message):
        build(b.finish(), threads=1)


@pytest.mark.parametrize("size", [2**63, np.uint64(2**63)])
def test_a_size_of_more_than_64_bits(size):
    with pytest.raises(GraphError, match=r"a size is at most 2\*\*63 - 1; this one is 9223372036854775808"):
        GraphBuilder().input("x", ("n", size))


def test_workers_know_what_they_are_asked_for():
    from tir_mlir.graph.units.unit_queries import WORK
    from tir_mlir.runtime.workers.tasks import import_function

    assert all(callable(import_function(function)) for function in WORK)
