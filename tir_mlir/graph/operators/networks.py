"""Operators of neural networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir import topi
from tir_mlir.graph.operators.operator import REQUIRED, Operator
from tir_mlir.topi import nn

_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def _batch_norm(*tensors: Any, axis: int = 1, epsilon: float = 1e-5, center: bool = True, scale: bool = True) -> Any:
    """(data - mean) / sqrt(var + epsilon) * gamma + beta along an axis; operands data, gamma, beta, mean, var."""
    return nn.batch_norm(*tensors, axis=axis, epsilon=epsilon, center=center, scale=scale)[0]


def _pad(data: Any, pad_width: Any, pad_value: Any = 0, pad_mode: str = "constant") -> Any:
    """Elements before and after each axis: a number, or "reflect", or "edge". pad_width: before and after each axis."""
    flat = [n for p in pad_width for n in (p if isinstance(p, Sequence) else (p,))]
    return nn.pad(data, flat[::2], flat[1::2], pad_value, pad_mode)


def _resize2d(
    data: Any,
    size: Any,
    layout: str = "NCHW",
    method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "round",
) -> Any:
    """An image of another size: the nearest elements ("nearest_neighbor"), or a mean of neighbors ("linear")."""
    return topi.image.resize2d(data, size, layout, method, coordinate_transformation_mode, rounding_method or "round")


def _convolution(count: int) -> Operator:
    function = getattr(nn, f"conv{count}d")
    letters = _SPATIAL[count]

    def made(
        data: Any,
        weight: Any,
        strides: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        data_layout: str = f"NC{letters}",
        kernel_layout: str = f"OI{letters}",
        out_layout: str | None = None,
        out_dtype: str | None = None,
    ) -> Any:
        return function(
            data, weight, strides, padding, dilation, data_layout, kernel_layout, out_dtype, groups, out_layout
        )

    made.__doc__ = function.__doc__
    window = {"strides": 1, "padding": 0, "dilation": 1, "groups": 1}
    layouts = {"data_layout": f"NC{letters}", "kernel_layout": f"OI{letters}", "out_layout": None, "out_dtype": None}
    return Operator(f"nn.conv{count}d", made, window | layouts)


def _transposed(count: int) -> Operator:
    letters = _SPATIAL[count]
    window = {"strides": 1, "padding": 0, "output_padding": 0, "dilation": 1, "groups": 1}
    layouts = {"data_layout": f"NC{letters}", "kernel_layout": f"IO{letters}", "out_dtype": None}
    return Operator(f"nn.conv{count}d_transpose", getattr(nn, f"conv{count}d_transpose"), window | layouts)


def _pool(kind: str, count: int) -> Operator:
    function = getattr(nn, f"{kind}_pool{count}d")
    order = f"NC{_SPATIAL[count]}"

    def made(
        data: Any,
        pool_size: Any = 1,
        strides: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        count_include_pad: bool | None = None,
        layout: str = order,
    ) -> Any:
        more = {} if kind == "max" else {"count_include_pad": bool(count_include_pad)}
        return function(data, pool_size, strides, padding, dilation, ceil_mode, layout, **more)

    made.__doc__ = function.__doc__
    window = {"pool_size": 1, "strides": 1, "padding": 0, "dilation": 1, "ceil_mode": False}
    return Operator(f"nn.{kind}_pool{count}d", made, {**window, "count_include_pad": None, "layout": order})


def _adaptive(kind: str, count: int) -> Operator:
    name = f"adaptive_{kind}_pool{count}d"
    return Operator(f"nn.{name}", getattr(nn, name), {"output_size": None, "layout": f"NC{_SPATIAL[count]}"})


_PLAIN = (
    "relu", "relu6", "gelu", "gelu_tanh", "silu", "selu", "hardsigmoid", "hardswish", "softsign", "mish",
)  # fmt: skip
_NORM = {"axis": -1, "epsilon": 1e-5}
_UPSAMPLING = {"scale_h": REQUIRED, "scale_w": REQUIRED, "layout": "NCHW", "method": "nearest_neighbor"}
_RESIZE = {
    "size": REQUIRED, "layout": "NCHW", "method": "linear", "coordinate_transformation_mode": "half_pixel",
    "rounding_method": "round",
}  # fmt: skip

OPERATORS = [
    *(Operator(f"nn.{n}", getattr(nn, n), {}) for n in _PLAIN),
    Operator("nn.leakyrelu", nn.leaky_relu, {"alpha": 0.01}),
    Operator("nn.elu", nn.elu, {"alpha": 1.0}),
    Operator("nn.prelu", nn.prelu, {"axis": 1}),
    Operator("nn.softplus", nn.softplus, {"beta": 1.0, "threshold": 20.0}),
    Operator("nn.dropout", nn.dropout, {"rate": 0.5}),
    Operator("nn.softmax", nn.softmax, {"axis": -1}),
    Operator("nn.log_softmax", nn.log_softmax, {"axis": -1}),
    Operator("nn.dense", nn.dense, {"out_dtype": None}),
    Operator("nn.bias_add", nn.bias_add, {"axis": -1}),
    Operator("nn.batch_flatten", nn.flatten, {}),
    Operator("nn.pad", _pad, {"pad_width": REQUIRED, "pad_value": 0, "pad_mode": "constant"}),
    Operator("nn.batch_norm", _batch_norm, {"axis": 1, "epsilon": 1e-5, "center": True, "scale": True}),
    Operator("nn.layer_norm", nn.layer_norm, _NORM),
    Operator("nn.rms_norm", nn.rms_norm, _NORM),
    Operator("nn.instance_norm", nn.instance_norm, {"axis": None, "epsilon": 1e-5}),
    Operator(
        "nn.group_norm", nn.group_norm, {"num_groups": REQUIRED, "channel_axis": 1, "axes": None, "epsilon": 1e-5}
    ),
    *map(_convolution, (1, 2, 3)),
    *map(_transposed, (1, 2, 3)),
    *(_pool(kind, count) for kind in ("max", "avg") for count in (1, 2, 3)),
    *(_adaptive(kind, count) for kind in ("max", "avg") for count in (1, 2, 3)),
    Operator("nn.attention", nn.attention, {"scale": None, "causal_mask": None, "layout": "BSHD"}),
    Operator("nn.rotary_embedding", nn.rotary_embedding, {"interleaved": False}),
    Operator("nn.upsampling", nn.upsampling, _UPSAMPLING),
    Operator("image.resize2d", _resize2d, _RESIZE),
]
