"""Values of a block that are the same for several of its instances, and costly enough to share."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Block, ops
from tir_mlir.dialect.ir.op_traits import CHEAP_FUNCTIONS, DIVISIONS, QUOTIENTS, REMAINDERS
from tir_mlir.dialect.ir.op_views import DivFOp, isa
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import block_info, block_view

ROWS = 4
"""The number of rows that share a value: more would be in one set of the L1 cache if rows are 4 KB apart."""


_COSTLY = DIVISIONS | QUOTIENTS | REMAINDERS


def allow_reciprocals(sch: Schedule, block: BlockHandle) -> None:
    """Let a block that may divide by a value of fewer iters than its own multiply by its reciprocal."""
    info = block_info(sch, block)
    axes = [{n for axis in r.axes for n in axis} for r in info.reads]
    divides = any(isa(o, DivFOp) for o in ops(block_view(sch, block).op))
    if divides and any(len(a) < len(info.iter_vars) for a in axes):
        sch.annotate(block, "reciprocal", True)


def is_repeated(sch: Schedule, block: BlockHandle, row: str, lanes: list[str], reciprocal: bool) -> bool:
    """Whether a block computes costly values that depend on one of the iters `lanes`, and not on `row`.

        Y[i, j] = X[i, j] / sqrt(S[j])      the root, and with `reciprocal` the division, for lane j and row i

    Costly are divisions and functions; `reciprocal`: a division costs that of 1 by the divisor.
    """
    iters = costly_values(block_view(sch, block), reciprocal)
    return any(row not in depends and not depends.isdisjoint(lanes) for depends in iters)


def costly_values(block: Block, reciprocal: bool) -> list[set[str]]:
    """The iters that each costly value of a block depends on."""
    iters_of: dict[ir.Value, set[str]] = {it.var: {it.name} for it in block.iters}
    every = {it.name for it in block.iters}
    costly = []
    for op in ops(block.op)[1:]:
        if len(op.regions):
            iters_of |= dict.fromkeys(op.results, every)
            continue
        depends = set().union(*(iters_of.get(v, set()) for v in op.operands))
        iters_of |= dict.fromkeys(op.results, depends)
        if isa(op, DivFOp) and reciprocal and (divisor := iters_of.get(DivFOp(op).rhs)):
            costly.append(divisor)
        elif op.name in _COSTLY or (op.name.startswith("math.") and op.name not in CHEAP_FUNCTIONS):
            costly.append(depends)
    return costly
