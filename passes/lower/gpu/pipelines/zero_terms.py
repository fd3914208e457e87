"""Conditions of sums that only leave out products of zeros, which the TMA brings behind the end of an array."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Loop, constraints, edit, owner_op, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref, is_pure
from tir_mlir.dialect.ir.op_views import AffineIfOp, AffineLoadOp, AffineStoreOp, isa
from tir_mlir.passes.lower.gpu.pipelines.tensor_boxes import TensorBox


def drop_conditions(loop: Loop, boxes: Sequence[TensorBox]) -> None:
    """Drop conditions in a loop under which both factors of a product are behind the ends of their arrays.

        if %k < 100 { %c[..] = %c[..] + %a[.., %k] * %b[%k, ..] }   -->   %c[..] = %c[..] + %a[.., %k] * %b[%k, ..]

    a, b: tiles of arrays that have 100 elements along k, zeros behind them. Conditions on one factor alone remain: the
    other one may be infinite.
    """
    for guard in [op for op in walk.ops(loop.op) if isa(op, AffineIfOp)]:
        factors = _factors(guard)
        if factors is None:
            continue
        zeros = [_zeros(load, boxes) for load in factors]
        kept = [
            c
            for c in constraints(guard)
            if c.is_eq or not all(any(_is_equal(c.index, end) for end in ends) for ends in zeros)
        ]
        if not kept:
            for op in [o.operation for o in guard.regions[0].blocks[0].operations][:-1]:
                edit.move_before(op, guard)
            edit.drop(guard)
        elif len(kept) < len(constraints(guard)):
            edit.rebuild_guard(guard, kept)


def _is_equal(first: object, second: object) -> bool:
    difference = (first - second).simplify()  # type: ignore[operator]
    return difference.as_constant() == 0


def _zeros(load: ir.Operation, boxes: Sequence[TensorBox]) -> list:
    """What is negative where a load reads a zero."""
    return [end for box in boxes if accessed_memref(load) == box.tile.value for end in box.ends_behind(load)]


def _factors(guard: ir.Operation) -> tuple[ir.Operation, ir.Operation] | None:
    """The loads of the factors of the only thing under a condition, `x[i] = x[i] + widen(a) * widen(b)`."""
    body = [o.operation for o in guard.regions[0].blocks[0].operations][:-1]
    stores = [op for op in body if not is_pure(op) and not isa(op, AffineLoadOp)]
    if len(guard.regions[1].blocks) or len(stores) != 1 or not isa(stores[0], AffineStoreOp):
        return None
    return product_factors(stores[0])


def product_factors(store: ir.Operation) -> tuple[ir.Operation, ir.Operation] | None:
    """The loads of both factors in `x[i] = x[i] + widen(a) * widen(b)`."""
    sum_ = owner_op(AffineStoreOp(store).value)
    if sum_.name != "arith.addf":
        return None
    parts = [owner_op(value) for value in sum_.operands]
    old = [op for op in parts if isa(op, AffineLoadOp) and accessed_memref(op) == accessed_memref(store)]
    product = [op for op in parts if op.name == "arith.mulf"]
    if len(old) != 1 or len(product) != 1 or walk.access_indices(old[0]) != walk.access_indices(store):
        return None
    loads = [_widened_load(value) for value in product[0].operands]
    return (loads[0], loads[1]) if loads[0] is not None and loads[1] is not None else None


def _widened_load(value: ir.Value) -> ir.Operation | None:
    op = owner_op(value)
    if op.name == "arith.extf":
        op = owner_op(op.operands[0])
    return op if isa(op, AffineLoadOp) else None
