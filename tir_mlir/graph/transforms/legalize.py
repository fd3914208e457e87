"""Make a TensorIR function of each operator of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, create, encoding, node_of, replace_node, tensor_funcs
from tir_mlir.dialect.ir import entered, symbols_kept
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.places import is_view
from tir_mlir.graph.operators import array_rule
from tir_mlir.graph.size_code import Sizes
from tir_mlir.graph.transforms.clean import erase_dead_nodes
from tir_mlir.graph.transforms.lift_weights import constant_array, is_embedded, takes_number
from tir_mlir.graph.transforms.operator_programs import operator_program
from tir_mlir.script.module import copy_function


def legalize(graph: Graph) -> Graph:
    """Each operator becomes a call of a TensorIR function; equal operators on equal types share one.

        %0 = call @nn.relu(%x) : (tensor<1x128xf32>) -> tensor<1x128xf32>
    ->  func.func @nn_relu(%x: memref<1x128xf32>, %y: memref<1x128xf32>) { ... }
        %0 = call @nn_relu.call(%x) : (tensor<1x128xf32>) -> tensor<1x128xf32>

    Reshapes become views; numbers become part of the functions that compute with them. Calls of TensorIR and packed
    functions, and other constants, stay as they are; so does, in the graph that computes weights, what NumPy computes.
    Errors: GraphError for an operator that the table does not have or that does not take its operands.
    """
    legalized = graph.clone()
    with entered(), symbols_kept(legalized.module.mlir):
        rewrite = _Legalize(legalized)
        for func in [f for f in tensor_funcs(legalized.module.mlir) if f.is_graph]:
            computes_weights = encoding.OF in func.op.attributes
            for node in func.nodes:
                if not (computes_weights and array_rule(func, node) is not None):
                    rewrite.node(func, node)
            erase_dead_nodes(func)
    return legalized


class _Legalize:
    """The state of legalizing one graph."""

    def __init__(self, graph: Graph):
        self.module = graph.module
        self.sizes = Sizes()
        self.known: dict[Any, str | list[int]] = {}

    def node(self, func: TensorFunc, node: Node) -> None:
        if node.kind != encoding.OPERATOR:
            return
        name = node.operator
        if name is None:
            raise GraphError(f"{node!r} calls a function that stands for no operator")
        if is_view(node):
            return
        numbers = [_number(value) if takes_number(node) else None for value in node.inputs]
        inputs = [t if n is None else n for n, t in zip(numbers, map(func.type_of, node.inputs), strict=True)]
        key = name, repr(sorted(node.attributes.items())), repr(inputs), tuple(node.types)
        if key not in self.known:
            self.known[key] = self._function(name, node.attributes, inputs, node.types)
        callee = self.known[key]
        operands = [v for v, n in zip(node.inputs, numbers, strict=True) if n is None]
        if isinstance(callee, list):  # it returns inputs
            results = [operands[number] for number in callee]
        else:
            with ir.InsertionPoint(node.op):
                results = create.call_tir(self.module.mlir, callee, operands, node.types, node.names).results
        replace_node(node, results)

    def _function(
        self,
        name: str,
        attributes: Mapping[str, Any],
        inputs: Sequence[TensorType | float],
        results: Sequence[TensorType],
    ) -> str | list[int]:
        """The name of a new function, or, if the operator returns inputs, their numbers."""
        function = operator_program(name, attributes, inputs, results, self.sizes)
        if isinstance(function, list):
            return function
        symbol = create.fresh_symbol(self.module.mlir, name.replace(".", "_"))
        copy_function(self.module.mlir, function, symbol)
        return symbol


def _number(value: ir.Value) -> float | int | None:
    """The number that a value is; None if it is a tensor, or no number that stays in the text of the graph."""
    node = node_of(value)
    if node is None or node.kind != "constant" or not is_embedded(node):
        return None
    return constant_array(node).item()
