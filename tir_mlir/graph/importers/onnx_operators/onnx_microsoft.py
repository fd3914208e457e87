"""Operators that ONNX Runtime's optimizer and exporters write: fused sums, products, norms, and weights of few bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers import layers
from tir_mlir.graph.importers.emitter import OnnxValue, Operand, axis_in, static_size
from tir_mlir.graph.importers.onnx_operators.onnx_elementwise import dropout, elu, gelu
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, microsoft_op, rank_of
from tir_mlir.graph.importers.onnx_operators.onnx_layers import conv, gemm
from tir_mlir.graph.importers.onnx_operators.onnx_shapes import gather_nd, pad, span, triangle, unsqueeze

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


for _name, _translation in (
    ("GatherND", gather_nd),
    ("Pad", pad),
    ("Range", span),
    ("Trilu", triangle),
    ("Gelu", gelu),
):
    microsoft_op(_name)(_translation)


@microsoft_op("ExpandDims")
def expand_dims(e: OnnxEmitter, x: OnnxValue, axis: OnnxValue) -> OnnxValue:
    """x with a new axis of one element."""
    return unsqueeze(e, x, axes=[e.known_integer(axis, "the axis of an ExpandDims")])


@microsoft_op("TorchEmbedding")
def torch_embedding(
    e: OnnxEmitter, table: Operand, indices: Operand, padding: Input = None, scaled: Input = None
) -> Value:
    """The rows of a table at indices."""
    return e.op("take", table, indices, axis=0, mode="wrap")


def _add_terms(e: OnnxEmitter, x: OnnxValue, *terms: Input) -> Value:
    x = e.value(x)
    for term in terms:
        x = x if term is None else e.op("add", x, term)
    return x


@microsoft_op("BiasGelu")
def bias_gelu(e: OnnxEmitter, x: OnnxValue, bias: OnnxValue) -> Value:
    """gelu(x + bias)."""
    return e.op("nn.gelu", _add_terms(e, x, bias))


@microsoft_op("FastGelu")
def fast_gelu(e: OnnxEmitter, x: OnnxValue, bias: Input = None) -> Value:
    """gelu(x + bias) by tanh."""
    return e.op("nn.gelu_tanh", _add_terms(e, x, bias))


@microsoft_op("QuickGelu")
def quick_gelu(e: OnnxEmitter, x: OnnxValue, alpha: float = 1.702) -> Value:
    """x * sigmoid(alpha * x)."""
    x = e.value(x)
    return e.op("multiply", x, e.op("sigmoid", e.multiply(x, alpha)))


@microsoft_op("GemmFastGelu")
def gemm_fast_gelu(e: OnnxEmitter, x: Operand, weight: Operand, bias: Input = None) -> Value:
    """gelu(x @ weight + bias) by tanh."""
    return fast_gelu(e, e.op("matmul", x, weight), bias)


@microsoft_op("BiasSplitGelu")
def bias_split_gelu(e: OnnxEmitter, x: OnnxValue, bias: OnnxValue) -> Value:
    """The first half of the last axis, times gelu of the second."""
    y = _add_terms(e, x, bias)
    axis, size = len(y.shape) - 1, static_size(y.shape[-1], "the last axis of a BiasSplitGelu")
    return e.op("multiply", e.slice(y, axis, 0, size // 2), e.op("nn.gelu", e.slice(y, axis, size // 2, size)))


@microsoft_op("BiasAdd")
def bias_add(e: OnnxEmitter, x: OnnxValue, bias: OnnxValue, skip: OnnxValue) -> Value:
    """x + bias + skip."""
    return _add_terms(e, x, bias, skip)


@microsoft_op("BiasDropout")
def bias_dropout(
    e: OnnxEmitter,
    x: OnnxValue,
    bias: OnnxValue,
    skip: Input = None,
    ratio: Input = None,
    training_mode: Input = None,
    seed: int = 0,
) -> OnnxValue | tuple[OnnxValue, Value]:
    """x + bias + skip: of inference nothing is dropped."""
    return dropout(e, _add_terms(e, x, bias, skip), ratio, training_mode)


@microsoft_op("CDist")
def distances(e: OnnxEmitter, x: OnnxValue, y: OnnxValue, metric: str = "sqeuclidean") -> Value:
    """The distances of all rows of x from all rows of y, or their squares."""
    if metric not in ("sqeuclidean", "euclidean"):
        raise GraphError(f"the metric {metric}\n  fix: sqeuclidean or euclidean")
    x, y = e.value(x), e.value(y)
    one, other = (e.op("sum", e.op("square", v), axis=[1], keepdims=n == 0) for n, v in enumerate((x, y)))
    squares = e.subtract(e.op("add", one, other), e.multiply(e.op("nn.dense", x, y), 2))
    squares = e.clip(squares, 0, None)
    return squares if metric == "sqeuclidean" else e.op("sqrt", squares)


@microsoft_op("ComplexMul")
def complex_product(e: OnnxEmitter, x: OnnxValue, y: OnnxValue) -> Value:
    """The product of complex numbers, whose two parts are along the last axis."""
    return _complex_product(e, x, y, 1)


@microsoft_op("ComplexMulConj")
def conjugate_product(e: OnnxEmitter, x: OnnxValue, y: OnnxValue) -> Value:
    """The product of complex numbers x and the conjugates of y."""
    return _complex_product(e, x, y, -1)


def _complex_product(e: OnnxEmitter, x: OnnxValue, y: OnnxValue, sign: int) -> Value:
    """The product of numbers whose two parts are along the last axis; sign: of the imaginary part of y."""
    (a, b), (c, d) = ([e.slice(v, rank_of(v) - 1, n, n + 1) for n in (0, 1)] for v in (e.value(x), e.value(y)))
    d = d if sign > 0 else e.op("negative", d)
    real = e.op("subtract", e.op("multiply", a, c), e.op("multiply", b, d))
    imaginary = e.op("add", e.op("multiply", a, d), e.op("multiply", b, c))
    return e.concat([real, imaginary], rank_of(real) - 1)


@microsoft_op("UnfoldTensor")
def unfold(e: OnnxEmitter, x: OnnxValue, size: int, dim: int = -1, step: int = 1) -> Value:
    """Windows along an axis, their elements along a new last one."""
    x = e.value(x)
    axis = axis_in(dim, len(x.shape))
    count = (static_size(x.shape[axis], "an axis that is unfolded") - size) // step + 1
    positions = np.arange(count)[:, None] * step + np.arange(size)
    y = e.op("take", x, positions, axis=axis)
    rank = len(x.shape)
    return e.permute(y, [*range(axis + 1), *range(axis + 2, rank + 1), axis + 1])


@microsoft_op("BiasSoftmax")
def bias_softmax(e: OnnxEmitter, x: OnnxValue, bias: OnnxValue, axis: int = 1, is_inner_broadcast: int = 1) -> Value:
    """softmax(x + bias) over the axes from `axis` on."""
    y = _add_terms(e, x, bias)
    if axis % len(y.shape) != len(y.shape) - 1:
        raise GraphError(f"a BiasSoftmax over the axes from {axis} on\n  fix: the last axis")
    return e.op("nn.softmax", y, axis=-1)


def _activation(e: OnnxEmitter, x: Value, name: str, numbers: Sequence[float]) -> Value:
    """A function by name; numbers: its parameters, those of ONNX's operator where there are none."""
    functions: dict[str, Callable[[], Value]] = {
        "": lambda: x,
        "Relu": lambda: e.op("nn.relu", x),
        "Tanh": lambda: e.op("tanh", x),
        "Sigmoid": lambda: e.op("sigmoid", x),
        "LeakyRelu": lambda: e.op("nn.leakyrelu", x, alpha=numbers[0] if numbers else 0.01),
        "Clip": lambda: e.clip(x, numbers[0], numbers[1]),
        "HardSigmoid": lambda: e.clip(e.add(e.multiply(x, numbers[0]), numbers[1]), 0, 1),
        "Gelu": lambda: e.op("nn.gelu", x),
        "Elu": lambda: elu(e, x, *numbers[:1]),
        "Softplus": lambda: e.op("nn.softplus", x),
        "Softsign": lambda: e.op("nn.softsign", x),
    }
    if name not in functions:
        raise GraphError(f"the activation {name} is not known\n  fix: one of {', '.join(functions)}")
    return functions[name]()


