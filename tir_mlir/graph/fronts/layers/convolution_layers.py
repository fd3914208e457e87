"""Convolutions and transposed convolutions of one to three axes, channels first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.emitter import Emitter, static

_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
_KERNELS = {1: "OIW", 2: "OIHW", 3: "OIDHW"}


def convolution(
    e: Emitter, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """x (n, c, ..) with weight (o, c / groups, ..), plus bias (o). padding: one an axis, or those before all axes and
    then those after, or "same", "valid"."""
    axes = len(weight.shape) - 2
    if axes not in _LAYOUTS:
        raise GraphError(f"a convolution over {axes} axes\n  fix: convolutions have 1, 2 or 3 axes besides n and c")
    stride, dilation = every_axis(stride, axes), every_axis(dilation, axes)
    batched = len(x.shape) == axes + 2
    if not batched:
        x = e.reshape(x, (1, *x.shape))
    y = e.op(
        f"nn.conv{axes}d",
        x,
        weight,
        strides=stride,
        padding=_both_sides(padding, axes, weight, dilation),
        dilation=dilation,
        groups=groups,
    )
    y = with_bias(e, y, bias, axes)
    return y if batched else e.reshape(y, y.shape[1:])


def transposed_convolution(
    e: Emitter,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    """The convolution's gradient: x (n, c, ..) with weight (c, o / groups, ..), plus bias (o)."""
    axes = len(weight.shape) - 2
    batched = len(x.shape) == axes + 2
    if not batched:
        x = e.reshape(x, (1, *x.shape))
    y = e.op(
        f"nn.conv{axes}d_transpose",
        x,
        weight,
        strides=every_axis(stride, axes),
        padding=_both_sides(padding, axes, weight, None),
        output_padding=every_axis(output_padding, axes),
        dilation=every_axis(dilation, axes),
        groups=groups,
    )
    y = with_bias(e, y, bias, axes)
    return y if batched else e.reshape(y, y.shape[1:])


def with_bias(e: Emitter, x: Any, bias: Any, axes: int) -> Any:
    """x (n, c, ..) plus bias (c)."""
    return x if bias is None else e.op("add", x, e.reshape(bias, (bias.shape[0], *[1] * axes)))


def every_axis(value: Any, axes: int) -> list[int]:
    """One number, or one an axis, as one an axis."""
    given = [value] if isinstance(value, int) else list(value)
    return given * axes if len(given) == 1 else given


def _both_sides(padding: Any, axes: int, weight: Any, dilation: Sequence[int] | None) -> list[int]:
    if padding == "valid":
        return [0] * 2 * axes
    if padding == "same" and dilation is not None:
        total = [(static(k, "the size of a kernel") - 1) * d for k, d in zip(weight.shape[2:], dilation, strict=True)]
        return [*(t // 2 for t in total), *(t - t // 2 for t in total)]
    given = every_axis(padding, axes)
    return given if len(given) == 2 * axes else given * 2
