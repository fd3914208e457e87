"""Layers: products, convolutions, pools, normalizations, attention, images of other sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers import layers
from tir_mlir.graph.importers.aten.aten_reductions import vector_norm
from tir_mlir.graph.importers.aten.aten_table import Translation, aten, in_float32
from tir_mlir.graph.importers.aten.torch_emitter import Term, TorchEmitter
from tir_mlir.graph.importers.emitter import OneOrEach, known_sizes, static_size
from tir_mlir.graph.importers.layers import (
    adaptive_mean,
    attention,
    convolution,
    linear,
    pool,
    scaled_sum,
    transposed_convolution,
)

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value
    from tir_mlir.graph.size_code import Size

PANEL = 16
"""The columns of a panel of a matrix."""
HEIGHTS = ((16, 8), (4, 4), (2, 2))
"""The rows of a tile, for at least so many rows of a group on average: the last tile of each is partly empty."""
NARROW_HEIGHTS = ((16, 16), *HEIGHTS[1:])
"""The same for floats of 16 bits: matrix units have tiles of 16 rows."""


aten("linear")(linear)
aten("conv1d", "conv2d", "conv3d")(convolution)
aten("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input")(transposed_convolution)


@aten("matmul")
def matmul(e: TorchEmitter, x: Value, other: Term) -> Value:
    return e.op("matmul", x, other)


@aten("_int_mm")
def product_of_int8(e: TorchEmitter, x: Value, mat2: Value) -> Value:
    """int8 times int8, summed in int32."""
    return e.op("matmul", x, mat2, out_dtype="int32")


@aten("mm", "bmm")
def product(e: TorchEmitter, x: Value, mat2: Value) -> Value:
    return e.op("matmul", x, mat2)


@aten("mv")
def times_vector(e: TorchEmitter, x: Value, vec: Value) -> Value:
    return e.op("matmul", x, vec)


@aten("dot")
def inner_product(e: TorchEmitter, x: Value, tensor: Value) -> Value:
    return e.op("sum", e.op("multiply", x, tensor))


@aten("outer", "ger")
def outer_product(e: TorchEmitter, x: Value, vec2: Value) -> Value:
    return e.binary("multiply", e.reshape(x, (*x.shape, 1)), vec2, e.dtype)


@aten("addmm")
def add_product(e: TorchEmitter, x: Value, mat1: Value, mat2: Value, beta: float = 1, alpha: float = 1) -> Value:
    return scaled_sum(e, x, e.op("matmul", mat1, mat2), alpha, beta)


@aten("baddbmm")
def add_batched_product(
    e: TorchEmitter, x: Value, batch1: Value, batch2: Value, beta: float = 1, alpha: float = 1
) -> Value:
    return scaled_sum(e, x, e.op("matmul", batch1, batch2), alpha, beta)


@aten("einsum")
def einsum(e: TorchEmitter, equation: str, tensors: Sequence[Value]) -> Value:
    return e.op("einsum", *tensors, subscripts=equation)


@aten("_trilinear")
def sum_of_products(
    e: TorchEmitter,
    i1: Value,
    i2: Value,
    i3: Value,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
) -> Value:
    """The product of three tensors with axes of size 1 put in, summed over axes."""
    parts = []
    for x, axes in ((i1, expand1), (i2, expand2), (i3, expand3)):
        shape = list(x.shape)
        for axis in sorted(axes):
            shape.insert(axis, 1)
        parts.append(e.reshape(x, shape))
    return e.op("sum", e.op("multiply", e.op("multiply", parts[0], parts[1]), parts[2]), axis=list(sumdim))


@aten("_grouped_mm")
def grouped_product(
    e: TorchEmitter,
    x: Value,
    mat2: Value,
    offs: Value | None = None,
    bias: Value | None = None,
    out_dtype: str | None = None,
) -> Value:
    """Rows times the matrix of their group; without groups a product of batches."""
    if offs is None:
        y = e.op("matmul", x, mat2)
    elif (len(x.shape), len(mat2.shape)) == (2, 3):
        y = grouped_rows(e, x, mat2, offs)
    else:
        raise GraphError("groups of columns, of which each is a product\n  fix: pass rows, and a matrix for each group")
    return e.cast(y if bias is None else e.op("add", y, bias), e.dtype)


@aten("transformers.grouped_mm_fallback")
def grouped_rows(e: TorchEmitter, x: Value, weight: Value, offs: Value) -> Value:
    """(m, k), (g, k, n), (g,) -> (m, n): rows times the matrix of their group; rows behind the last group are 0.

    Rows are copied to tiles of one group each, the matrices are in panels, which are made once of weights; each tile is
    multiplied by the panels of its matrix, and rows are copied back.
    """
    sizes, rows = known_sizes(weight.shape), x.shape[0]
    if sizes is None or sizes[2] % PANEL or not rows or not sizes[1]:
        return e.op("grouped_matmul", x, weight, offs)
    groups, k, n = sizes
    heights = NARROW_HEIGHTS if x.dtype in ("bfloat16", "float16") else HEIGHTS
    height = next((h for least, h in heights if not isinstance(rows, int) or rows >= least * groups), 1)
    group, sources, positions = e.op_results(
        "row_tiles", offs, rows=rows if isinstance(rows, int) else {"size": rows}, height=height
    )
    panels = e.permute(e.reshape(weight, (groups, k, n // PANEL, PANEL)), (0, 2, 1, 3))
    products = e.op("tile_products", e.op("take", x, sources, axis=0), panels, group)
    tiles = e.permute(products, (0, 2, 1, 3))
    y = e.op("take", e.op("reshape", tiles, shape=(-1, n)), positions, axis=0)
    inside = e.op("greater_equal", positions, e.constant(0, "int32"))
    return e.op("where", e.reshape(inside, (rows, 1)), y, e.constant(0, x.dtype))


@aten("dist")
@in_float32
def distance(e: TorchEmitter, x: Value, other: Term, p: float = 2) -> Value:
    """The norm of the difference of two tensors, of all its elements."""
    apart = e.binary("subtract", x, other, e.dtype)
    return vector_norm(e, apart, p, list(range(len(apart.shape))), False)


@aten("cdist", "_cdist_forward", "_euclidean_dist")
@in_float32
def distances(e: TorchEmitter, x1: Value, x2: Value, p: float = 2, compute_mode: str | None = None) -> Value:
    """The distance of each row of one tensor to each of another."""
    rank = max(len(x1.shape), len(x2.shape))
    lhs, rhs = (e.reshape(x, [*[1] * (rank - len(x.shape)), *x.shape]) for x in (x1, x2))
    lhs = e.reshape(lhs, [*lhs.shape[:-1], 1, lhs.shape[-1]])
    rhs = e.reshape(rhs, [*rhs.shape[:-2], 1, *rhs.shape[-2:]])
    return vector_norm(e, e.op("subtract", lhs, rhs), p, [rank], False)


@aten("_pdist_forward", "pdist")
@in_float32
def own_distances(e: TorchEmitter, x: Value, p: float = 2) -> Value:
    """The distances of each row to those after it."""
    rows = static_size(x.shape[0], "the number of points")
    first, second = np.triu_indices(rows, 1)
    lhs, rhs = (e.op("take", x, e.constant(i, "int32"), axis=0) for i in (first, second))
    return vector_norm(e, e.op("subtract", lhs, rhs), p, [1], False)


@aten("convolution")
def any_convolution(
    e: TorchEmitter,
    x: Value,
    weight: Value,
    bias: Value | None,
    stride: OneOrEach,
    padding: OneOrEach,
    dilation: OneOrEach,
    transposed: bool,
    output_padding: OneOrEach,
    groups: int,
) -> Value:
    if transposed:
        return transposed_convolution(e, x, weight, bias, stride, padding, output_padding, dilation, groups)
    return convolution(e, x, weight, bias, stride, padding, dilation, groups)


def _max_pool(axes: int) -> Translation:
    def translate(
        e: TorchEmitter,
        x: Value,
        kernel_size: OneOrEach,
        stride: OneOrEach,
        padding: OneOrEach,
        dilation: OneOrEach,
        ceil_mode: bool,
    ) -> Value:
        return pool(e, "max", x, axes, kernel_size, stride, padding, dilation, ceil_mode)

    return translate


def _adaptive(axes: int) -> Translation:
    return lambda e, x, output_size: adaptive_mean(e, x, axes, output_size)


for _axes in (1, 2, 3):
    aten(f"max_pool{_axes}d")(_max_pool(_axes))
    aten(f"adaptive_avg_pool{_axes}d", f"_adaptive_avg_pool{_axes}d")(_adaptive(_axes))


_EPSILON = {"float32": 1.1920928955078125e-07, "float64": 2.220446049250313e-16}


def _by_batch(
    e: TorchEmitter, x: Value, weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, Value, Value]:
    """x by the mean and the variance of each channel of the batch, and these two."""
    axes = [a for a in range(len(x.shape)) if a != 1]
    mean = e.op("mean", x, axis=axes)
    apart = e.op("subtract", x, e.reshape(mean, (x.shape[1], *[1] * (len(x.shape) - 2))))
    variance = e.op("mean", e.op("multiply", apart, apart), axis=axes)
    return layers.batch_norm(e, x, weight, bias, mean, variance, eps), mean, variance


@aten("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit.no_stats", "_batch_norm_with_update")
def batch_norm_with_statistics(
    e: TorchEmitter,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None = None,
    running_var: Value | None = None,
    training: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> list[Value | None]:
    """Also the mean of the batch and one over its deviation, and nothing for what is kept for later."""
    if not training and running_mean is not None and running_var is not None:
        return [layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps), None, None]
    y, mean, variance = _by_batch(e, x, weight, bias, eps)
    return [y, mean, e.op("rsqrt", e.add(variance, eps))]


@aten("_native_batch_norm_legit_functional")
def batch_norm_of_training(
    e: TorchEmitter,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    training: bool,
    momentum: float,
    eps: float,
) -> list[Value | None]:
    """Also the running statistics, nearer to those of the batch by the momentum."""
    if not training:
        y = layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps)
        return [y, None, None, running_mean, running_var]
    y, mean, variance = _by_batch(e, x, weight, bias, eps)
    sizes = (x.shape[0], *x.shape[2:])
    count = math.prod(static_size(n, "the size of a batch whose variance is kept") for n in sizes)
    unbiased = e.multiply(variance, count / max(count - 1, 1))
    new = [
        e.op("add", e.multiply(old, 1 - momentum), e.multiply(now, momentum))
        for old, now in ((running_mean, mean), (running_var, unbiased))
    ]
    return [y, mean, e.op("rsqrt", e.add(variance, eps)), *new]


@aten("batch_norm")
def batch_norm(
    e: TorchEmitter,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    training: bool,
    eps: float,
) -> Value:
    if training or running_mean is None or running_var is None:
        return _by_batch(e, x, weight, bias, eps)[0]
    return layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps)


@aten("_native_batch_norm_legit_no_training")
def batch_norm_of_inference(
    e: TorchEmitter,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    eps: float,
) -> list[Value | None]:
    return [layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps), None, None]


@aten("layer_norm")
def layer_norm(
    e: TorchEmitter, x: Value, normalized_shape: Sequence[int], weight: Value | None, bias: Value | None, eps: float
) -> Value:
    return layers.layer_norm(e, x, len(normalized_shape), weight, bias, eps)


@aten("native_layer_norm")
def native_layer_norm(
    e: TorchEmitter, x: Value, normalized_shape: Sequence[int], weight: Value | None, bias: Value | None, eps: float
) -> list[Value | None]:
    return [layers.layer_norm(e, x, len(normalized_shape), weight, bias, eps), None, None]


@aten("rms_norm")
def rms_norm(
    e: TorchEmitter, x: Value, normalized_shape: Sequence[int], weight: Value | None, eps: float | None
) -> Value:
    """torch's default for eps is that of the type it computes in: float32 for the short floats."""
    eps = _EPSILON.get(x.dtype, _EPSILON["float32"]) if eps is None else eps
    return layers.rms_norm(e, x, len(normalized_shape), weight, eps)


@aten("group_norm")
def group_norm(
    e: TorchEmitter, x: Value, num_groups: int, weight: Value | None, bias: Value | None, eps: float
) -> Value:
    return layers.group_norm(e, x, num_groups, weight, bias, eps)


@aten("native_group_norm")
def native_group_norm(
    e: TorchEmitter,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    N: Size,
    C: Size,
    HxW: Size,
    group: int,
    eps: float,
) -> list[Value | None]:
    return [layers.group_norm(e, x, group, weight, bias, eps), None, None]


@aten("instance_norm")
def instance_norm(
    e: TorchEmitter,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    use_input_stats: bool,
    eps: float,
) -> Value:
    if not use_input_stats and running_mean is not None and running_var is not None:
        return layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps)
    return layers.group_norm(e, x, x.shape[1], weight, bias, eps)


@aten("scaled_dot_product_attention")
def scaled_dot_product_attention(
    e: TorchEmitter,
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    if dropout_p:
        raise GraphError(f"dropout_p={dropout_p} drops elements at random\n  fix: pass 0.0 when not self.training")
    return attention(e, query, key, value, attn_mask, is_causal, scale)
