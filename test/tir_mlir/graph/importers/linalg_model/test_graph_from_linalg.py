"""Programs of linalg as graphs: models of them compute what NumPy does; what is not known is named, with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from harness.graphs import operators
from harness.operators import random
from harness.stock_graphs import stock_graph

from tir_mlir import build, from_linalg
from tir_mlir.dialect.diagnostics import GraphError, ScriptError
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph

EXPORTED = str(Path(__file__).parent / "exported.mlir")


def wanted(x: np.ndarray) -> np.ndarray:
    """What the exported layer computes."""
    w = np.array([(i % 7 - 3) / 4 for i in range(24)], "float32").reshape(4, 6)
    h = (x @ w.T + np.array([0.5, -0.5, 1, 0], "float32")) ** 2
    e = np.exp(h - h.max(1, keepdims=True))
    return (e / e.sum(1, keepdims=True)).reshape(-1, 2, 2)


@pytest.fixture(scope="module")
def exported() -> Graph:
    return Graph.from_linalg(EXPORTED)


def test_a_node_for_each_op_and_weights_for_constants(exported):
    assert operators(exported) == ["call_tir"] * 5 + ["reshape"]
    assert sorted(a.shape for a in exported.weights.values()) == [(4,), (4, 6)]


def test_nodes_read_what_they_compute_with_only(exported):
    """Not the tensors that the program takes a size from."""
    lines = [line for line in exported.script().splitlines() if "R.call_tir" in line]
    assert ["(x" in line or "(arg0" in line for line in lines] == [False, True, False, False, False]


def test_fills_are_inits_and_neighbors_are_fused(exported):
    names = compile_graph(exported, until="fuse_tir").module.prim_funcs
    assert any("matmul_generic" in name for name in names)


@pytest.mark.nightly
def test_the_model_computes_what_numpy_does(exported):
    for rows in (1, 5):
        x = random(rows, 6)
        np.testing.assert_allclose(build(exported, threads=1)(x), wanted(x), rtol=1e-5, atol=1e-6)


def test_the_same_text_is_one_program():
    made = from_linalg(EXPORTED)
    x, y = random(5, 6), np.empty((5, 2, 2), "float32")
    build(made)["forward"](x, *made.constants["forward"].values(), y)
    np.testing.assert_allclose(y, wanted(x), rtol=1e-5, atol=1e-6)


def test_what_a_program_updates_is_no_input_of_the_graph():
    """A sum that starts from an input: bufferization alone would overwrite it."""
    graph = Graph.from_linalg(
        program(
            "  %r = linalg.reduce {arith.addf} ins(%x : tensor<4x3xf32>) outs(%y : tensor<4xf32>) dimensions = [1]",
            params="%x: tensor<4x3xf32>, %y: tensor<4xf32>",
        )
    )
    x, y = random(4, 3), random(4)
    kept = y.copy()
    np.testing.assert_allclose(graph.interpret(x, y)[0][0], y + x.sum(1), rtol=1e-6)
    np.testing.assert_array_equal(y, kept)


@pytest.mark.nightly
def test_a_network_computes_what_upstream_passes_make_of_it():
    """Padding, a convolution from its bias, pools, slices, look-ups, positions of maxima."""
    text = (Path(__file__).parent / "vision.mlir").read_text(encoding="utf-8")
    inputs = [random(1, 2, 7, 7), random(4, 2, 3, 3), random(4), random(5, 6), np.array([4, 0, 2], "int64")]
    outputs = [np.zeros((4, 10), "float32"), np.zeros(3, "int64"), np.zeros((3, 8), "float32")]
    stock_graph(text, inputs, outputs)
    graph = Graph.from_linalg(text)
    for found in (graph.interpret(*inputs)[0], build(graph, threads=1)(*inputs)):
        for one, right in zip(found, outputs, strict=True):
            np.testing.assert_allclose(one, right, rtol=1e-5, atol=1e-6)


def program(body: str, result: str = "tensor<4xf32>", params: str = "%x: tensor<4xf32>") -> str:
    return f"func.func @main({params}) -> {result} {{\n{body}\n  return %r : {result}\n}}"


def test_a_splat_is_part_of_the_op_that_reads_it():
    graph = Graph.from_linalg(
        program(
            "  %c = arith.constant dense<2.0> : tensor<4xf32>\n  %e = tensor.empty() : tensor<4xf32>\n"
            "  %r = linalg.mul ins(%x, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>"
        )
    )
    assert not graph.weights
    x = random(4)
    np.testing.assert_array_equal(graph.interpret(x)[0][0], x * 2)


REFUSED = {
    "loop": (
        program(
            "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
            "  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> tensor<4xf32> {\n"
            "    scf.yield %a : tensor<4xf32>\n  }"
        ),
        4,
        "scf.for has no form in a graph",
    ),
    "shape": (
        program(
            "  %r = tensor.reshape %x(%s) : (tensor<4xf32>, tensor<2xindex>) -> tensor<?x?xf32>",
            "tensor<?x?xf32>",
            "%x: tensor<4xf32>, %s: tensor<2xindex>",
        ),
        2,
        "tensor.reshape has no form in a graph; fix: an op of linalg",
    ),
    "other dialect": (
        program("  %r = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>"),
        2,
        "tosa.abs has no form in a graph",
    ),
    "number": (program("  %r = arith.addf %x, %x : tensor<4xf32>", params="%x: tensor<4xf32>, %n: f32"), 1, "f32"),
    "cast": (
        program("  %r = tensor.cast %x : tensor<?xf32> to tensor<4xf32>", params="%x: tensor<?xf32>"),
        2,
        "a size that is n is cast to 4; fix: an input of it",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_line(name):
    text, line, message = REFUSED[name]
    with pytest.raises(ScriptError, match=message) as caught:
        Graph.from_linalg(text)
    assert caught.value.lineno == line


def test_a_function_is_chosen_by_its_name():
    text = program("  %r = tensor.cast %x : tensor<4xf32> to tensor<4xf32>")
    both = text.replace("@main", "@f") + "\n" + text.replace("@main", "@g")
    with pytest.raises(GraphError, match="the text has the functions f, g; fix: name one of them"):
        Graph.from_linalg(both)
    assert Graph.from_linalg(both, "g").name == "g"
    with pytest.raises(GraphError, match="the text has no function h; it has f, g"):
        Graph.from_linalg(both, "h")
