"""The nodes of a graph as the rows of its picture."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.graph.views import Node
from tir_mlir.dialect.ir import enter_context
from tir_mlir.extensions import implement
from tir_mlir.graph.graph import Graph
from tir_mlir.visual import graph_picture
from tir_mlir.visual.graph_picture import NodeRow
from tir_mlir.visual.svg import Picture


@implement(Graph.plot)
def plot_graph(graph: Graph) -> Picture:
    """Draw the nodes in their order, without constants and what is computed from weights only."""
    with enter_context():
        func = graph.func
        inputs = {value for at, value in enumerate(func.inputs) if func.weight(at) is None}
        number: dict[ir.Value, int] = {}
        rows: list[NodeRow] = []
        for node in func.nodes:
            if not any(value in inputs for value in node.inputs):
                continue
            reads = tuple(number[value] for value in node.inputs if value in number)
            number |= dict.fromkeys(node.results, len(rows))
            inputs.update(node.results)
            note = ", ".join(map(str, node.types))
            rows.append(NodeRow(_label(node), note, reads, is_function=node.operator is None))
    return graph_picture.draw_graph(rows, f"{graph.name}: {len(rows)} nodes")


def _label(node: Node) -> str:
    """The operator, or the name of the function that is called."""
    callee = node.callee
    return node.operator or (node.kind if callee is None else callee.callee or callee.name)
