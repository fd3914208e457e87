"""Large graphs are verified part by part; changed weights and constants are told."""

from __future__ import annotations

import numpy as np
import pytest
from harness.graph_cases import mlp, random

from tir_mlir.dialect.diagnostics import GraphError, NotChecked
from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph import compile
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import Stage, compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.verification import verify_graph
from tir_mlir.script.module import IRModule


@pytest.fixture
def by_parts(monkeypatch):
    monkeypatch.setattr(verify_graph, "QUICK_WORK", 0)


def layers(count: int, last: str = "tanh") -> Graph:
    """x -> tanh(x @ w.T) repeated, with names of their own, then reshaped."""
    b = GraphBuilder()
    x = b.input("x", ("n", 4))
    for n in range(count):
        x = b.op("nn.dense", x, b.weight(f"w{n}", random(4, 4, seed=n)), name_hint=f"dense{n}")
        x = b.op(last if n == count - 1 else "tanh", x, name_hint=f"tanh{n}")
    b.output(b.op("reshape", x, shape=(-1,)), x)
    return b.finish()


@pytest.mark.parametrize("stage", ["fuse_tir", pytest.param("schedule", marks=pytest.mark.nightly)])
def test_stages_are_proved_by_parts(by_parts, stage):
    graph = layers(3)
    found = compile_graph(graph, until=stage).verify(graph)
    assert found and "by parts" in str(found)


def test_layers_that_repeat_are_compared_once(by_parts):
    found = compile_graph(layers(6), until="fuse_tir").verify(layers(6))
    assert found.functions == 2  # a layer, and what is returned


def test_functions_of_equal_text_are_not_run(by_parts):
    found = compile_graph(layers(2, "exp"), until="legalize").verify(layers(2, "exp"))
    assert found and found.runs == 0 and "the same program" in str(found)


def test_a_part_that_differs_is_not_decided(by_parts):
    with pytest.raises(NotChecked, match=r"they differ, first in tanh2, for.*fix: verify stage by stage"):
        layers(3, "exp").verify(layers(3, "tanh"))


def test_a_name_of_another_value_is_no_cut(by_parts):
    """The values named `b` differ; what is computed from them does not."""

    def made(swap: bool) -> Graph:
        b = GraphBuilder()
        x, y = b.input("x", (3,)), b.input("y", (3,))
        first = b.op("subtract", *((y, x) if swap else (x, y)), name_hint="b")
        b.output(b.op("multiply", first, first))
        return b.finish()

    assert made(True).verify(made(False))


def test_only_sizes_in_the_ranges_of_the_graph_are_tried():
    graph = mlp("n", (3, 4, 2))
    with enter_context():
        attrs.put(graph.func.op, encoding.RANGES, {"n": [3, 17]})
    found = compile_graph(graph, until="fuse_tir").verify(graph)
    sizes = {int(size.removeprefix("n = ")) for size in found.sizes}
    assert found and min(sizes) == 3 and max(sizes) == 17


def biased(values, name: str = "c") -> Graph:
    b = GraphBuilder()
    b.output(b.op("add", b.input("x", (2000,)), b.constant(np.asarray(values, "float32"), name)))
    return b.finish()


def test_a_changed_constant_is_told():
    ramp = np.arange(2000)
    assert biased(ramp).verify(biased(ramp, "other_name"))
    assert not biased(ramp).verify(biased(ramp + (ramp == 1999)))


def test_a_weight_with_other_values_is_told():
    one, other = mlp(2), mlp(2)
    assert one.verify(other)
    other.weights["w0"] = other.weights["w0"] + 1
    assert "the array of the weight w0 is another one" in str(one.verify(other))


def test_a_stage_that_changes_what_is_computed_is_named(monkeypatch):
    """One that adds 1 to the first embedded number."""

    def harm(graph: Graph) -> Graph:
        text = graph.module.text().replace("dense<2.0", "dense<3.0")
        return Graph(IRModule.from_mlir(text), graph.weights, graph.name)

    b = GraphBuilder()
    b.output(b.op("multiply", b.input("x", (3,)), 2.0))
    graph = b.finish()
    monkeypatch.setattr(compile, "STAGES", [Stage("harmless", "", lambda g: g), Stage("harmful", "", harm)])
    assert compile.compile_graph(graph, until="harmless", verify=True) is graph
    with pytest.raises(GraphError, match=r"the stage harmful changes what the graph computes: main: out\[0\] differs"):
        compile.compile_graph(graph, verify=True)
