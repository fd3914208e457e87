"""Constants in the text of a graph become weights, but for numbers that operators take as they are."""

from __future__ import annotations

import numpy as np
from mlir import ir

from tir_mlir.dialect.graph import Node, create, free_name
from tir_mlir.dialect.ir import entered
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, kind_of


def constants_to_weights(graph: Graph) -> Graph:
    """Each constant becomes a weight; equal ones share it. Numbers that all operators that read them take stay.

        func.func @main(%x: tensor<4xf32>) { %c = arith.constant dense<2.0> : tensor<f32> ... }
    ->  func.func @main(%x: tensor<4xf32>, %c: tensor<f32> {graph.weight = "c"}) { ... }
    """
    clone = graph.clone()
    with entered():
        func, parameters = clone.func, {}
        for node in [n for n in func.nodes if n.kind == "constant" and not is_embedded(n)]:
            array = constant_array(node)
            key = str(node.types[0]), array.tobytes()
            if key not in parameters:
                name = free_name(node.names[0], clone.weights)
                clone.weights[name] = array
                clone.from_text |= {name}
                parameters[key] = create.add_input(func, node.names[0], node.types[0], name)
            node.results[0].replace_all_uses_with(parameters[key])
            node.op.erase()
    return clone


def is_embedded(node: Node) -> bool:
    """Whether a constant is a number that its readers compute with: it is no operand of their functions."""
    if node.types[0].shape != () or node.types[0].dtype not in ("float32", "float64", "int32", "int64"):
        return False
    finite = bool(np.isfinite(constant_array(node).astype("float64")))
    return finite and all(takes_number(Node(use.owner)) for use in node.results[0].uses)


def takes_number(node: Node) -> bool:
    """Whether one operand of a node may be a number: the other one is a tensor of its type and no number itself."""
    if node.op.name != "func.call" or kind_of(node.operator) is not OperatorKind.ELEMENTWISE or len(node.inputs) != 2:
        return False
    types = [ir.RankedTensorType(value.type) for value in node.inputs]
    return types[0].element_type == types[1].element_type and any(t.rank > 0 for t in types)


def constant_array(node: Node) -> np.ndarray:
    """The value of a constant as an array; bfloat16 as its bits."""
    type_ = node.types[0]
    dtype = "uint16" if type_.dtype == "bfloat16" else type_.dtype
    values = np.array(node.constant)
    if values.dtype != np.dtype(dtype):
        values = values.view(dtype) if values.dtype.itemsize == np.dtype(dtype).itemsize else values.astype(dtype)
    shape = tuple(int(size) for size in type_.shape)
    return np.broadcast_to(values.reshape(shape if values.size > 1 else ()), shape).copy()
