"""Values in another type."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect import dtypes

_NOT_EQUAL_FLOAT, _NOT_EQUAL_INT = 13, 1  # predicates of cmpf (holds for NaN) and cmpi


def convert(value: ir.Value, dtype: str) -> ir.Value:
    """A value in another type, at the insertion point: floats to integers round towards zero, to bool tests for zero.

    Requires a value of a type that has a name, not an index.
    """
    source, target = dtypes.to_name(value.type), dtypes.to_mlir(dtype)
    if source == dtype:
        return value
    wider = dtypes.bits(source) < dtypes.bits(dtype)
    is_float = dtypes.is_float(source)
    if dtype == "bool" and is_float:
        return arith.cmpf(_NOT_EQUAL_FLOAT, value, arith.constant(value.type, 0.0))
    if dtype == "bool":
        return arith.cmpi(_NOT_EQUAL_INT, value, arith.constant(value.type, 0))
    if is_float and dtypes.is_float(dtype):
        if dtypes.bits(source) == dtypes.bits(dtype):  # float16 and bfloat16 have no single op between them
            return arith.truncf(target, arith.extf(dtypes.to_mlir("float32"), value))
        return (arith.extf if wider else arith.truncf)(target, value)
    if is_float:
        return arith.fptosi(target, value)
    if dtypes.is_float(dtype):
        return (arith.uitofp if source == "bool" else arith.sitofp)(target, value)
    if source == "bool":
        return arith.extui(target, value)
    return (arith.extsi if wider else arith.trunci)(target, value)
