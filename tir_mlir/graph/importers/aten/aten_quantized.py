"""Conversions between floats and integers with scales, as exported graphs of torchao have them (pt2e)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.aten.aten_table import aten
from tir_mlir.graph.importers.aten.torch_emitter import Term, TorchEmitter, dtype_name

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value

RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}


def _steps(e: TorchEmitter, scale: Term, zero_point: Term) -> list[Value]:
    """A scale and zero point as operands; no zero point if all are known to be 0."""
    by = e.constant(scale, "float32") if isinstance(scale, (int, float)) else e.cast(scale, "float32")
    by = e.reshape(by, ()) if by.shape == (1,) else by
    if isinstance(zero_point, (int, float)):
        return [by, e.constant(int(zero_point), "int32")] if zero_point else [by]
    zero_points = e.builder.known_weight(zero_point)
    if zero_points is not None and not zero_points.any():
        return [by]
    if zero_points is not None and zero_points.size == 1:
        return [by, e.constant(int(zero_points.reshape(-1)[0]), "int32")]
    return [by, e.cast(zero_point, "int32")]


@aten("quantized_decomposed.quantize_per_tensor")
def quantize(
    e: TorchEmitter, x: Value, scale: Term, zero_point: Term, quant_min: int, quant_max: int, dtype: str, axis: int = -1
) -> Value:
    """round(x / scale) + zero_point, ties to even, limited to quant_min..quant_max."""
    to = dtype_name(dtype)
    if to not in RANGES:
        raise GraphError(f"numbers rounded to {to} are not supported\n  fix: export the model with int8 or uint8")
    operands = _steps(e, scale, zero_point)
    rounded = e.op("quantize", e.cast(x, "float32"), *operands, axis=axis, out_dtype=to)
    return rounded if (quant_min, quant_max) == RANGES[to] else e.clip(rounded, quant_min, quant_max)


@aten("quantized_decomposed.quantize_per_channel")
def quantize_channels(
    e: TorchEmitter, x: Value, scales: Value, zero_points: Value, axis: int, quant_min: int, quant_max: int, dtype: str
) -> Value:
    return quantize(e, x, scales, zero_points, quant_min, quant_max, dtype, axis)


@aten("quantized_decomposed.dequantize_per_tensor")
def dequantize(
    e: TorchEmitter,
    x: Value,
    scale: Term,
    zero_point: Term,
    quant_min: int,
    quant_max: int,
    dtype: str,
    out_dtype: str | None = None,
    axis: int = -1,
) -> Value:
    """(x - zero_point) * scale. quant_min, quant_max, dtype: of x, no matter here."""
    return e.op("dequantize", x, *_steps(e, scale, zero_point), axis=axis, out_dtype=e.dtype)


@aten("quantized_decomposed.dequantize_per_channel")
def dequantize_channels(
    e: TorchEmitter,
    x: Value,
    scales: Value,
    zero_points: Value,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: str,
    out_dtype: str | None = None,
) -> Value:
    return dequantize(e, x, scales, zero_points, quant_min, quant_max, dtype, out_dtype, axis)
