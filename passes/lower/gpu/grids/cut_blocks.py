"""One axis of blocks for each digit of a fused index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.ir import (
    Block,
    Index,
    Loop,
    at_end,
    attrs,
    constraints,
    create,
    edit,
    is_block,
    is_loop,
    read_map,
    used_dims,
    walk,
)
from tir_mlir.dialect.ir.op_views import AffineAccessOp, AffineIfOp, AffineOp, ApplyOp, isa
from tir_mlir.dialect.presburger.digits import in_digits
from tir_mlir.passes.lower.blocks.blocks import Simplifier, raw_bindings
from tir_mlir.passes.lower.gpu.thread_tags import digit_kind, is_axis, is_block_kind, kernel_nests
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-gpu-cut-blocks", "Make a loop over blocks one loop for each digit that indices use of it")
def run(module: ir.Module) -> None:
    """Split each loop over blocks whose variable is divided, at the positions where it is.

        for %b = 0 to 24 {              (blockIdx.x)         for %y = 0 to 6 {                      (blockIdx.x/4)
          ..%A[%b floordiv 4, %b mod 4]..           -->        for %x = 0 to 4 {                    (blockIdx.x/1)
        }                                                        ..%A[%y, %x]..
                                                             }}

    Later passes see a product of plain loops, on which isl decides what it gives up on with divisions. Kinds tell the
    position of a digit; `tir-lower-gpu-join-blocks` makes them one axis again. Loops whose divisors are not digits, and
    those next to others over the same axis, are left as they are. Requires nothing.
    """
    for func in programs(module):
        for nest in kernel_nests(func):
            loops = [Loop(op) for op in walk.ops(nest) if is_axis(op) and is_block_kind(Loop(op).kind)]
            kinds = [loop.kind for loop in loops]
            for loop in [lp for lp in loops if kinds.count(lp.kind) == 1]:
                if len(digits := _digits(loop)) > 1:
                    _cut(loop, digits)


def _digits(loop: Loop) -> list[tuple[int, int]]:
    """The digits of a loop variable as (weight, number of values), outer to inner; fewer than two: none are used."""
    count = loop.const_extent
    if count is None or count < 2 or [low.as_constant() for low in loop.lowers] != [0]:
        return []
    parts = dict.fromkeys(part for op in walk.ops(loop.op) for part in _divisions_in(op, loop))
    ends = ((0, count - 1),)
    cut = tuple(part for part in parts if in_digits((part,), ends) is not None)  # not `(b + 1) floordiv 2`
    split = in_digits(cut, ends) if cut else None
    return [] if split is None else [(digit.weight, digit.high + 1) for digit in split.digits]


def _divisions_in(op: ir.Operation, loop: Loop) -> Iterator[ir.AffineExpr]:
    """What an op divides that depends on a loop variable only, as expressions of it."""
    env = _iters_of(op)
    for index in _indices(op):
        resolved = index.substitute(env).simplify() if env else index
        if loop.var in resolved.values:
            yield from _divisions(resolved.expr, resolved.values.index(loop.var))


def _iters_of(op: ir.Operation) -> Mapping[ir.Value, Index]:
    """The iters of the blocks around an op, as expressions of loop variables."""
    env: dict[ir.Value, Index] = {}
    for parent in walk.parents(op)[::-1]:
        if is_block(parent):
            arguments = parent.regions[0].blocks[0].arguments
            env |= {v: b.substitute(env) for v, b in zip(arguments, raw_bindings(parent), strict=True)}
    return env


def _indices(op: ir.Operation) -> Sequence[Index]:
    if is_block(op):
        return Block(op).bindings
    if isa(op, AffineIfOp):
        return [c.index for c in constraints(op)]
    if is_loop(op):
        return [*Loop(op).lowers, *Loop(op).uppers]
    if isa(op, ApplyOp):
        return read_map(attrs.map_of(op.attributes["map"]), list(op.operands))
    return walk.access_indices(op) if isa(op, AffineAccessOp) else []


def _divisions(expr: ir.AffineExpr, position: int) -> Iterator[ir.AffineExpr]:
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return
    divides = not isinstance(expr, ir.AffineAddExpr | ir.AffineMulExpr)
    if divides and [*used_dims(expr)] == [position]:
        yield expr.compose(ir.AffineMap.get(1, 0, [ir.AffineExpr.get_dim(0)] * (position + 1)))
    else:
        yield from _divisions(expr.lhs, position)
        yield from _divisions(expr.rhs, position)


def _cut(loop: Loop, digits: Sequence[tuple[int, int]]) -> None:
    ip, value = ir.InsertionPoint(loop.op), Index.constant(0)
    for number, (weight, count) in enumerate(digits):
        with ip, loop.op.location:
            digit = create.loop(f"{loop.name}_{number}", 0, count, digit_kind(loop.kind, weight))
        value, ip = value + Index.from_value(digit.var) * weight, at_end(digit.body)
    end = list(digit.body.operations)[-1]
    for op in loop.body_ops():
        edit.move_before(op, end)
    users = dict.fromkeys(use.owner.operation for use in loop.var.uses)
    for user in [user for user in users if isa(user, AffineOp)]:
        edit.rewrite_indices(user, Simplifier(user, {loop.var: value}))
    edit.substitute({loop.var: value})  # other users
    edit.drop(loop.op)
