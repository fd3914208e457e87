"""Layers: products, convolutions, pools, normalizations, reductions."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers import layers
from tir_mlir.graph.importers.emitter import FLOATS, OnnxValue, Operand, Size, axis_in, static_size
from tir_mlir.graph.importers.layers import convolution, pool, pool_with_indices, scaled_sum, transposed_convolution
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, Translation, dtype_of, onnx_op

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


@onnx_op("MatMul")
def matmul(e: OnnxEmitter, x: Operand, y: Operand) -> Value:
    return e.op("matmul", x, y)


@onnx_op("Gemm")
def gemm(
    e: OnnxEmitter,
    x: OnnxValue,
    y: OnnxValue,
    z: Input = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Value:
    """alpha * x @ y + beta * z: a dense layer where y is transposed."""
    x, y = e.value(x), e.value(y)
    x = e.permute(x, [1, 0]) if transA else x
    product = e.op("nn.dense", x, y) if transB else e.op("matmul", x, y)
    return scaled_sum(e, e.value(z), product, alpha, beta)


@onnx_op("Einsum")
def einsum(e: OnnxEmitter, *operands: OnnxValue, equation: str) -> Value:
    values, subscripts = list(map(e.value, operands)), equation.replace(" ", "")
    terms, arrow, result = subscripts.partition("->")
    inputs = terms.split(",")
    if len(inputs) != len(values):
        raise GraphError(f"{equation!r} names {len(inputs)} operands of {len(values)}\n  fix: a term for each operand")
    if not arrow:
        letters = terms.replace(",", "").replace("...", "")
        once = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
        result = f"...{once}" if "..." in terms else once
    ranks = [len(x.shape) - len(t.replace("...", "")) for t, x in zip(inputs, values, strict=True)]
    outer = max((n for n, t in zip(ranks, inputs, strict=True) if "..." in t), default=0)
    free = [c for c in string.ascii_letters if c not in terms][:outer]
    named = []
    for n, (term, own) in enumerate(zip(inputs, ranks, strict=True)):
        named.append(term.replace("...", "".join(free[outer - own :]) if own else ""))
        values[n], named[n] = _diagonal(e, values[n], named[n])
    return e.op("einsum", *values, subscripts=f"{','.join(named)}->{result.replace('...', ''.join(free))}")


def _diagonal(e: OnnxEmitter, x: Value, letters: str) -> tuple[Value, str]:
    """The elements at which axes of one letter have equal indices: a letter twice becomes one axis."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first, second = letters.index(letter), letters.rindex(letter)
            size = static_size(x.shape[first], "an axis of an Einsum that is named twice")
            order = [a for a in range(len(letters)) if a not in (first, second)]
            x = e.permute(x, [first, second, *order])
            x = e.op("take", e.reshape(x, (size * size, *x.shape[2:])), np.arange(size) * (size + 1), axis=0)
            letters = letter + "".join(letters[a] for a in order)
    return x, letters


@onnx_op("Conv")
def conv(
    e: OnnxEmitter,
    x: OnnxValue,
    weight: OnnxValue,
    bias: Input = None,
    auto_pad: str = "NOTSET",
    kernel_shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
) -> Value:
    axes = len(weight.shape) - 2
    strides, dilations = strides or [1] * axes, dilations or [1] * axes
    padding = window_padding(auto_pad, pads, x, weight.shape[2:], strides, dilations)
    bias = e.value(bias)
    return convolution(e, e.value(x), e.value(weight), bias, strides, padding, dilations, group)


