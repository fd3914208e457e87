"""Loops over one axis inside each other: the work of the inner one is done once, by all threads together."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Loop, walk
from tir_mlir.dialect.ir.op_traits import LOADS, accessed_memref
from tir_mlir.passes.lower.registry import location_text


def require_no_outer_thread(axes: Sequence[Loop]) -> None:
    """Raise LoweringError if a loop over an axis depends on the thread of an outer loop over the same axis.

        for t in threadIdx.x:            each thread runs one iteration of u, not all 32 of them: what u does
          for u in threadIdx.x:          must not depend on t
            S[u] = A[t, u]

    `axes`: all loops over axes of a kernel.
    """
    for inner in axes:
        for outer in axes:
            if inner != outer and inner.kind == outer.kind and walk.is_inside(inner.op, outer.op):
                user = _user(inner, outer)
                if user is not None:
                    raise LoweringError(
                        f"{location_text(user)}: loop {inner.name} and loop {outer.name} around it are both bound to"
                        f" {inner.kind}, so its iterations run once, each in its own thread; but this depends on"
                        f" {outer.name} and differs between {outer.name}=0 and {outer.name}=1; fix: bind"
                        f" {inner.name} to another axis, or do not bind it"
                    )


def _user(inner: Loop, outer: Loop) -> ir.Operation | None:
    """An op in, or around, an inner loop that depends on which iteration of the outer one it is in."""
    written = {t.buffer for t in touches(outer.op) if t.is_write}
    enclosing = walk.parents(inner.op)
    for op in [*enclosing[: enclosing.index(outer.op)], *walk.ops(inner.op)]:
        for value in op.operands:
            if _depends(value, inner, outer, written):
                return op
    return None


def _depends(value: ir.Value, inner: Loop, outer: Loop, written: set[ir.Value]) -> bool:
    """Whether a value from outside of the inner loop may differ between iterations of the outer loop."""
    if value == outer.var:
        return True
    owner = value.owner
    op = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
    if op == inner.op or walk.is_inside(op, inner.op) or not walk.is_inside(op, outer.op) or op.name == "memref.alloc":
        return False
    if isinstance(owner, ir.Block):
        return any(_depends(v, inner, outer, written) for v in op.operands)  # a loop variable differs if its range does
    if (op.name in LOADS and accessed_memref(op) in written) or len(op.regions):
        return True
    return any(_depends(v, inner, outer, written) for v in op.operands)
