"""Erase dead nodes of a graph, and compute equal ones once."""

from __future__ import annotations

from tir_mlir.dialect.ir import entered
from tir_mlir.graph.graph import Graph
from tir_mlir.passes.graph.common_subexpressions import merge_equal_nodes
from tir_mlir.passes.graph.dead_code import drop_unused_inputs, erase_dead_nodes, erase_unused_functions


def clean(graph: Graph) -> Graph:
    """Compute equal nodes once, then erase nodes, functions and weights that nothing uses; other inputs stay.

    lv = R.nn.relu(x); lv1 = R.nn.relu(x); lv2 = R.exp(x)          lv = R.nn.relu(x)
    gv = R.add(lv, lv1)                                     ->     gv = R.add(lv, lv)
    """
    made = graph.clone()
    with entered():
        merge_equal_nodes(made.func)
        erase_dead_nodes(made.func)
        drop_unused_inputs(made.func)
        erase_unused_functions(made.module.mlir)
    return made
