"""Element types of fewer bits than graphs have: what stands for them, and numbers rounded to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.emitter import FLOATS, OnnxValue
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import OnnxEmitter
from tir_mlir.te.expr import t_call

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


@dataclass(frozen=True)
class _Grid:
    """The numbers of a type of floats. infinite: whether it has infinities, and not only numbers and NaN."""

    mantissa: int
    least_exponent: int  # of numbers that are not denormal
    greatest: float
    infinite: bool = False


_GRIDS = {
    "float8_e4m3fn": _Grid(3, -6, 448.0),
    "float8_e4m3fnuz": _Grid(3, -7, 240.0),
    "float8_e5m2": _Grid(2, -14, 57344.0, infinite=True),
    "float8_e5m2fnuz": _Grid(2, -15, 57344.0),
    "float4_e2m1fn": _Grid(1, 0, 6.0),
}
FEW_BITS = {"int4": (4, True), "uint4": (4, False), "int2": (2, True), "uint2": (2, False)}
"""Types of integers: their bits, and whether they have a sign."""


def round_to_small_type(e: OnnxEmitter, x: OnnxValue, dtype: str, saturate: bool = True) -> Value:
    """x -> the nearest numbers of a type, ties to even, in the type that stands for it; integers lose upper bits.

    saturate: numbers beyond the greatest become it, else NaN, or infinite where the type has that.
    """
    x = e.value(x)
    if dtype in FEW_BITS:
        result = _few_bits(e, x, *FEW_BITS[dtype])
    elif dtype in _GRIDS:
        result = _on_grid(e, e.cast(x, "float32"), _GRIDS[dtype], saturate or dtype == "float4_e2m1fn")
    else:
        raise GraphError(f"numbers of {dtype} are not supported\n  fix: another element type")
    e.small[result] = dtype
    return result


def _few_bits(e: OnnxEmitter, x: OnnxValue, bits: int, signed: bool) -> Value:
    kept = "int8" if signed else "uint8"
    if x.dtype in FLOATS:  # ONNX does not say how: to the nearest, halves away from 0, as ONNX Runtime
        whole = e.op("floor", e.add(e.op("abs", x), 0.5))
        x = e.cast(e.op("multiply", whole, e.op("sign", x)), "int32")
    numbers = e.cast(x, kept)
    low = e.op("bitwise_and", numbers, e.constant(2**bits - 1, kept))
    if not signed:
        return low
    sign = e.constant(1 << (bits - 1), kept)
    return e.op("subtract", e.op("bitwise_xor", low, sign), sign)


def _on_grid(e: OnnxEmitter, x: Value, grid: _Grid, saturate: bool) -> Value:
    """x in float32, rounded to a multiple of its unit in the last digit, which is a power of two."""

    def units(data: te.Tensor) -> te.Tensor:
        def unit(*i: Any) -> Any:
            power = t_call("reinterpret", "int32", data(*i)) & 0x7F800000  # of the number without its mantissa
            least = np.float32(2.0**grid.least_exponent)
            return te.max(t_call("reinterpret", "float32", power), least) * np.float32(2.0**-grid.mantissa)

        return te.compute(data.shape, unit, name="units")

    inside = x if not saturate else e.clip(x, -2 * grid.greatest, 2 * grid.greatest)
    unit = e.builder.call_te(units, inside)
    y = e.op("multiply", e.op("round", e.op("divide", inside, unit)), unit)
    if saturate:
        return e.op("where", e.op("isnan", x), x, e.clip(y, -grid.greatest, grid.greatest))
    beyond = e.op("greater", e.op("abs", y), e.constant(grid.greatest, "float32"))
    if grid.infinite:
        infinite = e.op(
            "where", e.binary("less", x, 0, "float32"), *(e.constant(v, "float32") for v in (-np.inf, np.inf))
        )
        return e.op("where", beyond, infinite, y)
    return e.op("where", beyond, e.constant(np.nan, "float32"), y)
