"""Walks over ops: those in an op, and those around one. MLIR's own walk is used: it is faster than Python's iteration,
which makes a typed view of each op."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from tir_mlir.dialect.ir import attrs
from tir_mlir.dialect.ir.memo import cache_while_frozen
from tir_mlir.dialect.ir.op_views import FuncOp

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


def ops(root: ir.Operation, skip: Callable[[ir.Operation], bool] | None = None) -> list[ir.Operation]:
    """`root` and all nested ops, pre-order, without the ops nested in one for which `skip` is true."""
    return list(_all_ops(root.operation)) if skip is None else _ops_outside(root.operation, skip)


@cache_while_frozen
def _all_ops(root: ir.Operation) -> list[ir.Operation]:
    visited: list[ir.Operation] = []
    append, advance = visited.append, _ADVANCE  # bound once: called for each op

    def look(op: ir.Operation) -> ir.WalkResult:
        append(op)
        return advance

    visit(root, look)
    return visited


def _ops_outside(root: ir.Operation, skip: Callable[[ir.Operation], bool]) -> list[ir.Operation]:
    visited: list[ir.Operation] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        visited.append(op)
        return _SKIP if skip(op) else _ADVANCE

    visit(root, look)
    return visited


def find(module: ir.Module | ir.Operation, number: int) -> ir.Operation | None:
    """The op whose id is `number`."""
    root = module.operation
    hits: list[ir.Operation] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        attributes = op.attributes
        if attrs.ID in attributes and ir.IntegerAttr(attributes[attrs.ID]).value == number:
            hits.append(op)
            return ir.WalkResult.INTERRUPT
        return _ADVANCE

    visit(root, look)
    return hits[0] if hits else None


def op_with_id(module: ir.Module | ir.Operation, number: int) -> ir.Operation:
    """The op whose id is `number`, which there is."""
    op = find(module, number)
    assert op is not None, f"no op has the id {number}"
    return op


@cache_while_frozen
def parents(op: ir.Operation) -> list[ir.Operation]:
    """The ancestors of `op`, innermost first, up to and including its function."""
    ancestors: list[ir.Operation] = []
    current = op.operation
    while current.name not in FuncOp.names and current.parent is not None:
        current = current.parent.operation
        ancestors.append(current)
    return ancestors


def top_of(op: ir.Operation) -> ir.Operation:
    """The op in the body of a function that contains `op`; else the outermost op around it."""
    current = op.operation
    while (parent := current.parent) is not None and parent.name not in FuncOp.names:
        current = parent.operation
    return current
