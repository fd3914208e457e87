"""Every elementwise operator of the table: views and permutations move below it, and it is fused; numbers remain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from harness.operator_cases import CASES

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OPERATORS, OperatorKind
from tir_mlir.graph.transforms.channels_last import channels_last
from tir_mlir.graph.transforms.simplify import simplify

ELEMENTWISE = sorted(name for name, o in OPERATORS.items() if o.kind is OperatorKind.ELEMENTWISE)
OF_TWO = [name for name in ELEMENTWISE if len(OPERATORS[name].operands) == 2]


def graph_of(write: Callable[[GraphBuilder], Any]) -> Graph:
    builder = GraphBuilder()
    builder.output(write(builder))
    return builder.finish()


@cache
def operand_types(name: str) -> Sequence[str]:
    """The types of the operands of an operator that have the shape of the result."""
    operator = OPERATORS[name]
    count = len(operator.operands) - len(operator.named)
    for types in (*([t] * count for t in ("float32", "int32", "bool")), ["bool", *["float32"] * (count - 1)]):
        try:
            graph_of(lambda b, types=types: call(b, name, [b.input(f"x{n}", (2,), t) for n, t in enumerate(types)]))
        except GraphError:
            continue
        return types
    raise AssertionError(f"{name} takes no operands that are known")


def call(builder: GraphBuilder, name: str, operands: Sequence[Any]) -> Any:
    return builder.op(name, *operands, **(CASES[name][0][1] if name in CASES else {}))


def outputs(graph: Graph) -> np.ndarray:
    """What the interpreter computes of numbers from 0.2 to 0.9, integers from 1 to 4."""
    rng = np.random.default_rng(3)
    with enter_context():
        func = graph.func
        types = [func.input_type(n) for n in range(len(func.inputs)) if func.weight(n) is None]
    limits = {"float32": (0.2, 0.9), "int32": (1, 5), "bool": (0, 2)}
    arrays = []
    for t in types:
        drawn = rng.uniform(*limits[t.dtype], tuple(map(int, t.shape)))
        arrays.append((drawn if t.dtype == "float32" else np.floor(drawn)).astype(t.dtype))
    (result,), _ = graph.interpret(*arrays)
    return result


def check_numbers(after: Graph, before: Graph) -> None:
    one, other = outputs(after), outputs(before)
    assert one.dtype == other.dtype
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def operators(graph: Graph) -> list[str | None]:
    with enter_context():
        return [node.operator for node in graph.func.nodes]


@pytest.mark.few(13)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_reshapes_move_below(name: str) -> None:
    """reshape, operator  ->  operator, reshape"""

    def write(b: GraphBuilder) -> Any:
        inputs = [b.input(f"x{n}", (3, 5), t) for n, t in enumerate(operand_types(name))]
        return call(b, name, [b.op("reshape", x, shape=(1, 3, 1, 5)) for x in inputs])

    before = graph_of(write)
    after = simplify(before)
    assert operators(after) == [name, "reshape"]
    check_numbers(after, before)


@pytest.mark.few(13)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_permutations_move_below(name: str) -> None:
    """A convolution, then the operator: computed with the channels last, and permuted at the end only."""

    def write(b: GraphBuilder) -> Any:
        x = b.input("x", (1, 3, 4, 2))
        operands = []
        for n, dtype in enumerate(operand_types(name)):
            image = b.op("nn.conv2d", x, b.weight(f"w{n}", np.full((5, 3, 2, 1), 0.5 + n, "float32")))
            operands.append(image if dtype == "float32" else b.op("astype", image, dtype=dtype))
        return b.op("nn.relu", b.op("astype", call(b, name, operands), dtype="float32"))

    before = graph_of(write)
    after = channels_last(before)
    order = operators(after)
    assert order[0] == order[-1] == "permute_dims" and order.count("permute_dims") == 2
    check_numbers(after, before)


@pytest.mark.few(13)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_it_is_fused_with_a_product(name: str) -> None:
    """dense, operator  ->  one function"""
    types = operand_types(name)

    def write(b: GraphBuilder) -> Any:
        product = b.op("nn.dense", b.input("x", (3, 4)), b.input("w", (5, 4)))
        operands = [b.input(f"y{n}", (3, 5), t) for n, t in enumerate(types[:-1])]
        last = product if types[-1] == "float32" else b.op("astype", product, dtype=types[-1])
        return call(b, name, [*operands, last])

    before = graph_of(write)
    grouped = compile_graph(before, until="fuse_ops")
    with enter_context():
        (node,) = grouped.func.nodes
        assert node.callee is not None and node.callee.is_graph
    after = compile_graph(before, until="fuse_tir")
    check_numbers(after, before)


@pytest.mark.parametrize("name", OF_TWO)
def test_a_number_is_part_of_its_function(name: str) -> None:
    """add(x, 2): the function has one input."""
    dtype = operand_types(name)[0]
    if dtype == "bool":
        pytest.skip("a bool in the text of a graph is a weight")
    before = graph_of(lambda b: call(b, name, [b.input("x", (3, 5), dtype), 2]))
    after = compile_graph(before, until="fuse_tir")
    with enter_context():
        (node,) = after.func.nodes
        assert len(node.inputs) == 1
    check_numbers(after, before)
