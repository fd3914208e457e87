"""Work estimate of a program: the iterations of its innermost loops."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from mlir import ir

from tir_mlir.dialect.calls import callee_of
from tir_mlir.dialect.ir import Block, Buffer, Index, Loop, all_blocks, is_block, is_loop, is_symbol, symbol_name
from tir_mlir.dialect.ir.op_views import AllocOp, CallOp, DataLoopOp, DivFOp, RsqrtOp, isa
from tir_mlir.dialect.ir.size_products import value_of
from tir_mlir.dialect.presburger import intervals

_UNKNOWN = 64
"""Assumed trip count of a loop with data-dependent bounds."""


_DIVISION = 8
"""The iterations that take as long as an inverse in the prime field."""


def work_of(func: ir.Operation, sizes: Mapping[str, int]) -> int:
    """An estimate of how often the innermost statements of a function run, given its shape variables. Elements of
    allocations count as well, since they are filled."""
    return _work(func.operation, {}, sizes)


def terms_of(func: ir.Operation, sizes: Mapping[str, int]) -> int:
    """The terms of the sums of all blocks of a function, given its shape variables: those of two sums add up."""
    sums = [[it for it in block.iters if it.kind == "R"] for block in all_blocks(func)]
    return sum(prod(_ends(it.extent, {}, sizes)[1] or 1 for it in iters) for iters in sums if iters)


def _work(op: ir.Operation, box: intervals.ValueRanges, sizes: Mapping[str, int]) -> int:
    trips = 1
    if is_loop(op):
        trips = _trips(Loop(op), box, sizes)
    elif is_block(op):
        box |= {it.var: _ends(it.binding, box, sizes) for it in Block(op).iters}
    elif isa(op, DataLoopOp):
        trips = _UNKNOWN
    elif (callee := callee_of(op)) is not None:
        return _work(callee.op, {}, {})
    inner = [o.operation for r in op.regions for b in r.blocks for o in b.operations]
    filled = sum(_elements(o, box, sizes) for o in inner if isa(o, AllocOp))
    slow = _DIVISION * sum(isa(o, DivFOp, RsqrtOp) for o in inner)
    return trips * max(1, slow + filled + sum(_work(o, box, sizes) for o in inner if len(o.regions) or isa(o, CallOp)))


def _elements(op: ir.Operation, box: intervals.ValueRanges, sizes: Mapping[str, int]) -> int:
    ends = [_ends(n, box, sizes)[1] for n in Buffer(op.results[0]).dims]
    return prod(_UNKNOWN if n is None else max(n, 0) for n in ends)


def _trips(loop: Loop, box: intervals.ValueRanges, sizes: Mapping[str, int]) -> int:
    lows = [_ends(i, box, sizes)[0] for i in loop.lowers]
    highs = [_ends(i, box, sizes)[1] for i in loop.uppers]
    low = max((v for v in lows if v is not None), default=0)
    high = min((v for v in highs if v is not None), default=low + _UNKNOWN)
    box[loop.var] = (low, max(low, high - 1))
    return max(0, high - low)


def _ends(
    index: Index, box: intervals.ValueRanges, sizes: Mapping[str, int]
) -> tuple[intervals.Bound, intervals.Bound]:
    return intervals.expr_interval(index.expr, [_range(v, box, sizes) for v in index.values])


def _range(
    value: ir.Value, box: intervals.ValueRanges, sizes: Mapping[str, int]
) -> tuple[intervals.Bound, intervals.Bound]:
    if value in box:
        return box[value]
    size = value_of(symbol_name(value), sizes) if sizes and is_symbol(value) else None
    return size, size
