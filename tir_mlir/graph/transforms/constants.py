"""Constants in the text of a graph become weights."""

from __future__ import annotations

import numpy as np

from tir_mlir.dialect.graph import Node, create
from tir_mlir.dialect.ir import entered
from tir_mlir.graph.graph import Graph


def constants_to_weights(graph: Graph) -> Graph:
    """Each constant becomes a weight; equal ones share it.

        func.func @main(%x: tensor<4xf32>) { %c = arith.constant dense<2.0> : tensor<f32> ... }
    ->  func.func @main(%x: tensor<4xf32>, %c: tensor<f32> {graph.weight = "c"}) { ... }
    """
    made = graph.clone()
    with entered():
        func, known = made.func, {}
        for node in [n for n in func.nodes if n.kind == "constant"]:
            array = constant_array(node)
            key = str(node.types[0]), array.tobytes()
            if key not in known:
                name = _free(node.names[0], made.weights)
                made.weights[name] = array
                known[key] = create.add_input(func, node.names[0], node.types[0], name)
            node.results[0].replace_all_uses_with(known[key])
            node.op.erase()
    return made


def constant_array(node: Node) -> np.ndarray:
    """The value of a constant as an array; bfloat16 as its bits."""
    type_ = node.types[0]
    dtype = "uint16" if type_.dtype == "bfloat16" else type_.dtype
    values = np.array(node.constant)
    if values.dtype != np.dtype(dtype):
        values = values.view(dtype) if values.dtype.itemsize == np.dtype(dtype).itemsize else values.astype(dtype)
    shape = tuple(int(size) for size in type_.shape)
    return np.broadcast_to(values.reshape(shape if values.size > 1 else ()), shape).copy()


def _free(wanted: str, known: object) -> str:
    name, number = wanted, 0
    while name in known:  # pyright: ignore[reportOperatorIssue]
        number += 1
        name = f"{wanted}_{number}"
    return name