@microsoft_op("FusedConv")
def fused_conv(
    e: OnnxEmitter,
    x: OnnxValue,
    weight: OnnxValue,
    bias: Input = None,
    added: Input = None,
    activation: str = "",
    activation_params: Sequence[float] | None = None,
    **window: Any,
) -> Value:
    """A convolution, plus a tensor, then an activation."""
    return _activation(e, _add_terms(e, conv(e, x, weight, bias, **window), added), activation, activation_params or [])


@microsoft_op("FusedGemm")
def fused_gemm(
    e: OnnxEmitter,
    x: OnnxValue,
    y: OnnxValue,
    z: Input = None,
    activation: str = "",
    activation_alpha: float = 0.01,
    activation_beta: float = 0.0,
    activation_gamma: float = 0.0,
    **product: Any,
) -> Value:
    """alpha * x @ y + beta * z, then an activation."""
    return _activation(e, gemm(e, x, y, z, **product), activation, [activation_alpha, activation_beta])


@microsoft_op("FusedMatMul", "TransposeMatMul")
def fused_matmul(
    e: OnnxEmitter,
    x: OnnxValue,
    y: OnnxValue,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Value:
    """alpha * x @ y of operands that are transposed: the last two axes; the first one to the position before the
    last."""
    x, y = (
        _transpose_operand(e, e.value(x), transA, transBatchA),
        _transpose_operand(e, e.value(y), transB, transBatchB),
    )
    product = e.op("matmul", x, y)
    return product if alpha == 1 else e.multiply(product, alpha)


def _transpose_operand(e: OnnxEmitter, x: Value, last: int, batch: int) -> Value:
    rank = len(x.shape)
    if rank < 2:
        return x
    order = [*range(1, rank - 1), 0, rank - 1] if batch else list(range(rank))
    if last:
        order[-2:] = order[:-3:-1]
    return e.permute(x, order)


# --- norms ------------------------------------------------------------------------------------------------------------


@microsoft_op("SkipLayerNormalization")
def skip_layer_norm(
    e: OnnxEmitter,
    x: OnnxValue,
    skip: OnnxValue,
    scale: OnnxValue,
    shift: Input = None,
    bias: Input = None,
    epsilon: float = 1e-12,
) -> tuple[Value | None, ...]:
    """layer_norm(x + skip + bias); the mean, 1 / sqrt(variance + epsilon), and the sum, where they are used."""
    total = _add_terms(e, x, skip, bias)
    shift = e.value(shift)
    y = layers.layer_norm(e, total, 1, e.value(scale), shift, epsilon)
    if not (e.is_output_used(1) or e.is_output_used(2)):
        return y, None, None, total
    stashed = e.cast(total, "float32")
    variance = e.op("variance", stashed, axis=[-1], keepdims=True)
    return y, e.op("mean", stashed, axis=[-1], keepdims=True), e.op("rsqrt", e.add(variance, epsilon)), total


@microsoft_op("SkipSimplifiedLayerNormalization")
def skip_rms_norm(
    e: OnnxEmitter, x: OnnxValue, skip: OnnxValue, scale: OnnxValue, bias: Input = None, epsilon: float = 1e-12
) -> tuple[Value | None, ...]:
    """rms_norm(x + skip + bias), and the sum."""
    total = _add_terms(e, x, skip, bias)
    y = layers.rms_norm(e, total, 1, e.value(scale), epsilon)
    if e.is_output_used(2):
        squares = e.op("mean", e.op("square", e.cast(total, "float32")), axis=[-1], keepdims=True)
        return y, None, e.op("rsqrt", e.add(squares, epsilon)), total
    return y, None, None, total


@microsoft_op("EmbedLayerNormalization")
def embed_layer_norm(
    e: OnnxEmitter,
    ids: OnnxValue,
    segments: Operand,
    words: Operand,
    positions: OnnxValue,
    segment_table: Operand,
    scale: OnnxValue,
    shift: OnnxValue,
    mask: Input = None,
    place_ids: Operand | None = None,
    epsilon: float = 1e-12,
    mask_index_type: int = 0,
) -> tuple[Value, Value, Value]:
    """layer_norm of the sum of the embeddings of words, positions and segments; the tokens of each row; the sum."""
    ids = e.value(ids)
    if place_ids is None:
        position = e.slice(e.value(positions), 0, 0, ids.shape[1])
    else:
        position = e.op("take", positions, place_ids, axis=0, mode="wrap")
    segment = None if segments is None else e.op("take", segment_table, segments, axis=0, mode="wrap")
    total = _add_terms(e, e.op("take", words, ids, axis=0, mode="wrap"), position, segment)
    y = layers.layer_norm(e, total, 1, e.value(scale), e.value(shift), epsilon)
    if mask is None:
        count = e.broadcast(e.constant(0, "int32"), (ids.shape[0],))
    else:
        count = e.op("sum", e.cast(e.value(mask), "int32"), axis=[1], keepdims=False)
    return y, count, total


@microsoft_op("GroupNorm")
def group_norm(
    e: OnnxEmitter,
    x: OnnxValue,
    scale: OnnxValue,
    shift: OnnxValue,
    groups: int,
    activation: int = 0,
    channels_last: int = 1,
    epsilon: float = 1e-5,
) -> Value:
    """Groups of channels, of images with the channels last; then silu if activation=1."""
    x, rank = e.value(x), len(x.shape)
    y = e.permute(x, [0, rank - 1, *range(1, rank - 1)]) if channels_last else x
    y = layers.group_norm(e, y, groups, e.value(scale), e.value(shift), epsilon)
    y = e.permute(y, [0, *range(2, rank), 1]) if channels_last else y
    return e.op("nn.silu", y) if activation else y


# --- weights of few bits ----------------------------------------------------------------------------------------------


@microsoft_op("MatMulNBits")
def matmul_nbits(
    e: OnnxEmitter,
    x: OnnxValue,
    data: OnnxValue,
    scales: OnnxValue,
    zeros: Input = None,
    order: Input = None,
    bias: Operand | None = None,
    K: int = 0,
    N: int = 0,
    bits: int = 4,
    block_size: int = 32,
    accuracy_level: int = 0,
    weight_prepacked: int = 0,
) -> Value:
    """x (.., K) @ weight.T, plus a bias. The weight (N, K) is (data - zero) * scale by blocks of a row; the elements of
    4 bits lie two in a byte, the first in its low half."""
    if bits not in (4, 8) or order is not None or weight_prepacked:
        raise GraphError(
            f"weights of {bits} bits{', in another order' * (order is not None)}\n  fix: 4 or 8 bits, in order"
        )
    blocks = -(-K // block_size)
    e_data, by = e.reshape(e.value(data), (N, blocks * block_size * bits // 8)), e.value(scales)
    by = e.reshape(by, (N, blocks))
    middle = 1 << (bits - 1)
    if zeros is None and bits == 4:
        weight = e.op("dequantize_group", e_data, by, zero_point=8, group_size=block_size, order="pairs")
    else:
        whole = e.op("unpack_int4", e_data, group_size=2, order="pairs", zero_point=0) if bits == 4 else e_data
        parts, shift = e.reshape(e.cast(whole, by.dtype), (N, blocks, block_size)), middle
        if zeros is not None:
            shift = e.reshape(e.cast(_zeros(e, zeros, N, blocks, bits), by.dtype), (N, blocks, 1))
        scaled = e.op("multiply", e.subtract(parts, shift), e.reshape(by, (N, blocks, 1)))
        weight = e.reshape(scaled, (N, blocks * block_size))
    weight = e.slice(weight, 1, 0, K)
    y = e.op("nn.dense", e.value(x), e.cast(weight, e.value(x).dtype))
    return y if bias is None else e.op("add", y, bias)


def _zeros(e: OnnxEmitter, zeros: OnnxValue, rows: int, blocks: int, bits: int) -> Value:
    """The zero points of blocks (rows, blocks): floats, or integers, of 4 bits two in a byte."""
    values = e.value(zeros)
    if values.dtype != "uint8" or bits == 8:
        return e.reshape(values, (rows, blocks))
    packed = e.reshape(values, (rows, -(-blocks // 2)))
    return e.slice(e.op("unpack_int4", packed, group_size=2, order="pairs", zero_point=0), 1, 0, blocks)
