"""Which loads must be bound to a name: printed inline after a store, they would read another value."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Buffer, attrs, is_block, is_size, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import (
    AllocLikeOp,
    CallOp,
    CountedLoopOp,
    IfOp,
    LoadOp,
    NamedViewOp,
    StoreOp,
    SubviewOp,
    isa,
)

_STATEMENTS = StoreOp.names | CountedLoopOp.names | AllocLikeOp.names | NamedViewOp.names


def is_statement(op: ir.Operation) -> bool:
    """Whether an op has a line of its own (all others are parts of expressions)."""
    name = op.name
    if name in SubviewOp.names and attrs.NAME not in op.attributes:
        return False  # a part of a buffer that a call takes
    if name in _STATEMENTS or is_block(op):
        return True
    if name in CallOp.names:
        return not any(_is_used(r) for r in op.results)
    return not len(op.results)


def is_let(op: ir.Operation) -> bool:
    """Whether an op defines a value with a name."""
    return len(op.results) == 1 and attrs.NAME in op.attributes and not is_statement(op) and not is_size(op)


def reads_to_bind(body: Sequence[ir.Operation]) -> set[ir.Operation]:
    """Loads and calls of a body whose value is used after a statement that may change what they read."""
    effects = [(i, op) for i, op in enumerate(body) if is_statement(op) and not isa(op, AllocLikeOp, NamedViewOp)]
    readers = [(i, op) for i, op in enumerate(body) if _reads(op)]
    to_bind: set[ir.Operation] = set()
    for position, op in readers:
        later = [(i, e) for i, e in effects if i > position]
        if not later or (len(later) == 1 and not len(later[0][1].regions)):
            continue
        last = _last_use(op, body)
        if any((i < last or (i == last and len(e.regions))) and _may_change(e, op) for i, e in later):
            to_bind.add(op)
    return to_bind


def _is_used(value: ir.Value) -> bool:
    return any(True for _ in value.uses)


def _reads(op: ir.Operation) -> bool:
    if isa(op, LoadOp, CallOp):
        return any(_is_used(r) for r in op.results) and attrs.NAME not in op.attributes
    return isa(op, IfOp) and not is_statement(op) and attrs.NAME not in op.attributes


def _last_use(op: ir.Operation, body: Sequence[ir.Operation]) -> int:
    """Position of the last statement of the body that uses the value of `op`."""
    positions = {o: i for i, o in enumerate(body)}
    last, pending, seen = -1, [op], set()
    while pending:
        for result in pending.pop().results:
            for use in result.uses:
                owner = _child_in(positions, use.owner.operation)
                if owner in seen:
                    continue
                seen.add(owner)
                if is_statement(owner) or is_let(owner):
                    last = max(last, positions[owner])
                else:
                    pending.append(owner)
    return last


def _child_in(positions: dict[ir.Operation, int], op: ir.Operation) -> ir.Operation:
    """The op of the body that is `op` or an ancestor of it."""
    while op not in positions:
        parent = op.parent
        assert parent is not None
        op = parent.operation
    return op


def _may_change(statement: ir.Operation, reader: ir.Operation) -> bool:
    """Whether a statement may write what `reader` reads; a call may write anything."""
    inner = walk.ops(statement)
    if isa(reader, CallOp) or any(isa(o, CallOp) for o in inner):
        return True
    written = {Buffer(accessed_memref(o)).root for o in inner if isa(o, StoreOp)}
    read = {Buffer(accessed_memref(o)).root for o in walk.ops(reader) if isa(o, LoadOp)}
    return bool(written & read)
