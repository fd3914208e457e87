"""Rewrite the operators of a graph one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.graph import Node, TensorType, create, encoding, node_of
from tir_mlir.graph.emit import emit, find_operator
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.sizes import Sizes


class Rewriter:
    """Replaces nodes of the graph of a Graph, in place."""

    def __init__(self, graph: Graph):
        self.graph, self.func, self.module = graph, graph.func, graph.module.mlir
        self.sizes = Sizes()

    def emit(
        self, before: Node, name: str, inputs: Sequence[ir.Value], given: Mapping[str, Any] | None = None
    ) -> ir.Value:
        """A node of an operator with one result, before another node, named like that one."""
        with ir.InsertionPoint(before.op):
            types = [(v, self.type_of(v)) for v in inputs]
            made = emit(self.module, find_operator(name), types, given or {}, self.sizes, before.names[:1])
        return made.results[0]

    def replace(self, node: Node, value: ir.Value) -> None:
        """Replace the result of a node, which is dead then."""
        node.results[0].replace_all_uses_with(value)

    def type_of(self, value: ir.Value) -> TensorType:
        return self.func.type_of(value)

    def producer(self, value: ir.Value, *operators: str) -> Node | None:
        """The node that computes a value, if it is one of these operators."""
        node = node_of(value)
        return node if node is not None and node.operator in operators else None

    def users(self, value: ir.Value) -> int:
        """The number of uses of a value."""
        return sum(1 for _ in value.uses)

    def is_weight(self, value: ir.Value) -> bool:
        """Whether a value depends on weights and constants only."""
        if isinstance(value, ir.BlockArgument):
            return self.func.weight(ir.BlockArgument(value).arg_number) is not None
        node = node_of(value)
        return node is not None and node.kind != encoding.PACKED and all(self.is_weight(v) for v in node.inputs)

    def number(self, before: Node, value: float, like: ir.Value) -> ir.Value:
        """A constant of no dimensions, before a node, of the element type of another value."""
        dtype = self.type_of(like).dtype
        known = "float32" if dtype == "bfloat16" else dtype  # NumPy has no such type
        with ir.InsertionPoint(before.op):
            made = create.constant(np.asarray(value, known), before.names[0]).results[0]
        return made if known == dtype else self.emit(before, "astype", [made], {"dtype": dtype})
