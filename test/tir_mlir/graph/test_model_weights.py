"""Weights of a model: bound once, computed once, not part of what is cached."""

from __future__ import annotations

import numpy as np
import pytest
from harness.graph_cases import mlp, random, run_mlp

from tir_mlir import build, topi
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph import compile as compile_stages
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OPERATORS, Operator
from tir_mlir.graph.units.unit_queries import options_key
from tir_mlir.target import Target
from tir_mlir.targets import BuildOptions


def transposed_weight() -> tuple[Graph, np.ndarray]:
    """x @ (w.T * 2), and w."""
    b = GraphBuilder()
    w = random(5, 7)
    x, given = b.input("x", (3, 7)), b.weight("w", w)
    b.output(b.op("matmul", x, b.op("multiply", b.op("permute_dims", given), b.constant(np.float32(2.0)))))
    return b.finish(), w


def test_what_depends_on_weights_only_is_computed_once():
    graph, w = transposed_weight()
    model = build(graph, threads=1)
    assert [call.name for call in model.plan.calls] == ["lv_2"]
    x = random(3, 7)
    np.testing.assert_allclose(model(x), x @ (w.T * 2), rtol=1e-5, atol=1e-5)


def test_the_graph_of_weights_is_printed():
    text = compile_graph(transposed_weight()[0], until="lift_weights").text()
    assert "func.func @main_weights" in text
    assert 'graph.of = "main"' in text


def test_a_view_of_a_weight_takes_no_memory():
    b = GraphBuilder()
    w = b.weight("w", random(4, 6))
    b.output(b.op("add", b.input("x", (24,)), b.op("reshape", w, shape=(24,))))
    model = build(b.finish(), threads=1)
    assert model.memory.weights == 128
    np.testing.assert_allclose(model(np.ones(24, np.float32)), 1 + random(4, 6).reshape(24), rtol=1e-6)


def test_a_weight_that_nothing_reads_is_dropped():
    graph, _ = transposed_weight()
    assert build(graph, threads=1).memory.weights == 192  # of 7 * 5 floats, the product, not the weight


def test_other_weights_do_not_compile_again():
    first, second = mlp(3), mlp(3)
    second.weights["w0"] = second.weights["w0"] + 1
    build(first, threads=1)
    model = build(second, threads=1)
    assert model.timing.cached
    x = random(3, 33)
    np.testing.assert_allclose(model(x), run_mlp(second, x), rtol=1e-4, atol=1e-5)


def test_weights_that_change_after_the_build_do_not_change_the_model():
    graph = mlp()
    model, x = build(graph, threads=1), random(1, 33)
    before = model(x)
    graph.weights["w0"][:] = 0
    np.testing.assert_array_equal(model(x), before)


def test_a_missing_weight_is_named():
    graph = mlp()
    del graph.weights["w0"]
    with pytest.raises(GraphError, match=r"no array for the weight w0; fix: graph.weights\['w0'\] = array"):
        build(graph, threads=1)


def test_a_weight_of_another_shape_is_refused():
    graph = mlp()
    graph.weights["w0"] = random(3, 3)
    with pytest.raises(GraphError, match=r"weight w0 is \(17, 33\) float32 .*, its array is \(3, 3\) float32"):
        build(graph, threads=1)


def test_stages_are_timed():
    assert {"graph", "memory", "weights"} <= set(build(mlp(), threads=1).timing)


def test_memory_is_told():
    b = GraphBuilder("main")
    x = b.input("x", (8, 40), "float32")
    for number in range(4):  # the third of three buffers replaces the first
        shape = (48, 40) if number % 2 == 0 else (40, 48)
        x = b.op("nn.dense", x, b.weight(f"w{number}", np.ones(shape, "float32")))
    b.output(x)
    memory = build(b.finish(), threads=1).memory
    assert (memory.arena, memory.unshared) == (1536 + 1280, 2 * 1536 + 1280)
    assert "arena: 2,816 bytes" in repr(memory)


def test_symbolic_memory_is_an_expression():
    assert build(mlp("n"), threads=1).memory.arena == "68 * n"


def test_constants_are_cached_with_the_graph():
    values = random(37)

    def made() -> Graph:
        b = GraphBuilder()
        b.output(b.op("multiply", b.input("x", (37,)), b.constant(values)))
        return b.finish()

    for _ in range(2):
        model = build(made(), threads=1)
        np.testing.assert_array_equal(model(np.full(37, 2, np.float32)), values * 2)
    assert model.timing.cached


def test_constants_of_other_values_are_not_taken_from_the_cache():
    for factor in (1, 2):
        b = GraphBuilder()
        b.output(b.op("multiply", b.input("x", (37,)), b.constant(random(37) * np.float32(factor))))
        found = build(b.finish(), threads=1)(np.ones(37, np.float32))
        np.testing.assert_array_equal(found, random(37) * np.float32(factor))


def test_a_stage_that_makes_arrays_of_weights_is_not_cached(monkeypatch):
    def doubled(graph: Graph) -> Graph:
        made = graph.clone()
        made.weights["w0"] = made.weights["w0"] * 2
        return made

    monkeypatch.setattr(compile_stages, "STAGES", [compile_stages.Stage("own", "", doubled), *compile_stages.STAGES])
    for factor in (1, 3):
        graph = mlp(6, (20, 9))
        graph.weights["w0"] = graph.weights["w0"] * np.float32(factor)
        x = random(6, 20)
        expected = x @ (2 * graph.weights["w0"]).T + graph.weights["b0"]
        np.testing.assert_allclose(build(graph, threads=1)(x), expected, rtol=1e-4, atol=1e-4)


def test_operators_of_users_are_not_taken_from_the_cache(monkeypatch):
    for factor in (2, 3):
        scaled = Operator("scaled", lambda x, factor=factor: topi.multiply(x, factor), {})
        monkeypatch.setitem(OPERATORS, "scaled", scaled)
        b = GraphBuilder()
        b.output(b.op("scaled", b.input("x", (5,))))
        np.testing.assert_array_equal(build(b.finish(), threads=1)(np.ones(5, np.float32)), np.full(5, factor))


def test_the_key_of_a_compiled_graph_is_the_same_in_every_process():
    """Sets print in another order in each."""
    names = ("avx2", "fma", "aes", "bmi1", "f16c", "sse2")
    told = options_key(BuildOptions(target=Target(256, 16, features=frozenset(names)), threads=1))
    assert str(sorted(names)) in told and "frozenset" not in told


@pytest.mark.parametrize("value", [True, False])
def test_a_constant_of_one_bool_everywhere_is_that_everywhere(value: bool):
    b = GraphBuilder()
    x = np.arange(100) % 2 == 0
    given = b.input("x", (100,), "bool")
    b.output(b.op("logical_and" if value else "logical_or", b.constant(np.full(100, value)), given))
    np.testing.assert_array_equal(build(b.finish(), threads=1)(x), x)
