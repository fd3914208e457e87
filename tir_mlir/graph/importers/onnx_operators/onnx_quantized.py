"""Integers with scales, and floats of few bits: conversions by tensor, axis and block; exact products of integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.emitter import FLOATS, OnnxValue, Operand, axis_in, static_size
from tir_mlir.graph.importers.layers import convolution, every_axis
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import (
    STORAGE_TYPES,
    Input,
    OnnxEmitter,
    dtype_of,
    microsoft_op,
    onnx_op,
    rank_of,
)
from tir_mlir.graph.importers.onnx_operators.onnx_layers import matmul, window_padding
from tir_mlir.te.expr import t_call

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value

LIMITS = {
    "int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535),
    "int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3),
}  # fmt: skip
"""The least and greatest numbers of the types that floats are rounded to; those of few bits are kept in bytes."""


def spread_parameter(e: OnnxEmitter, parameter: OnnxValue, x: OnnxValue, axis: int, block: int) -> Value:
    """A scale or zero point in a shape that broadcasts to x: of the tensor, of an axis, or of blocks along it."""
    shape = parameter.shape
    if not shape or (len(shape) == 1 and shape[0] == 1 and not block):
        return e.reshape(e.value(parameter), ())
    axis = axis_in(axis, rank_of(x))
    if not block:
        return e.reshape(e.value(parameter), [shape[0], *[1] * (rank_of(x) - axis - 1)])
    repeated = e.op("repeat", parameter, repeats=block, axis=axis)
    return e.slice(repeated, axis, 0, static_size(x.shape[axis], "an axis of blocks"))


@onnx_op("QuantizeLinear")
@microsoft_op("QuantizeLinear")
def quantize(
    e: OnnxEmitter,
    x: OnnxValue,
    scale: OnnxValue,
    zero: Input = None,
    axis: int = 1,
    saturate: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
) -> Value:
    """round(x / scale) + zero, ties to even, limited to the type of zero (default uint8)."""
    to = e.type_of(zero) if zero is not None else _dtype_name(output_dtype) if output_dtype else "uint8"
    if to not in LIMITS and to not in STORAGE_TYPES:
        raise GraphError(f"numbers rounded to {to} are not supported\n  fix: export the model with int8 or uint8")
    by = spread_parameter(e, scale, x, axis, block_size)
    wide = "float32" if by.dtype in ("float16", "bfloat16") else by.dtype
    if _is_plain(x, scale, zero, block_size) and to in PLAIN:
        return e.op("quantize", x, *_steps(e, scale, zero), axis=axis if _by_axis(scale) else 0, out_dtype=to)
    if to not in LIMITS:  # floats of few bits, whose zero point is 0
        return round_to_small_type(e, e.op("divide", e.cast(e.value(x), wide), e.cast(by, wide)), to, bool(saturate))
    shifts = None if zero is None else spread_parameter(e, zero, x, axis, block_size)
    return round_and_saturate(e, e.op("divide", e.cast(e.value(x), wide), e.cast(by, wide)), shifts, to)


PLAIN = ("int8", "uint8", "int16")
"""The types of the operators `quantize` and `dequantize` of graphs."""


def _is_plain(x: OnnxValue, scale: OnnxValue, zero: Input, block: int) -> bool:
    """Whether a conversion is the operator of graphs: floats of 32 bits, scales not by blocks, zeros that are known."""
    if not rank_of(x):
        return False
    known = zero is None or (isinstance(zero, np.ndarray) and zero.dtype.name in (*PLAIN, "int32"))
    return known and not block and dtype_of(scale) == "float32" and dtype_of(x) in ("float32", *PLAIN, "int32")


def _by_axis(scale: OnnxValue) -> bool:
    """Whether there are several scales; one is of the whole tensor, whatever the axis is."""
    return rank_of(scale) > 0 and scale.shape[0] != 1


def _steps(e: OnnxEmitter, scale: OnnxValue, zero: Input) -> list[Value]:
    """A scale and the zero point that goes with it, a constant, as operands; no zero point if all are 0."""
    by = e.value(scale) if _by_axis(scale) else e.reshape(e.value(scale), ())
    if not isinstance(zero, np.ndarray) or not zero.any():
        return [by]
    same = bool((zero == zero.flat[0]).all())
    return [by, e.constant(zero.flat[0].astype("int32") if same else zero.astype("int32"), "int32")]


def round_and_saturate(e: OnnxEmitter, x: Operand, zero: Input, to: str) -> Value:
    """round(x) + zero in a type of integers, ties to even, limited to its range."""
    y, (low, high) = e.op("round", x), LIMITS[to]
    if zero is not None:
        y = e.op("add", y, e.cast(e.value(zero), y.dtype))
    result = e.cast(e.clip(y, low, high), STORAGE_TYPES.get(to, to))
    if to in STORAGE_TYPES:
        e.small[result] = to
    return result


def _dtype_name(data_type: int) -> str:
    import onnx

    return onnx.helper.tensor_dtype_to_np_dtype(data_type).name


@onnx_op("DequantizeLinear")
@microsoft_op("DequantizeLinear")
def dequantize(
    e: OnnxEmitter,
    x: OnnxValue,
    scale: OnnxValue,
    zero: Input = None,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Value:
    """(x - zero) * scale, in the type of the scale."""
    if _is_plain(x, scale, zero, block_size) and dtype_of(x) in (*PLAIN, "int32") and not output_dtype:
        return e.op("dequantize", x, *_steps(e, scale, zero), axis=axis if _by_axis(scale) else 0)
    by = spread_parameter(e, scale, x, axis, block_size)
    to, wide = (
        _dtype_name(output_dtype) if output_dtype else by.dtype,
        "float64" if by.dtype == "float64" else "float32",
    )
    numbers = e.value(x)
    if zero is not None and not (isinstance(zero, np.ndarray) and not zero.astype("float32").any()):
        number = "int32" if numbers.dtype[:3] in ("int", "uin") else wide
        numbers = e.binary("subtract", numbers, spread_parameter(e, zero, x, axis, block_size), number)
    return e.cast(e.binary("multiply", numbers, by, wide), to)


def subtract_zero_point(e: OnnxEmitter, x: OnnxValue, zero: Input, trailing: int | None = None) -> Value:
    """x - zero in int32. trailing: axes of x after the one that zeros of several positions are of."""
    numbers = e.cast(e.value(x), "int32")
    if zero is None or (isinstance(zero, np.ndarray) and not zero.any()):
        return numbers
    return e.binary("subtract", numbers, _broadcast_parameter(e, zero, trailing), "int32")


def _broadcast_parameter(e: OnnxEmitter, parameter: OnnxValue, trailing: int | None) -> Value:
    if math.prod(n for n in parameter.shape if isinstance(n, int)) == 1:
        return e.reshape(e.value(parameter), ())
    if trailing is None or len(parameter.shape) != 1:
        return e.value(parameter)
    return e.reshape(e.value(parameter), [parameter.shape[0], *[1] * trailing])


@onnx_op("MatMulInteger")
def matmul_integer(e: OnnxEmitter, x: OnnxValue, y: OnnxValue, x_zero: Input = None, y_zero: Input = None) -> Value:
    """(x - x_zero) @ (y - y_zero) in int32; zeros of x by row, of y by column.

    Of matrices x @ y - x_zero * sums of columns of y - y_zero * sums of rows of x - x_zero, so that a product is of the
    numbers of 8 bits, of rows of any length: the same, modulo 2^32.
    """
    if rank_of(x) < 2 or rank_of(y) < 2:
        return matmul(e, subtract_zero_point(e, x, x_zero, trailing=1), subtract_zero_point(e, y, y_zero, trailing=0))
    total = e.op("matmul", x, y, out_dtype="int32")
    by_row, by_column = _zeros(e, x_zero, 1), _zeros(e, y_zero, 0)
    if by_row is not None:
        total = e.subtract(total, e.multiply(_totals(e, y, -2), by_row))
    if by_column is not None:
        total = e.subtract(total, e.multiply(_totals(e, subtract_zero_point(e, x, x_zero, trailing=1), -1), by_column))
    return total


def _zeros(e: OnnxEmitter, zero: Input, trailing: int) -> Value | None:
    """Zero points in int32, in a shape that broadcasts to a product; None if all are known to be 0."""
    if zero is None or (isinstance(zero, np.ndarray) and not zero.any()):
        return None
    return e.cast(_broadcast_parameter(e, zero, trailing), "int32")


def _totals(e: OnnxEmitter, x: OnnxValue, axis: int) -> Value:
    """Sums along an axis in int32."""
    return e.op("sum", e.cast(e.value(x), "int32"), axis=[axis], keepdims=True)


@onnx_op("QLinearMatMul")
def qlinear_matmul(
    e: OnnxEmitter,
    x: OnnxValue,
    x_scale: OnnxValue,
    x_zero: OnnxValue,
    y: OnnxValue,
    y_scale: OnnxValue,
    y_zero: OnnxValue,
    scale: OnnxValue,
    zero: OnnxValue,
) -> Value:
    """The product of the numbers that x and y stand for, rounded to scale and zero."""
    total = matmul_integer(e, x, y, x_zero, y_zero)
    factor = e.binary("multiply", _broadcast_parameter(e, x_scale, 1), _broadcast_parameter(e, y_scale, 0), "float32")
    return _requantize(e, total, factor, scale, zero)


def _requantize(e: OnnxEmitter, total: Operand, factor: Operand, scale: OnnxValue, zero: OnnxValue) -> Value:
    """An exact sum of integers times a factor, in units of a scale, rounded; in float32, as ONNX Runtime, so that
    numbers in the middle of two are rounded as there."""
    factor = e.binary("divide", factor, e.reshape(e.value(scale), ()), "float32")
    product = e.op("multiply", e.cast(total, "float32"), factor)
    return round_and_saturate(e, product, e.reshape(e.value(zero), ()), dtype_of(zero))


@onnx_op("ConvInteger")
def conv_integer(
    e: OnnxEmitter,
    x: OnnxValue,
    weight: OnnxValue,
    x_zero: Input = None,
    weight_zero: Input = None,
    auto_pad: str = "NOTSET",
    kernel_shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
) -> Value:
    """The convolution of x - x_zero and weight - weight_zero (by result channel) in int32."""
    axes = len(weight.shape) - 2
    strides, dilations = every_axis(strides or 1, axes), every_axis(dilations or 1, axes)
    padding = window_padding(auto_pad, pads, x, weight.shape[2:], strides, dilations)
    image, kernel = subtract_zero_point(e, x, x_zero), subtract_zero_point(e, weight, weight_zero, trailing=axes + 1)
    return convolution(e, image, kernel, None, strides, padding, dilations, group)


@onnx_op("QLinearConv")
def qlinear_conv(
    e: OnnxEmitter,
    x: OnnxValue,
    x_scale: OnnxValue,
    x_zero: OnnxValue,
    weight: OnnxValue,
    weight_scale: OnnxValue,
    weight_zero: OnnxValue,
    scale: OnnxValue,
    zero: OnnxValue,
    bias: Input = None,
    **window: Any,
) -> Value:
    """The convolution of the numbers that x and weight stand for, rounded to scale and zero; bias in int32."""
    axes = len(weight.shape) - 2
    total = conv_integer(e, x, weight, x_zero, weight_zero, **window)
    if bias is not None:
        total = e.op("add", total, e.reshape(e.value(bias), [bias.shape[0], *[1] * axes]))
    factor = e.binary(
        "multiply", e.reshape(e.value(x_scale), ()), _broadcast_parameter(e, weight_scale, axes), "float32"
    )
    return _requantize(e, total, factor, scale, zero)


@microsoft_op("MatMulIntegerToFloat")
def matmul_to_float(
    e: OnnxEmitter,
    x: OnnxValue,
    y: OnnxValue,
    x_scale: OnnxValue,
    y_scale: OnnxValue,
    x_zero: Input = None,
    y_zero: Input = None,
    bias: Operand | None = None,
) -> Value:
    """The product of the numbers that x and y stand for, plus a bias."""
    total = e.cast(matmul_integer(e, x, y, x_zero, y_zero), "float32")
    product = e.op(
        "multiply", total, e.op("multiply", _broadcast_parameter(e, x_scale, 1), _broadcast_parameter(e, y_scale, 0))
    )
    return product if bias is None else e.op("add", product, bias)


@microsoft_op("DynamicQuantizeMatMul")
def dynamic_matmul(
    e: OnnxEmitter, x: OnnxValue, y: OnnxValue, y_scale: OnnxValue, y_zero: Input = None, bias: Input = None
) -> Value:
    """x rounded to uint8 by its range, times the numbers that y stands for, plus a bias."""
    numbers, scale, zero = dynamic_quantize(e, x)
    return matmul_to_float(e, numbers, y, scale, y_scale, zero, y_zero, bias)


@onnx_op("DynamicQuantizeLinear")
def dynamic_quantize(e: OnnxEmitter, x: OnnxValue) -> tuple[Value, Value, Value]:
    """x in uint8, by a scale and zero point of its range, which has 0 in it; the scale of zeros is 1."""
    x = e.value(x)
    axes = list(range(len(x.shape)))
    least = e.binary("minimum", e.op("min", x, axis=axes, keepdims=False), 0.0, "float32")
    greatest = e.binary("maximum", e.op("max", x, axis=axes, keepdims=False), 0.0, "float32")
    scale = e.divide(e.subtract(greatest, least), 255.0)
    scale = e.op("where", e.op("equal", greatest, least), e.constant(1, "float32"), scale)
    offset = e.op("divide", e.op("negative", least), scale)
    zero = e.cast(e.op("round", e.clip(offset, 0.0, 255.0)), "uint8")
    return round_and_saturate(e, e.op("divide", x, scale), zero, "uint8"), scale, zero


def _floats(e: OnnxEmitter, parts: Sequence[OnnxValue]) -> list[Value]:
    """The numbers that integers stand for, of (x, scale, zero) each."""
    return [dequantize(e, *part) for part in zip(parts[::3], parts[1::3], parts[2::3], strict=True)]


def _by_floats(name: str, count: int) -> None:
    """An operator of ONNX Runtime on integers with scales, (x, scale, zero) each, then those of the result."""

    def translate(e: OnnxEmitter, *operands: OnnxValue, **attrs: Any) -> Value:
        from tir_mlir.graph.importers.onnx_operators.onnx_emitter import translations

        y: Any = translations()[name](e, *_floats(e, operands[: 3 * count]), **attrs)
        scale, *zero = operands[3 * count :]
        return quantize(e, y, scale, zero[0] if zero else None)

    translate.__doc__ = f"`{name}` of the numbers that integers stand for, rounded to scale and zero."
    microsoft_op(f"QLinear{name}")(translate)


for _name, _count in (("Add", 2), ("Mul", 2), ("Sigmoid", 1), ("LeakyRelu", 1)):
    _by_floats(_name, _count)


@microsoft_op("QLinearConcat")
def qlinear_concat(e: OnnxEmitter, scale: OnnxValue, zero: OnnxValue, *parts: OnnxValue, axis: int) -> Value:
    """Tensors one after the other along an axis, rounded to one scale and zero."""
    tensors = _floats(e, parts)
    return quantize(e, e.concat(tensors, axis_in(axis, len(tensors[0].shape))), scale, zero)


@microsoft_op("QLinearGlobalAveragePool")
def qlinear_mean(
    e: OnnxEmitter,
    x: OnnxValue,
    x_scale: OnnxValue,
    x_zero: OnnxValue,
    scale: OnnxValue,
    zero: OnnxValue,
    channels_last: int = 0,
) -> Value:
    """The mean over the axes of the image, rounded to scale and zero."""
    axes = list(range(1, rank_of(x) - 1)) if channels_last else list(range(2, rank_of(x)))
    return quantize(e, e.op("mean", dequantize(e, x, x_scale, x_zero), axis=axes, keepdims=True), scale, zero)


@microsoft_op("QLinearSoftmax")
def qlinear_softmax(
    e: OnnxEmitter,
    x: OnnxValue,
    x_scale: OnnxValue,
    x_zero: OnnxValue,
    scale: OnnxValue,
    zero: OnnxValue,
    axis: int = -1,
    opset: int = 13,
) -> Value:
    """Softmax along an axis, rounded to scale and zero."""
    return quantize(e, e.op("nn.softmax", dequantize(e, x, x_scale, x_zero), axis=axis), scale, zero)


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
        def unit(*i: te.Var) -> te.Expr:
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
