"""Edit graphs in place."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.graph.views import Node


def replace_node(node: Node, values: Sequence[ir.Value]) -> None:
    """Put values in the place of the results of a node, and erase it."""
    for old, new in zip(node.results, values, strict=True):
        old.replace_all_uses_with(new)
    node.op.erase()
