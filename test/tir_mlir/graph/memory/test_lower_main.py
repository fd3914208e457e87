"""The function of a whole graph: it prints, parses, verifies and can be compared, with weights and arena."""

from __future__ import annotations

import pytest
from harness.graph_cases import mlp

from tir_mlir.dialect.diagnostics import VerifyError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.dialect.verify import verify
from tir_mlir.equivalence import equivalent
from tir_mlir.graph.build_model import plan_graph
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.lower_main import lower_main
from tir_mlir.script import parse
from tir_mlir.script.module import IRModule


def lowered(graph: Graph) -> IRModule:
    compiled = compile_graph(graph, until="fuse_tir")
    with enter_context():
        return IRModule(lower_main(compiled.module.mlir, {graph.name: plan_graph(compiled)}))


@pytest.fixture(scope="module", params=[3, "n"], ids=["static", "symbolic"])
def main(request) -> IRModule:
    return lowered(mlp(request.param, (5, 4, 3)))


def test_it_is_valid(main):
    with enter_context():
        verify(main.mlir)


def test_it_prints_and_parses(main):
    assert parse(main.script()).equal(main)


def test_it_equals_itself(main):
    assert equivalent(main, main.clone())


def test_weights_in_other_places_are_told(main):
    text = main.script()
    places = [line for line in text.splitlines() if "data=weights.data, byte_offset=" in line]
    swapped = text.replace(places[0].partition("byte_offset=")[2], places[-1].partition("byte_offset=")[2], 1)
    found = equivalent(main, parse(swapped))
    assert not found and "out" in str(found)


def test_an_arena_that_is_too_small_is_refused():
    text = lowered(mlp("n", (5, 4, 3))).script()
    line = next(line for line in text.splitlines() if "T.assume" in line)
    with pytest.raises(Exception, match="the view buffer0 has the bytes"):
        parse(text.replace(line, ""))


def test_a_size_that_is_not_affine_is_not_provable():
    b = GraphBuilder()
    x = b.input("x", ("n", "m"))
    y = b.op("nn.softmax", b.op("exp", x))
    b.output(b.op("matmul", y, b.op("permute_dims", b.op("sqrt", y))))
    with enter_context(), pytest.raises(VerifyError) as caught:
        verify(lowered(b.finish()).mlir)
    assert not caught.value.provable
