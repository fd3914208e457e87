"""Graphs are verified against others, and interpreted."""

from __future__ import annotations

import numpy as np
import pytest
from harness.graph_cases import mlp, random, run_mlp

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import STAGES, compile_graph
from tir_mlir.graph.graph import Graph


def small(swap: bool = False) -> Graph:
    """x @ exp(w).T, then minus 2 or, with `swap`, 2 minus it."""
    b = GraphBuilder()
    w = b.weight("w", random(3, 5))
    y = b.op("matmul", b.input("x", (4, 5)), b.op("permute_dims", b.op("exp", w)))
    two = b.constant(np.float32(2.0))
    b.output(b.op("subtract", two, y) if swap else b.op("subtract", y, two))
    return b.finish()


@pytest.mark.parametrize("stage", [stage.name for stage in STAGES])
@pytest.mark.parametrize("make", [small, lambda: mlp(3), lambda: mlp("n")], ids=["small", "mlp", "symbolic"])
def test_every_stage_keeps_what_is_computed(make, stage):
    graph = make()
    assert compile_graph(graph, until=stage).verify(graph)


def test_another_graph_is_told():
    found = small(swap=True).verify(small())
    assert not found
    assert "out" in str(found)


def test_other_wiring_of_weights_is_told():
    def made(first: str, second: str) -> Graph:
        b = GraphBuilder()
        x = b.input("x", (4,))
        weights = {name: b.weight(name, random(4, seed=ord(name))) for name in "uv"}
        b.output(b.op("subtract", b.op("multiply", x, weights[first]), weights[second]))
        return b.finish()

    assert made("u", "v").verify(made("u", "v"))
    assert not made("u", "v").verify(made("v", "u"))


def test_packed_functions_are_not_verified():
    b = GraphBuilder()
    b.output(b.call_packed("f", [b.input("x", (3,))], [((3,), "float32")]))
    graph = b.finish()
    with pytest.raises(GraphError, match="packed function f, which has no program to run"):
        graph.verify(graph)


@pytest.mark.parametrize("batch", [2, "n"])
def test_graphs_are_interpreted(batch):
    graph = mlp(batch, (6, 5, 4))
    x = random(2, 6)
    (found,), report = graph.interpret(x)
    np.testing.assert_allclose(found, run_mlp(graph, x), rtol=1e-4, atol=1e-5)
    assert report


def test_a_lifted_graph_is_interpreted():
    graph = compile_graph(small(), until="lift_weights")
    x = random(4, 5)
    (found,), _ = graph.interpret(x)
    np.testing.assert_allclose(found, x @ np.exp(random(3, 5)).T - 2, rtol=1e-4, atol=1e-5)
