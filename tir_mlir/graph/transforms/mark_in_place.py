"""Let functions write results where inputs were, if that is proved to be right and saves memory."""

from __future__ import annotations

from tir_mlir.dialect.ir import entered
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.calls_in_place import mark


def mark_in_place(graph: Graph) -> Graph:
    """Note at each TensorIR function which results may take the memory of inputs that die there. See
    `graph.memory.calls_in_place`: a call is made on one buffer instead of two where that makes the arena smaller."""
    made = graph.clone()
    with entered():
        mark(made.func, made.module.mlir)
    return made
