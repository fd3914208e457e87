"""Operators that ONNX Runtime's quantisers and layout passes write: layers of integers, tables of few bits, images with
the channels last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers import layers
from tir_mlir.graph.importers.emitter import OnnxValue, Operand, axis_in
from tir_mlir.graph.importers.onnx_operators.onnx_attention import attention_of_product
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, microsoft_op, rank_of
from tir_mlir.graph.importers.onnx_operators.onnx_layers import average_pool, conv, max_pool
from tir_mlir.graph.importers.onnx_operators.onnx_microsoft import embed_layer_norm, fused_conv
from tir_mlir.graph.importers.onnx_operators.onnx_quantized import (
    dequantize,
    matmul_integer,
    matmul_to_float,
    qlinear_conv,
    qlinear_matmul,
    quantize,
    spread_parameter,
)
from tir_mlir.graph.importers.onnx_operators.onnx_recurrent import lstm

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


@microsoft_op("DynamicQuantizeLSTM")
def dynamic_lstm(
    e: OnnxEmitter,
    x: OnnxValue,
    weights: OnnxValue,
    recurrence: OnnxValue,
    biases: Input = None,
    lengths: Input = None,
    initial: Input = None,
    initial_cell: Input = None,
    peepholes: Input = None,
    weights_scale: Input = None,
    weights_zero: Input = None,
    recurrence_scale: Input = None,
    recurrence_zero: Input = None,
    **options: Any,
) -> tuple[Value, ...]:
    """An LSTM whose weights (directions, inputs, 4 * hidden) stand for floats, by a scale of each direction or column.

    They are widened when weights are loaded, and the input remains in floats, which ONNX Runtime rounds in each step.
    """
    weights = e.permute(_dequantize_weights(e, weights, weights_scale, weights_zero), [0, 2, 1])
    recurrence = e.permute(_dequantize_weights(e, recurrence, recurrence_scale, recurrence_zero), [0, 2, 1])
    return lstm(e, x, weights, recurrence, biases, lengths, initial, initial_cell, peepholes, **options)


def _dequantize_weights(e: OnnxEmitter, weights: OnnxValue, scale: Input, zero: Input) -> Value:
    """(weights - zero) * scale, of scales by direction, or by direction and column."""
    if scale is None:
        raise GraphError("weights in integers without a scale\n  fix: one for each direction, or for each column")
    numbers, by = e.cast(e.value(weights), "float32"), e.value(scale)
    shape = [by.shape[0], 1, *(by.shape[1:] or [1])]
    if zero is not None and not (isinstance(zero, np.ndarray) and not zero.any()):
        numbers = e.op("subtract", numbers, e.reshape(e.cast(e.value(zero), "float32"), shape))
    return e.op("multiply", numbers, e.reshape(by, shape))


@microsoft_op("QAttention")
def quantized_attention(
    e: OnnxEmitter,
    x: OnnxValue,
    weights: OnnxValue,
    bias: OnnxValue,
    x_scale: OnnxValue,
    weight_scale: OnnxValue,
    mask: Input = None,
    x_zero: Input = None,
    weight_zero: Input = None,
    past: Input = None,
    num_heads: int = 1,
    **options: Any,
) -> Value | tuple[Value, Value]:
    """Attention whose queries, keys and values are one product of integers."""
    y = matmul_to_float(e, x, weights, x_scale, weight_scale, x_zero, weight_zero, bias)
    return attention_of_product(e, y, mask, past, None, num_heads, **options)


@microsoft_op("QEmbedLayerNormalization")
def quantized_embed_layer_norm(
    e: OnnxEmitter,
    ids: OnnxValue,
    segments: OnnxValue,
    words: OnnxValue,
    positions: OnnxValue,
    segment_table: OnnxValue,
    scale: OnnxValue,
    shift: OnnxValue,
    mask: OnnxValue,
    *steps: Input,
    epsilon: float = 1e-12,
) -> tuple[Value, ...]:
    """EmbedLayerNormalization of tables of integers; steps: their five scales, then their five zero points."""
    tables = zip((words, positions, segment_table, scale, shift), steps[:5], steps[5:], strict=True)
    wide: Any = (None if by is None else dequantize(e, table, by, zero) for table, by, zero in tables)
    words, positions, segment_table, scale, shift = wide
    return embed_layer_norm(e, ids, segments, words, positions, segment_table, scale, shift, mask, epsilon=epsilon)[:2]


@microsoft_op("QGemm")
def quantized_gemm(
    e: OnnxEmitter,
    x: OnnxValue,
    x_scale: OnnxValue,
    x_zero: OnnxValue,
    y: OnnxValue,
    y_scale: OnnxValue,
    y_zero: OnnxValue,
    bias: Operand | None = None,
    scale: Input = None,
    zero: Input = None,
    transA: int = 0,
    transB: int = 0,
    alpha: float = 1.0,
) -> Value:
    """alpha * x @ y of the numbers that both stand for, plus a bias in int32; floats without a scale of the result."""
    x, y = (e.permute(e.value(v), [1, 0]) if turned else v for v, turned in ((x, transA), (y, transB)))
    total = matmul_integer(e, x, y, x_zero, y_zero)
    total = total if bias is None else e.op("add", total, bias)
    factor = e.multiply(e.op("multiply", e.value(x_scale), e.value(y_scale)), alpha)
    product = e.op("multiply", e.cast(total, "float32"), factor)
    return product if scale is None else quantize(e, product, scale, zero)


@microsoft_op("QLinearMatMul")
def quantized_matmul(e: OnnxEmitter, *operands: OnnxValue) -> Value:
    """`QLinearMatMul` of ONNX."""
    return qlinear_matmul(e, *operands)


@microsoft_op("QLinearReduceMean")
def quantized_mean(
    e: OnnxEmitter,
    x: OnnxValue,
    x_scale: OnnxValue,
    x_zero: OnnxValue,
    scale: OnnxValue,
    zero: Input = None,
    *,
    axes: Sequence[int],
    keepdims: int,
) -> Value:
    """The mean over axes, rounded to scale and zero."""
    y = e.op("mean", dequantize(e, x, x_scale, x_zero), axis=list(axes), keepdims=bool(keepdims))
    return quantize(e, y, scale, zero)


@microsoft_op("QLinearWhere")
def quantized_where(
    e: OnnxEmitter,
    condition: Operand,
    x: OnnxValue,
    x_scale: OnnxValue,
    x_zero: OnnxValue,
    y: OnnxValue,
    y_scale: OnnxValue,
    y_zero: OnnxValue,
    scale: OnnxValue,
    zero: OnnxValue,
) -> Value:
    """Elements of one tensor or another, each rounded to scale and zero."""
    sides = ((x, x_scale, x_zero), (y, y_scale, y_zero))
    return e.op("where", condition, *(quantize(e, dequantize(e, *side), scale, zero) for side in sides))


# --- tables of few bits -----------------------------------------------------------------------------------------------


@microsoft_op("GatherBlockQuantized")
def gather_blocks(
    e: OnnxEmitter,
    data: OnnxValue,
    indices: OnnxValue,
    scales: OnnxValue,
    zeros: Input = None,
    gather_axis: int = 0,
    quantize_axis: int = 1,
    block_size: int = 128,
    bits: int = 4,
) -> Value:
    """Rows of a table at indices, widened: (row - zero) * scale, by blocks along another axis. In uint8 the numbers of
    4 bits lie two in a byte, the first in its low half, and the zero without zeros is the middle of the range."""
    packed = e.type_of(data) == "uint8"
    if bits not in (4, 8):
        raise GraphError(f"a table of {bits} bits\n  fix: 4 or 8 bits")
    rank = rank_of(data)
    axis, by = axis_in(gather_axis, rank), axis_in(quantize_axis, rank)
    if axis == by:
        raise GraphError("a table whose blocks are along the axis of its indices\n  fix: blocks along another axis")
    at = by if by < axis else by + rank_of(indices) - 1
    scales = e.op("take", scales, indices, axis=axis, mode="wrap")
    rows = e.op("take", data, indices, axis=axis, mode="wrap")
    zero: Any = 1 << (bits - 1) if packed and zeros is None else None
    if zeros is not None:
        zero = e.op("take", zeros, indices, axis=axis, mode="wrap")
    if packed and bits == 4:
        rows = unpack_nibbles(e, rows)
        zero = zero if zeros is None else unpack_nibbles(e, zero)
    numbers, wide = e.cast(rows, scales.dtype), spread_parameter(e, scales, rows, at, block_size)
    if zeros is not None:
        zero = e.slice(zero, at, 0, scales.shape[at])
        zero = e.cast(spread_parameter(e, zero, rows, at, block_size), scales.dtype)
    numbers = numbers if zero is None else e.subtract(numbers, zero)
    return e.op("multiply", numbers, wide)


def unpack_nibbles(e: OnnxEmitter, x: OnnxValue, high_first: bool = False) -> Value:
    """The two numbers of 4 bits of each byte, one after the other along the last axis."""
    low, high = e.binary("floor_mod", x, 16, "uint8"), e.binary("floor_divide", x, 16, "uint8")
    both = e.op("stack", *((high, low) if high_first else (low, high)), axis=-1)
    return e.reshape(both, (*x.shape[:-1], 2 * x.shape[-1]))


_FP4 = [0, 0.00520833, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25]
_NF4 = [
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
]  # fmt: skip
"""What codes of 4 bits stand for: floats as bitsandbytes has them, and quantiles of the normal distribution."""


@microsoft_op("MatMulBnb4")
def matmul_codes(
    e: OnnxEmitter,
    x: OnnxValue,
    data: OnnxValue,
    largest: OnnxValue,
    K: int = 0,
    N: int = 0,
    block_size: int = 64,
    quant_type: int = 1,
    training_mode: int = 0,
    transB: int = 1,
) -> Value:
    """x (.., K) @ weight.T: the weight (N, K) is given by codes of 4 bits, two in a byte, the first in its high half,
    times the largest of each block."""
    if quant_type not in (0, 1) or not transB:
        raise GraphError(f"quant_type={quant_type}, transB={transB}\n  fix: 0 (FP4) or 1 (NF4), and transB=1")
    codes = [*_FP4, *(-v for v in _FP4)] if quant_type == 0 else _NF4
    by = e.value(largest)
    rows = unpack_nibbles(e, e.value(data), high_first=True)
    values = e.op("take", e.constant(np.asarray(codes), by.dtype), e.cast(rows, "int32"), axis=0, mode="clip")
    values = e.slice(values, 0, 0, N * K)
    scale = e.slice(e.op("repeat", by, repeats=block_size, axis=0), 0, 0, N * K)
    weight = e.reshape(e.op("multiply", values, scale), (N, K))
    return e.op("nn.dense", e.value(x), e.cast(weight, e.value(x).dtype))


@microsoft_op("MatMulInteger16")
def matmul_integer16(e: OnnxEmitter, x: OnnxValue, y: OnnxValue) -> Value:
    """x @ y of int16, in int32."""
    return e.op("matmul", e.cast(e.value(x), "int32"), e.cast(e.value(y), "int32"))


# --- images with the channels last ------------------------------------------------------------------------------------


def _channels_first(e: OnnxEmitter, x: OnnxValue) -> Value:
    rank = rank_of(x)
    return e.permute(e.value(x), [0, rank - 1, *range(1, rank - 1)])


def _channels_last(e: OnnxEmitter, x: OnnxValue) -> Value:
    return e.permute(e.value(x), [0, *range(2, rank_of(x)), 1])


@microsoft_op("NhwcConv")
def nhwc_conv(e: OnnxEmitter, x: OnnxValue, weight: OnnxValue, bias: Input = None, **window: Any) -> Value:
    """`Conv` of images with the channels last."""
    return _channels_last(e, conv(e, _channels_first(e, x), weight, bias, **window))


@microsoft_op("NhwcFusedConv")
def nhwc_fused_conv(
    e: OnnxEmitter, x: OnnxValue, weight: OnnxValue, bias: Input = None, added: Input = None, **options: Any
) -> Value:
    """`FusedConv` of images with the channels last."""
    added = None if added is None else _channels_first(e, added)
    return _channels_last(e, fused_conv(e, _channels_first(e, x), weight, bias, added, **options))


@microsoft_op("NhwcMaxPool")
def nhwc_max_pool(e: OnnxEmitter, x: OnnxValue, **window: Any) -> Value:
    """`MaxPool` of images with the channels last."""
    y = max_pool(e, _channels_first(e, x), **window)
    return _channels_last(e, y[0] if isinstance(y, list) else y)


@microsoft_op("QLinearConv")
def nhwc_quantized_conv(
    e: OnnxEmitter, x: OnnxValue, *operands: OnnxValue, channels_last: int = 0, **window: Any
) -> Value:
    """`QLinearConv` of ONNX, also of images with the channels last."""
    if not channels_last:
        return qlinear_conv(e, x, *operands, **window)
    return _channels_last(e, qlinear_conv(e, _channels_first(e, x), *operands, **window))


@microsoft_op("QLinearAveragePool")
def quantized_average_pool(
    e: OnnxEmitter,
    x: OnnxValue,
    x_scale: OnnxValue,
    x_zero: OnnxValue,
    scale: OnnxValue,
    zero: Input = None,
    channels_last: int = 0,
    **window: Any,
) -> Value:
    """The means of windows, rounded to scale and zero."""
    image = dequantize(e, _channels_first(e, x) if channels_last else x, x_scale, x_zero)
    y = quantize(e, average_pool(e, image, **window), scale, zero)
    return _channels_last(e, y) if channels_last else y


@microsoft_op("SkipGroupNorm")
def skip_group_norm(
    e: OnnxEmitter,
    x: OnnxValue,
    scale: OnnxValue,
    shift: OnnxValue,
    skip: OnnxValue,
    bias: Operand | None = None,
    groups: int = 1,
    activation: int = 0,
    channels_last: int = 1,
    epsilon: float = 1e-5,
) -> tuple[Value, Value]:
    """The group norm of x + skip + bias, then silu if activation=1; and the sum."""
    x, skip = e.value(x), e.value(skip)
    skip = skip if rank_of(skip) == rank_of(x) else e.reshape(skip, (skip.shape[0], 1, 1, skip.shape[1]))
    total = e.op("add", x, skip)
    total = total if bias is None else e.op("add", total, bias)
    y = _channels_first(e, total) if channels_last else total
    y = layers.group_norm(e, y, groups, e.value(scale), e.value(shift), epsilon)
    y = _channels_last(e, y) if channels_last else y
    return (e.op("nn.silu", y) if activation else y), total
