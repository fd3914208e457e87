"""Arithmetic of two operands."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.aten.aten_table import aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.emitter import FLOATS


def _scaled(e: TorchEmitter, other: Any, alpha: Any) -> Any:
    if alpha == 1:
        return other
    return other * alpha if isinstance(other, (int, float)) else e.binary("multiply", other, alpha, e.dtype)


@aten("add")
def add(e: TorchEmitter, x: Any, other: Any, alpha: Any = 1) -> Any:
    if e.dtype == "bool":
        return e.op("logical_or", x, e.cast(other, "bool"))
    return e.binary("add", x, _scaled(e, other, alpha), e.dtype)


@aten("sub")
def subtract(e: TorchEmitter, x: Any, other: Any, alpha: Any = 1) -> Any:
    return e.binary("subtract", x, _scaled(e, other, alpha), e.dtype)


@aten("rsub")
def subtract_from(e: TorchEmitter, x: Any, other: Any, alpha: Any = 1) -> Any:
    return e.binary("subtract", other, _scaled(e, x, alpha), e.dtype)


@aten("mul")
def multiply(e: TorchEmitter, x: Any, other: Any) -> Any:
    if e.dtype == "bool":
        return e.op("logical_and", x, e.cast(other, "bool"))
    return e.binary("multiply", x, other, e.dtype)


@aten("div", "true_divide", "divide")
def divide(e: TorchEmitter, x: Any, other: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return e.binary("divide", x, other, e.dtype)
    if rounding_mode == "floor":
        return e.binary("floor_divide", x, other, e.dtype)
    quotient = e.binary("divide", x, other, e.dtype)
    return e.op("trunc", quotient) if e.dtype in FLOATS else quotient


@aten("pow")
def power(e: TorchEmitter, x: Any, exponent: Any) -> Any:
    """x ** exponent: products and roots for a few numbers, so that no power function is called."""
    if isinstance(exponent, (int, float)):
        base = e.cast(x, e.dtype)
        if exponent in (1, 2, 3, 4):
            return _whole_power(e, base, int(exponent))
        if exponent == 0.5:
            return e.op("sqrt", base)
        if exponent == -0.5:
            return e.op("rsqrt", base)
        if exponent == -1 and e.dtype in FLOATS:
            return e.binary("divide", 1, base, e.dtype)
    if e.dtype not in FLOATS:
        raise GraphError(f"a power of {e.dtype} with exponent {exponent}\n  fix: cast the operand to a float")
    return e.binary("power", x, exponent, e.dtype)


def _whole_power(e: TorchEmitter, x: Any, exponent: int) -> Any:
    if exponent == 1:
        return x
    square = e.multiply(x, x)
    return square if exponent == 2 else e.multiply(square, x if exponent == 3 else square)


@aten("addcmul")
def add_product(e: TorchEmitter, x: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    product = e.binary("multiply", tensor1, tensor2, e.dtype)
    return e.binary("add", x, _scaled(e, product, value), e.dtype)


@aten("addcdiv")
def add_quotient(e: TorchEmitter, x: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    quotient = e.binary("divide", tensor1, tensor2, e.dtype)
    return e.binary("add", x, _scaled(e, quotient, value), e.dtype)


@aten("lerp")
def blend(e: TorchEmitter, x: Any, end: Any, weight: Any) -> Any:
    apart = e.binary("subtract", end, x, e.dtype)
    return e.binary("add", x, e.binary("multiply", apart, weight, e.dtype), e.dtype)
