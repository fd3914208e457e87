"""Layers: products, convolutions, pools, normalizations, attention, images of other sizes."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts import layers
from tir_mlir.graph.fronts.aten.aten_table import Translation, aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.layers import (
    adaptive_mean,
    attention,
    convolution,
    linear,
    pool,
    pool_with_indices,
    scaled_sum,
    transposed_convolution,
)


@aten("linear")
def linear_layer(e: TorchEmitter, x: Any, weight: Any, bias: Any = None) -> Any:
    return linear(e, x, weight, bias)


@aten("matmul")
def matmul(e: TorchEmitter, x: Any, other: Any) -> Any:
    return e.op("matmul", x, other)


@aten("mm", "bmm")
def product(e: TorchEmitter, x: Any, mat2: Any) -> Any:
    return e.op("matmul", x, mat2)


@aten("mv")
def times_vector(e: TorchEmitter, x: Any, vec: Any) -> Any:
    return e.op("matmul", x, vec)


@aten("dot")
def inner_product(e: TorchEmitter, x: Any, tensor: Any) -> Any:
    return e.op("sum", e.op("multiply", x, tensor))


@aten("outer", "ger")
def outer_product(e: TorchEmitter, x: Any, vec2: Any) -> Any:
    return e.binary("multiply", e.reshape(x, (*x.shape, 1)), vec2, e.dtype)


@aten("addmm")
def add_product(e: TorchEmitter, x: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return scaled_sum(e, x, e.op("matmul", mat1, mat2), alpha, beta)


@aten("baddbmm")
def add_batched_product(e: TorchEmitter, x: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return scaled_sum(e, x, e.op("matmul", batch1, batch2), alpha, beta)


@aten("einsum")
def einsum(e: TorchEmitter, equation: str, tensors: Any) -> Any:
    return e.op("einsum", *tensors, subscripts=equation)


@aten("conv1d", "conv2d", "conv3d")
def convolve(
    e: TorchEmitter, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    return convolution(e, x, weight, bias, stride, padding, dilation, groups)


@aten("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input")
def convolve_transposed(
    e: TorchEmitter,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    return transposed_convolution(e, x, weight, bias, stride, padding, output_padding, dilation, groups)


@aten("convolution")
def any_convolution(
    e: TorchEmitter,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    if transposed:
        return transposed_convolution(e, x, weight, bias, stride, padding, output_padding, dilation, groups)
    return convolution(e, x, weight, bias, stride, padding, dilation, groups)


def _max_pool(axes: int) -> Translation:
    def translated(
        e: TorchEmitter, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> Any:
        return pool(e, "max", x, axes, kernel_size, stride, padding, dilation, ceil_mode)

    return translated


def _mean_pool(axes: int) -> Translation:
    def translated(
        e: TorchEmitter,
        x: Any,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: Any = None,
    ) -> Any:
        if divisor_override is not None:
            raise GraphError(f"divisor_override={divisor_override} is not supported\n  fix: multiply the mean")
        return pool(e, "avg", x, axes, kernel_size, stride, padding, 1, ceil_mode, count_include_pad)

    return translated


def _adaptive(axes: int) -> Translation:
    return lambda e, x, output_size: adaptive_mean(e, x, axes, output_size)


for _axes in (1, 2, 3):
    aten(f"max_pool{_axes}d")(_max_pool(_axes))
    aten(f"avg_pool{_axes}d")(_mean_pool(_axes))
    aten(f"adaptive_avg_pool{_axes}d", f"_adaptive_avg_pool{_axes}d")(_adaptive(_axes))


@aten("max_pool2d_with_indices")
def max_pool_with_places(
    e: TorchEmitter, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    """The maxima and, where they are used, their indices in each image."""
    if not any(user.args[1:] == (1,) for user in e.node.users):
        return [pool(e, "max", x, 2, kernel_size, stride, padding, dilation, ceil_mode), None]
    window = kernel_size, stride, padding, dilation, ceil_mode
    return pool_with_indices(e, x, 2, *window, of_image=True)


_EPSILON = {"float32": 1.1920928955078125e-07, "float64": 2.220446049250313e-16}


@aten("batch_norm")
def batch_norm(
    e: TorchEmitter,
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    eps: float,
) -> Any:
    if training or running_mean is None:
        raise GraphError("it normalizes by the statistics of the batch\n  fix: export the model after model.eval()")
    return layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps)


@aten("_native_batch_norm_legit_no_training")
def batch_norm_of_inference(
    e: TorchEmitter, x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, eps: float
) -> Any:
    return [layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps), None, None]


@aten("layer_norm")
def layer_norm(e: TorchEmitter, x: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    return layers.layer_norm(e, x, len(normalized_shape), weight, bias, eps)


@aten("native_layer_norm")
def native_layer_norm(e: TorchEmitter, x: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    return [layers.layer_norm(e, x, len(normalized_shape), weight, bias, eps), None, None]


@aten("rms_norm")
def rms_norm(e: TorchEmitter, x: Any, normalized_shape: Any, weight: Any, eps: float | None) -> Any:
    """torch's default for eps is that of the type it computes in: float32 for the short floats."""
    eps = _EPSILON.get(x.dtype, _EPSILON["float32"]) if eps is None else eps
    return layers.rms_norm(e, x, len(normalized_shape), weight, eps)


@aten("group_norm")
def group_norm(e: TorchEmitter, x: Any, num_groups: int, weight: Any, bias: Any, eps: float) -> Any:
    return layers.group_norm(e, x, num_groups, weight, bias, eps)


@aten("native_group_norm")
def native_group_norm(
    e: TorchEmitter, x: Any, weight: Any, bias: Any, N: Any, C: Any, HxW: Any, group: int, eps: float
) -> Any:
    return [layers.group_norm(e, x, group, weight, bias, eps), None, None]


@aten("instance_norm")
def instance_norm(
    e: TorchEmitter,
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    eps: float,
) -> Any:
    if not use_input_stats:
        return layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps)
    return layers.group_norm(e, x, x.shape[1], weight, bias, eps)


@aten("scaled_dot_product_attention")
def scaled_dot_product_attention(
    e: TorchEmitter,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    if dropout_p:
        raise GraphError(f"dropout_p={dropout_p} drops elements at random\n  fix: pass 0.0 when not self.training")
    return attention(e, query, key, value, attn_mask, is_causal, scale)


def _resize(method: str) -> Translation:
    def translated(
        e: TorchEmitter,
        x: Any,
        output_size: Any,
        align_corners: bool = False,
        scale_factors: Any = None,
        scales_h: Any = None,
        scales_w: Any = None,
    ) -> Any:
        size = e.shape[2:]
        scales = scale_factors or [s for s in (scales_h, scales_w) if s is not None]
        for scale, old, new in zip(scales, x.shape[2:], size, strict=False):
            if not (isinstance(old, int) and isinstance(new, int) and old * scale == new):
                raise GraphError(f"a scale of {scale} of {old}, which is no whole number\n  fix: pass size=")
        corners = "align_corners" if align_corners else "half_pixel" if method == "linear" else "asymmetric"
        return e.op(
            "image.resize2d",
            x,
            size=list(size),
            layout="NCHW",
            method="nearest_neighbor" if method == "nearest" else method,
            coordinate_transformation_mode=corners,
            rounding_method="" if method == "linear" else "floor",
        )

    return translated


aten("upsample_nearest2d")(_resize("nearest"))
aten("upsample_bilinear2d")(_resize("linear"))
