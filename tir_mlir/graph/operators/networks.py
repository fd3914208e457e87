"""Operators of neural networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tir_mlir import topi
from tir_mlir.graph.operators.array_rules import PAD
from tir_mlir.graph.operators.operator import Operator, OperatorKind, elementwise, row_wise, view
from tir_mlir.topi import nn

if TYPE_CHECKING:
    from tir_mlir.te.expr import Expr
    from tir_mlir.te.tensor import Tensor

_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def _batch_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    mean: Tensor,
    var: Tensor,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Tensor:
    """(data - mean) / sqrt(var + epsilon) * gamma + beta along an axis."""
    return nn.batch_norm(data, gamma, beta, mean, var, axis, epsilon, center, scale)[0]


def _pad(
    data: Tensor,
    pad_width: Sequence[Expr | int | Sequence[Expr | int]],
    pad_value: float = 0,
    pad_mode: str = "constant",
) -> Tensor:
    """Elements before and after each axis: a number, or "reflect", "edge", "wrap". pad_width: two for each axis."""
    flat = [n for p in pad_width for n in (p if isinstance(p, Sequence) else (p,))]
    return nn.pad(data, flat[::2], flat[1::2], pad_value, pad_mode)


def _resize2d(
    data: Tensor,
    size: Expr | int | Sequence[Expr | int],
    layout: str = "NCHW",
    method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "round",
) -> Tensor:
    """An image of another size: the nearest elements ("nearest_neighbor"), or a mean of neighbors ("linear")."""
    return topi.image.resize2d(data, size, layout, method, coordinate_transformation_mode, rounding_method or "round")


def _convolution(count: int) -> Operator:
    function = getattr(nn, f"conv{count}d")
    letters = _SPATIAL[count]

    def te(
        data: Tensor,
        weight: Tensor,
        strides: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        data_layout: str = f"NC{letters}",
        kernel_layout: str = f"OI{letters}",
        out_layout: str | None = None,
        out_dtype: str | None = None,
        pad_value: int = 0,
    ) -> Tensor:
        layouts = data_layout, kernel_layout, out_dtype, groups, out_layout
        return function(data, weight, strides, padding, dilation, *layouts, pad_value)

    te.__doc__ = function.__doc__
    return Operator(f"nn.conv{count}d", te, kind=OperatorKind.CONVOLUTION)


def _conv_transpose(count: int) -> Operator:
    return Operator(f"nn.conv{count}d_transpose", getattr(nn, f"conv{count}d_transpose"))


def _pool(kind: str, count: int) -> Operator:
    function = getattr(nn, f"{kind}_pool{count}d")
    order = f"NC{_SPATIAL[count]}"

    def te(
        data: Tensor,
        pool_size: int | Sequence[int] = 1,
        strides: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        count_include_pad: bool | None = None,
        layout: str = order,
    ) -> Tensor:
        options = {} if kind == "max" else {"count_include_pad": bool(count_include_pad)}
        return function(data, pool_size, strides, padding, dilation, ceil_mode, layout, **options)

    te.__doc__ = function.__doc__
    return Operator(f"nn.{kind}_pool{count}d", te, kind=OperatorKind.POOL)


def _adaptive(kind: str, count: int) -> Operator:
    name = f"adaptive_{kind}_pool{count}d"
    return Operator(f"nn.{name}", getattr(nn, name), kind=OperatorKind.POOL, num_inputs=1)


OPERATORS = [
    elementwise("nn.relu", nn.relu, torch="relu", onnx="Relu", homogeneous=True),
    elementwise("nn.relu6", nn.relu6, torch="relu6"),
    elementwise("nn.gelu", nn.gelu),
    elementwise("nn.gelu_tanh", nn.gelu_tanh),
    elementwise("nn.silu", nn.silu, torch="silu"),
    elementwise("nn.selu", nn.selu, torch="selu"),
    elementwise("nn.hardsigmoid", nn.hardsigmoid, torch="hardsigmoid"),
    elementwise("nn.hardswish", nn.hardswish, torch="hardswish", onnx="HardSwish"),
    elementwise("nn.softsign", nn.softsign, torch="softsign", onnx="Softsign"),
    elementwise("nn.mish", nn.mish, torch="mish", onnx="Mish"),
    elementwise("nn.leakyrelu", nn.leaky_relu),
    elementwise("nn.elu", nn.elu),
    elementwise("nn.softplus", nn.softplus, onnx="Softplus"),
    Operator("nn.dropout", nn.dropout),
    Operator("nn.prelu", nn.prelu),
    row_wise("nn.softmax", nn.softmax),
    row_wise("nn.log_softmax", nn.log_softmax),
    row_wise("nn.layer_norm", nn.layer_norm, num_inputs=3),
    row_wise("nn.rms_norm", nn.rms_norm),
    Operator("nn.dense", nn.dense, num_inputs=3, kind=OperatorKind.PRODUCT),
    Operator("nn.bias_add", nn.bias_add),
    view("nn.batch_flatten", nn.flatten),
    Operator("nn.pad", _pad, num_inputs=1, arrays=PAD),
    Operator("nn.batch_norm", _batch_norm),
    Operator("nn.instance_norm", nn.instance_norm, num_inputs=3),
    Operator("nn.group_norm", nn.group_norm, num_inputs=3),
    *map(_convolution, (1, 2, 3)),
    Operator("nn.winograd_weights", nn.winograd_weights, num_inputs=1),
    Operator("nn.conv2d_winograd", nn.conv2d_winograd, num_inputs=2),
    Operator("nn.winograd_tiles", nn.winograd_tiles, num_inputs=1),
    Operator("nn.winograd_results", nn.winograd_results, num_inputs=1),
    *map(_conv_transpose, (1, 2, 3)),
    *(_pool(kind, count) for kind in ("max", "avg") for count in (1, 2, 3)),
    *(_adaptive(kind, count) for kind in ("max", "avg") for count in (1, 2, 3)),
    Operator("nn.attention", nn.attention, num_inputs=4, named=("blocks",)),
    Operator("nn.rotary_embedding", nn.rotary_embedding),
    Operator("nn.upsampling", nn.upsampling, num_inputs=1),
    Operator("nn.windows", nn.windows, num_inputs=1),
    Operator("nn.patches", nn.patches, num_inputs=1),
    Operator("nn.fold", nn.fold, num_inputs=1),
    Operator("image.resize2d", _resize2d, num_inputs=1),
    Operator("image.resample", topi.image.resample, num_inputs=3),
    Operator("image.grid_sample", topi.image.grid_sample, num_inputs=2),
]
