"""Calls in place: results in the memory of inputs that die, where every place is written after it was last read."""

from __future__ import annotations

import numpy as np
import pytest
from harness.graph_cases import random

from tir_mlir import build, te
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory import buffer_assignment
from tir_mlir.graph.memory.calls_in_place import in_place_triples, join_parameters
from tir_mlir.graph.transforms.function_memory import mark_in_place
from tir_mlir.script.parser import parse


def turned(A):
    """The rows in reverse order."""
    return te.compute(A.shape, lambda i, j: A[A.shape[0] - 1 - i, j] * 2.0, name="turned")


def chain(middle: str = "nn.relu", rows: int | str = 24) -> Graph:
    """exp, then an operator (or `turned`), then exp: three functions where nothing is fused."""
    b = GraphBuilder()
    h = b.op("exp", b.input("x", (rows, 40)))
    h = b.call_te(turned, h) if middle == "turned" else b.op(middle, h)
    b.output(b.op("sqrt", h))
    return b.finish()


def in_place(graph: Graph) -> Graph:
    """With a function for each operator, results in place."""
    return mark_in_place(compile_graph(graph, until="legalize"))


def pairs(graph: Graph) -> set[tuple[str, int, int]]:
    with enter_context():
        return set(in_place_triples(graph.module.mlir))


def test_an_elementwise_result_takes_the_memory_of_its_input():
    graph = in_place(chain())
    with enter_context():
        plan = buffer_assignment.plan(graph.func, in_place_triples(graph.module.mlir))
    assert any(call.in_place == ((0, 1),) for call in plan.calls)
    assert plan.arena.total < in_two(graph)


def test_prefetches_follow_a_result_into_its_input():
    program = parse(
        """
@T.prim_func
def f(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32"), C: T.Buffer((4, 16), "float32")):
    for i in T.serial(4, annotations={"prefetch": ["C", "A"]}):
        for j in range(16):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], B[vi, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = A[vi, vj] + B[vi, vj]
"""
    )
    with enter_context():
        join_parameters(funcs(program.mlir)[0].op, [(1, 2)])
    script = program.script()
    assert 'annotations={"prefetch": ["B", "A"]}' in script and "T.writes(B[vi, vj])" in script


def in_two(graph: Graph) -> int:
    """The bytes of the arena without calls in place."""
    with enter_context():
        return buffer_assignment.plan(graph.func).arena.total


def test_a_result_that_is_written_too_early_has_memory_of_its_own():
    assert not any("turned" in name for name, *_ in pairs(in_place(chain("turned"))))


@pytest.mark.parametrize("rows", [24, "n"])
@pytest.mark.parametrize("middle", ["nn.relu", "nn.softmax", "turned"])
def test_verify_and_the_interpreter_agree(middle, rows):
    graph = chain(middle, rows)
    made = in_place(graph)
    assert made.verify(graph)
    x = random(24, 40)
    np.testing.assert_allclose(made.interpret(x)[0][0], build(graph, threads=1)(x), rtol=1e-5)


def residual(rows: int | str) -> Graph:
    """A product plus what went into the two products before it; a product of the sum."""
    b = GraphBuilder()
    weights = [b.weight(f"w{n}", random(48, 48, seed=n) / 7) for n in range(4)]
    a = b.op("nn.dense", b.input("x", (rows, 48)), weights[0])
    h = b.op("nn.dense", b.op("nn.relu", b.op("nn.dense", a, weights[1])), weights[2])
    b.output(b.op("nn.dense", b.op("add", h, a), weights[3]))
    return b.finish()


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.parametrize("rows", [33, "n"])
def test_a_residual_addition_is_written_where_the_summand_was(rows):
    graph = residual(rows)
    model = build(graph, threads=1)
    assert model.plan.calls[2].in_place
    x, w = random(33, 48), graph.weights
    a = x @ w["w0"].T
    expected = (np.maximum(a @ w["w1"].T, 0) @ w["w2"].T + a) @ w["w3"].T
    np.testing.assert_allclose(model(x), expected, rtol=1e-3, atol=1e-4)
    model.profile(x, rounds=1)
    np.testing.assert_allclose(model(x), expected, rtol=1e-3, atol=1e-4)


def test_what_saves_no_memory_is_not_done_in_place():
    b = GraphBuilder()
    h = b.op("nn.relu", b.op("exp", b.input("x", (24, 40))))
    for n, (inner, outer) in enumerate([(40, 400), (400, 500), (500, 3)]):
        h = b.op("nn.dense", h, b.weight(f"w{n}", random(outer, inner)))
    b.output(h)
    graph = compile_graph(b.finish(), until="legalize")
    with enter_context():
        assert ("nn_relu", 0, 1) in buffer_assignment.in_place_candidates(graph.func)
    assert not pairs(mark_in_place(graph))
