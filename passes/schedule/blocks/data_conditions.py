"""A condition on data around a block, in a nest that becomes a block: it is computed there, from the iters of that."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, Index, Loop, access_indices, edit, is_apply, is_block, is_loop, read_apply, walk
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.ir.op_views import AffineAccessOp, AffineIfOp, IfOp, YieldOp, isa
from tir_mlir.dialect.presburger import dim_factors
from tir_mlir.passes.schedule.blocks.tile_bindings import Division
from tir_mlir.passes.schedule.registry import check, refuse


def is_computation(op: ir.Operation) -> bool:
    """Whether an op only computes values: also by an if with results."""
    return is_pure(op) or (len(op.results) > 0 and all(is_pure(o) or isa(o, IfOp, YieldOp) for o in walk.ops(op)))


def check_condition(target: Loop, block: Block, inner: Sequence[Loop], parts: Sequence[Division]) -> None:
    """Refuse a condition on data that outer iters cannot express: it uses an outer loop that is in no outer part."""
    check(
        block.init is None,
        block,
        f'block "{block.name}" runs only where a condition on data holds, and its init would run without it',
        fix="in the program, put the condition into the block: if ...: around its statements",
    )
    zeros, inner_vars = [Index.constant(0)] * len(parts), {loop.var for loop in inner}
    values = _loop_values(parts, zeros)
    for op in _computations(target):
        indices = _indices(op)
        used = [v for i in indices for v in _express_by_iters(i, parts, zeros).values] if indices else list(op.operands)
        for value in used:
            name = walk.enclosing_loop_name(value)
            if name is not None and value not in inner_vars and value not in values:
                refuse(
                    block,
                    f'block "{block.name}" runs only where a condition on data holds, which uses loop {name}; no iter '
                    "of the new block has its value",
                    fix="in the program, put the condition into the block: if ...: around its statements",
                )
    emit_remark(f"the condition on data of block `{block.name}` is computed in the new block, from its iters")


def bind_condition(target: Loop, parts: Sequence[Division], outer: Block) -> None:
    """Compute the condition of a nest that is in a new block from the iters of that, instead of the loops around."""
    iters = [Index.from_value(it.var) for it in outer.iters]
    for op in _computations(target):
        if _indices(op):
            edit.rewrite_indices(op, lambda index: _express_by_iters(index, parts, iters))
    values = _loop_values(parts, iters)
    for op in _computations(target):
        if not _indices(op) and any(v in values for v in op.operands):
            edit.substitute(values, op)


def _computations(target: Loop) -> list[ir.Operation]:
    """The ops in a nest besides its loops and block."""
    return [op for op in walk.ops(target.op, skip=is_block) if not is_loop(op) and not is_block(op)]


def _indices(op: ir.Operation) -> list[Index]:
    """The index expressions of an affine op; [] of others."""
    if isa(op, AffineAccessOp):
        return list(access_indices(op))
    if isa(op, AffineIfOp):
        return [c.index for c in walk.constraints(op)]
    return [read_apply(op.results[0])] if op.results and is_apply(op.results[0]) else []


def _loop_values(parts: Sequence[Division], iters: Sequence[Index]) -> dict[ir.Value, Index]:
    """The outer loops that are an outer part, with the iters of the new block that have their values."""
    values = {}
    for part, it in zip(parts, iters, strict=True):
        value = part.outer.is_value()
        if value is not None and walk.enclosing_loop_name(value) is not None:
            values[value] = it
    return values


def _express_by_iters(index: Index, parts: Sequence[Division], iters: Sequence[Index]) -> Index:
    """An expression over outer loops as one over the iters of the new block, as far as these have its terms."""
    index = index.substitute(_loop_values(parts, iters)).simplify()
    for part, it in zip(parts, iters, strict=True):
        factors, own = dim_factors(index.expr), dim_factors(part.outer.expr)
        if factors is None or own is None or part.outer.is_value() is not None or not own.factors:
            continue
        position, factor = next(iter(own.factors.items()))
        value = part.outer.values[position]
        times = sum(f for n, f in factors.factors.items() if index.values[n] == value)
        if times and factor and times % factor == 0:
            index = (index + (it - part.outer) * (times // factor)).simplify()
    return index
