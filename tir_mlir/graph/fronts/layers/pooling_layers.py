"""Pooling over the last axes, channels first."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.fronts.emitter import Emitter
from tir_mlir.graph.fronts.layers.convolution_layers import every_axis


def pool(
    e: Emitter,
    kind: str,
    x: Any,
    axes: int,
    size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    count_include_pad: bool | None = None,
) -> Any:
    """The maximum ("max") or mean ("avg") of windows over the last `axes` axes. stride: default the window's size.
    padding: one an axis, or those before all axes and then those after. x may have no batch axis."""
    size, dilation = every_axis(size, axes), every_axis(dilation, axes)
    padding = every_axis(padding, axes)
    batched = len(x.shape) == axes + 2
    if not batched:
        x = e.reshape(x, (1, *x.shape))
    y = e.op(
        f"nn.{kind}_pool{axes}d",
        x,
        pool_size=size,
        strides=every_axis(stride, axes) if stride else size,
        padding=padding if len(padding) == 2 * axes else [*padding, *padding],
        dilation=dilation,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
    )
    return y if batched else e.reshape(y, y.shape[1:])


def adaptive_mean(e: Emitter, x: Any, axes: int, size: Any) -> Any:
    """The means of size[a] equal parts of each of the last axes; None: as many as there are."""
    wanted = [n if s is None else s for s, n in zip(every_axis(size, axes), x.shape[-axes:], strict=True)]
    if all(isinstance(s, int) and s == 1 for s in wanted):
        return e.op("mean", x, axis=list(range(len(x.shape) - axes, len(x.shape))), keepdims=True)
    batched = len(x.shape) == axes + 2
    if not batched:
        x = e.reshape(x, (1, *x.shape))
    y = e.op(f"nn.adaptive_avg_pool{axes}d", x, output_size=wanted)
    return y if batched else e.reshape(y, y.shape[1:])
