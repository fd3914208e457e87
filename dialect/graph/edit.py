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


def copy_op(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> ir.Operation:
    """A copy of an op at the insertion point, which reads the copies of what the op reads; `copies` gets its results.

    What has no copy yet is copied before it: destinations of linalg ops, their sizes, and constants.
    """
    for value in op.operands:
        if value not in copies:
            copy_op(ir.OpResult(value).owner.operation, copies)
    copy = op.clone().operation
    for number, value in enumerate(op.operands):
        copy.operands[number] = copies[value]
    copies.update(zip(op.results, copy.results, strict=True))
    return copy