def window_padding(
    auto: str,
    pads: Sequence[int] | None,
    x: OnnxValue,
    kernel: Sequence[Size],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[int]:
    """Widths before all axes, then after."""
    axes = len(kernel)
    if auto in ("NOTSET", "VALID"):
        return list(pads or [0] * 2 * axes) if auto == "NOTSET" else [0] * 2 * axes
    begins, ends = [], []
    for n, (k, s, d) in enumerate(zip(kernel, strides, dilations, strict=True)):
        size, k = static_size(x.shape[n + 2], f"an image padded by auto_pad={auto}"), static_size(k, "a kernel")
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        smaller, larger = total // 2, total - total // 2
        begins.append(smaller if auto == "SAME_UPPER" else larger)
        ends.append(larger if auto == "SAME_UPPER" else smaller)
    return begins + ends


@onnx_op("ConvTranspose")
def conv_transpose(
    e: OnnxEmitter,
    x: OnnxValue,
    weight: OnnxValue,
    bias: Input = None,
    auto_pad: str = "NOTSET",
    kernel_shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    group: int = 1,
) -> Value:
    """pads from auto_pad or output_shape: what the whole result is larger than wanted, cut on both sides."""
    axes = len(weight.shape) - 2
    bias = e.value(bias)
    strides, dilations, extra = strides or [1] * axes, dilations or [1] * axes, output_padding or [0] * axes
    if output_shape or auto_pad.startswith("SAME"):
        old = [static_size(n, "an image whose result has a given size") for n in x.shape[2:]]
        wanted = output_shape[-axes:] if output_shape else [n * s for n, s in zip(old, strides, strict=True)]
        window = zip(old, strides, dilations, weight.shape[2:], extra, wanted, strict=True)
        totals = [s * (n - 1) + p + (k - 1) * d + 1 - m for n, s, d, k, p, m in window]
        pads = _split_padding([max(t, 0) for t in totals], upper=auto_pad == "SAME_UPPER")
        if output_shape:  # SAME cuts only: as ONNX's shape inference and ONNX Runtime, where its text says otherwise
            extra = [p + max(-t, 0) for p, t in zip(extra, totals, strict=True)]
    return transposed_convolution(
        e, e.value(x), e.value(weight), bias, strides, list(pads or [0] * 2 * axes), extra, dilations, group
    )


def _split_padding(totals: list[int], upper: bool) -> list[int]:
    """Widths before all axes, then after: halves; the larger one is behind if `upper`, else before."""
    smaller, larger = [t // 2 for t in totals], [t - t // 2 for t in totals]
    return [*smaller, *larger] if upper else [*larger, *smaller]


@onnx_op("MaxPool")
def max_pool(
    e: OnnxEmitter,
    x: Value,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: int = 0,
    storage_order: int = 0,
) -> Value | list[Value]:
    """The maxima and, where they are used, their indices: with storage_order=1 in column-major order."""
    axes = len(kernel_shape)
    strides, dilations = strides or [1] * axes, dilations or [1] * axes
    padding = window_padding(auto_pad, pads, x, kernel_shape, strides, dilations)
    if e.is_output_used(1):
        window = kernel_shape, strides, padding, dilations, bool(ceil_mode)
        return pool_with_indices(e, e.value(x), axes, *window, columns=bool(storage_order))
    return pool(e, "max", e.value(x), axes, kernel_shape, strides, padding, dilations, bool(ceil_mode))


@onnx_op("AveragePool")
def average_pool(
    e: OnnxEmitter,
    x: Value,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: int = 0,
    count_include_pad: int = 0,
) -> Value:
    axes = len(kernel_shape)
    strides, dilations = strides or [1] * axes, dilations or [1] * axes
    padding = window_padding(auto_pad, pads, x, kernel_shape, strides, dilations)
    counted = bool(count_include_pad)
    return pool(e, "avg", e.value(x), axes, kernel_shape, strides, padding, dilations, bool(ceil_mode), counted)


@onnx_op("GlobalAveragePool")
def global_mean(e: OnnxEmitter, x: OnnxValue) -> Value:
    return e.op("mean", x, axis=list(range(2, len(x.shape))), keepdims=True)


@onnx_op("GlobalMaxPool")
def global_max(e: OnnxEmitter, x: OnnxValue) -> Value:
    return e.op("max", x, axis=list(range(2, len(x.shape))), keepdims=True)


@onnx_op("BatchNormalization")
def batch_norm(
    e: OnnxEmitter,
    x: OnnxValue,
    scale: OnnxValue,
    shift: OnnxValue,
    mean: OnnxValue,
    variance: OnnxValue,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
    spatial: int = 1,
) -> Value | tuple[Value, ...]:
    if not spatial:
        raise GraphError("spatial=0: statistics of each element\n  fix: export the model for a newer opset")
    if training_mode:
        return _norm_by_batch_statistics(e, e.value(x), scale, shift, mean, variance, epsilon, momentum)
    parts = [e.cast(e.value(v), dtype_of(x)) for v in (scale, shift, mean, variance)]
    return layers.batch_norm(e, e.value(x), parts[0], parts[1], parts[2], parts[3], epsilon)


def _norm_by_batch_statistics(
    e: OnnxEmitter,
    x: Value,
    scale: OnnxValue,
    shift: OnnxValue,
    mean: OnnxValue,
    variance: OnnxValue,
    epsilon: float,
    momentum: float,
) -> tuple[Value, ...]:
    """By the statistics of the batch; then the means of them and the given ones, weighted by the momentum."""
    axes, dtype = [a for a in range(len(x.shape)) if a != 1], x.dtype
    x = e.cast(x, "float64" if dtype == "float64" else "float32")
    own = [e.op(name, x, axis=axes, keepdims=False) for name in ("mean", "variance")]
    scale, shift, *old = (e.value(v) for v in (scale, shift, mean, variance))
    y = layers.batch_norm(e, x, e.cast(scale, x.dtype), e.cast(shift, x.dtype), own[0], own[1], epsilon)
    kept = [
        e.cast(e.op("add", e.multiply(e.cast(v, x.dtype), momentum), e.multiply(new, 1 - momentum)), v.dtype)
        for v, new in zip(old, own, strict=True)
    ]
    return e.cast(y, dtype), *kept


@onnx_op("LayerNormalization")
def layer_norm(
    e: OnnxEmitter,
    x: OnnxValue,
    scale: OnnxValue,
    shift: Input = None,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Value | tuple[Value, Value, Value]:
    """The result; where they are used, the mean and 1 / sqrt(variance + epsilon) in float32, with axes of size 1."""
    last = len(x.shape) - axis_in(axis, len(x.shape))
    shift = e.value(shift)
    y = layers.layer_norm(e, e.value(x), last, e.value(scale), shift, epsilon)
    if not (e.is_output_used(1) or e.is_output_used(2)):
        return y
    if stash_type != 1:
        raise GraphError(f"the statistics of stash_type={stash_type} are not supported\n  fix: stash_type=1, float32")
    stashed, axes = e.cast(e.value(x), "float32"), list(range(-last, 0))
    variance = e.op("variance", stashed, axis=axes, keepdims=True)
    return y, e.op("mean", stashed, axis=axes, keepdims=True), e.op("rsqrt", e.add(variance, epsilon))


@onnx_op("RMSNormalization", "SimplifiedLayerNormalization")
def rms_norm(
    e: OnnxEmitter, x: OnnxValue, scale: OnnxValue, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Value:
    last = len(x.shape) - axis_in(axis, len(x.shape))
    return layers.rms_norm(e, e.value(x), last, e.cast(e.value(scale), dtype_of(x)), epsilon)


@onnx_op("InstanceNormalization")
def instance_norm(e: OnnxEmitter, x: OnnxValue, scale: OnnxValue, shift: OnnxValue, epsilon: float = 1e-5) -> Value:
    groups = static_size(x.shape[1], "the number of channels")
    return layers.group_norm(e, e.value(x), groups, e.value(scale), e.value(shift), epsilon)


@onnx_op("GroupNormalization")
def group_norm(
    e: OnnxEmitter,
    x: OnnxValue,
    scale: OnnxValue,
    shift: OnnxValue,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Value:
    """Before opset 21 scale and shift are of groups, not of channels."""
    scale, shift = e.value(scale), e.value(shift)
    if num_groups < 1 or static_size(x.shape[1], "the number of channels") % num_groups:
        raise GraphError(f"{x.shape[1]} channels in {num_groups} groups\n  fix: a number of groups that divides them")
    if e.opset < 21:
        times = static_size(x.shape[1], "the number of channels") // num_groups
        scale, shift = (e.op("repeat", v, repeats=times, axis=0) for v in (scale, shift))
    return layers.group_norm(e, e.value(x), num_groups, scale, shift, epsilon)


def _reduction(reduced: Callable[[OnnxEmitter, OnnxValue, list[int], bool], Value]) -> Translation:
    """An operator that reduces over axes; `reduced(e, x, axes, keepdims)` emits it, also for no axes."""

    def translate(
        e: OnnxEmitter,
        x: OnnxValue,
        axes_input: Input = None,
        axes: Sequence[int] | None = None,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Value:
        """The axes are an input since opset 18 (13 for sums)."""
        raw_axes = axes if axes_input is None else e.known_integers(axes_input, "the axes of a reduction")
        if not raw_axes and noop_with_empty_axes:
            chosen: list[int] = []
        else:
            chosen = [axis_in(a, len(x.shape)) for a in (raw_axes or range(len(x.shape)))]
        return reduced(e, x, chosen, bool(keepdims))

    return translate


_OF_BOOLS = {"max": "any", "min": "all"}


def _operator_reduction(operator: str, pre_op: str | None = None, post_op: str | None = None) -> Translation:
    def emit(e: OnnxEmitter, x: OnnxValue, axes: list[int], keepdims: bool) -> Value:
        x = e.value(x)
        if x.dtype == "bool" and operator in _OF_BOOLS and axes:
            return e.op(_OF_BOOLS[operator], x, axis=axes, keepdims=keepdims)
        if operator == "mean" and x.dtype not in FLOATS:
            return e.cast(emit(e, e.cast(x, "float64"), axes, keepdims), x.dtype)
        x = x if pre_op is None else e.op(pre_op, x)
        y = e.op(operator, x, axis=axes, keepdims=keepdims) if axes else e.value(x)
        if post_op is None:
            return y
        return e.op(post_op, y) if x.dtype in FLOATS else e.cast(e.op(post_op, e.cast(y, "float64")), x.dtype)

    return _reduction(emit)


onnx_op("ReduceLogSumExp")(_reduction(lambda e, x, axes, keepdims: e.log_sum_exp(e.value(x), axes, keepdims)))
onnx_op("ReduceSum")(_operator_reduction("sum"))
onnx_op("ReduceMean")(_operator_reduction("mean"))
onnx_op("ReduceMax")(_operator_reduction("max"))
onnx_op("ReduceMin")(_operator_reduction("min"))
onnx_op("ReduceProd")(_operator_reduction("prod"))
onnx_op("ReduceL1")(_operator_reduction("sum", pre_op="abs"))
onnx_op("ReduceL2")(_operator_reduction("sum", pre_op="square", post_op="sqrt"))
onnx_op("ReduceSumSquare")(_operator_reduction("sum", pre_op="square"))
onnx_op("ReduceLogSum")(_operator_reduction("sum", post_op="log"))


@onnx_op("ArgMax")
def argmax(e: OnnxEmitter, x: OnnxValue, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Value:
    return _extremum_index(e, "argmax", x, axis, keepdims, select_last_index)


@onnx_op("ArgMin")
def argmin(e: OnnxEmitter, x: OnnxValue, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Value:
    return _extremum_index(e, "argmin", x, axis, keepdims, select_last_index)


def _extremum_index(e: OnnxEmitter, operator: str, x: OnnxValue, axis: int, keepdims: int, last: int) -> Value:
    if not last:
        return e.op(operator, x, axis=axis, keepdims=bool(keepdims), dtype="int64")
    axis = axis_in(axis, len(x.shape))
    size = static_size(x.shape[axis], "the axis of an ArgMax with select_last_index=1")
    position = e.op(operator, e.op("flip", x, axis=axis), axis=axis, keepdims=bool(keepdims), dtype="int64")
    return e.op("subtract", e.constant(size - 1, "int64"), position)


@onnx_op("CumSum")
def running_sum(e: OnnxEmitter, x: OnnxValue, axis: OnnxValue, exclusive: int = 0, reverse: int = 0) -> Value:
    return _running_total(e, "cumsum", x, axis, exclusive, reverse)


@onnx_op("CumProd")
def running_product(e: OnnxEmitter, x: OnnxValue, axis: OnnxValue, exclusive: int = 0, reverse: int = 0) -> Value:
    return _running_total(e, "cumprod", x, axis, exclusive, reverse)


def _running_total(e: OnnxEmitter, operator: str, x: OnnxValue, axis: OnnxValue, exclusive: int, reverse: int) -> Value:
    along = axis_in(e.known_integer(axis, "the axis of a running sum or product"), len(x.shape))
    if not reverse:
        return e.op(operator, x, axis=along, exclusive=bool(exclusive))
    backward = e.op(operator, e.op("flip", x, axis=along), axis=along, exclusive=bool(exclusive))
    return e.op("flip", backward, axis=along)
