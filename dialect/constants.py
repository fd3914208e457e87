"""Constants that meet while a program is rewritten: computed, as the parser computes those that are written down."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect import dtypes
from tir_mlir.dialect.index import is_apply, read_apply
from tir_mlir.dialect.walk import erase, fold_choices, ops

_COMPUTED: dict[str, Callable[..., Any]] = {
    "arith.addf": operator.add, "arith.subf": operator.sub, "arith.mulf": operator.mul,
    "arith.addi": operator.add, "arith.subi": operator.sub, "arith.muli": operator.mul,
    "arith.maximumf": max, "arith.maxnumf": max, "arith.maxsi": max,
    "arith.minimumf": min, "arith.minnumf": min, "arith.minsi": min,
    "arith.extf": float, "arith.truncf": float, "arith.sitofp": float, "arith.extsi": int, "arith.trunci": int,
    "arith.fptosi": int, "arith.index_cast": int,
}  # fmt: skip


def fold_known(root: ir.Operation) -> None:
    """Replace the choices and the operations beneath `root` whose result became known, as the parser does."""
    fold_choices(root)
    fold_constants(root)


def fold_constants(root: ir.Operation) -> None:
    """Replace every operation on constants beneath `root` by its result, where the type can hold it."""
    for op in ops(root):
        _fold(op)


def fold_conversion(op: ir.Operation) -> None:
    """Replace a conversion of a constant, be it through other types on the way, by its result."""
    given = op.operands[0].owner
    if not isinstance(given, ir.Block) and given.name in _COMPUTED and len(given.operands) == 1:
        fold_conversion(given.operation)
    _fold(op)


def _fold(op: ir.Operation) -> None:
    if op.name not in _COMPUTED or isinstance(op.results[0].type, ir.IndexType):
        return
    given = [_constant(v) for v in op.operands]
    if None in given or not all(math.isfinite(g) for g in given):  # type: ignore[arg-type]
        return
    value = _COMPUTED[op.name](*given)
    type_ = op.results[0].type
    if not _fits(value, dtypes.to_name(type_)):
        return
    with ir.InsertionPoint(op), op.location:
        made = arith.constant(type_, value)
    op.results[0].replace_all_uses_with(made)
    erase(op)


def _constant(value: ir.Value) -> float | int | None:
    if is_apply(value):
        return read_apply(value).as_constant()  # an index that became constant
    if isinstance(value.owner, ir.Block) or value.owner.name != "arith.constant":
        return None
    found = value.owner.attributes["value"]
    return found.value if isinstance(found, ir.FloatAttr | ir.IntegerAttr) else None


def _fits(value: float | int, dtype: str) -> bool:
    if dtypes.is_float(dtype):
        return math.isfinite(value)
    return -(1 << (dtypes.bits(dtype) - 1)) <= value < 1 << (dtypes.bits(dtype) - 1)
