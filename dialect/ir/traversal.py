"""Walks over ops by MLIR's own walk: it is faster than Python's iteration, which makes a typed view of each op."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

_ADVANCE, _SKIP, _PRE_ORDER = ir.WalkResult.ADVANCE, ir.WalkResult.SKIP, ir.WalkOrder.PRE_ORDER


def visit(root: ir.Operation, function: Callable[[ir.Operation], ir.WalkResult]) -> None:
    """Call a function for `root` and every nested op, pre-order; its result controls the walk.

    KeyboardInterrupt is re-raised: MLIR turns exceptions of the callback into RuntimeError.
    """
    try:
        root.operation.walk(function, _PRE_ORDER)
    except RuntimeError as error:
        if str(error).rstrip().endswith("KeyboardInterrupt:"):
            raise KeyboardInterrupt from None
        raise


def direct_ops(root: ir.Operation) -> list[ir.Operation]:
    """The ops directly inside an op, in all its regions."""
    visited: list[ir.Operation] = []
    add = visited.append

    def look(op: ir.Operation) -> ir.WalkResult:
        add(op)
        return _SKIP if len(visited) > 1 else _ADVANCE

    visit(root, look)
    return visited[1:]


TENSOR_LEVEL = "graph.kind"
"""An attribute of functions on tensors, which are not programs of TensorIR."""


def is_program(op: ir.Operation) -> bool:
    """Whether an op of a module is a function of TensorIR with a body."""
    return op.name == "func.func" and len(op.regions[0].blocks) > 0 and TENSOR_LEVEL not in op.attributes
