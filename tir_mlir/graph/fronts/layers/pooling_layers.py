"""Pooling over the last axes, channels first."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.fronts.emitter import Emitter
from tir_mlir.graph.fronts.layers.convolution_layers import every_axis
from tir_mlir.topi.nn.pooling import max_pool_with_indices


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
    size, *window = _window(axes, size, stride, padding, dilation)
    named = dict(zip(("strides", "padding", "dilation"), window, strict=True))
    batched, operator = _batched(e, x, axes), f"nn.{kind}_pool{axes}d"
    y = e.op(operator, batched, pool_size=size, **named, ceil_mode=ceil_mode, count_include_pad=count_include_pad)
    return y if batched is x else e.reshape(y, y.shape[1:])


def pool_with_indices(
    e: Emitter, x: Any, axes: int, size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, **order: bool
) -> list[Any]:
    """The maxima and their indices. order: `columns` and `of_image` of `max_pool_with_indices`."""
    window, batched = _window(axes, size, stride, padding, dilation), _batched(e, x, axes)
    both = e.builder.call_te(max_pool_with_indices, batched, *window, ceil_mode, **order)
    return [y if batched is x else e.reshape(y, y.shape[1:]) for y in both]


def _window(axes: int, size: Any, stride: Any, padding: Any, dilation: Any) -> tuple[list[int], ...]:
    """Size, strides, padding on both sides, and dilation of windows, with a number for each axis."""
    size, padding = every_axis(size, axes), every_axis(padding, axes)
    sides = padding if len(padding) == 2 * axes else [*padding, *padding]
    return size, every_axis(stride, axes) if stride else size, sides, every_axis(dilation, axes)


def _batched(e: Emitter, x: Any, axes: int) -> Any:
    return x if len(x.shape) == axes + 2 else e.reshape(x, (1, *x.shape))


def adaptive_mean(e: Emitter, x: Any, axes: int, size: Any) -> Any:
    """The means of size[a] equal parts of each of the last axes; None: as many as there are."""
    wanted = [n if s is None else s for s, n in zip(every_axis(size, axes), x.shape[-axes:], strict=True)]
    if all(isinstance(s, int) and s == 1 for s in wanted):
        return e.op("mean", x, axis=list(range(len(x.shape) - axes, len(x.shape))), keepdims=True)
    batched = _batched(e, x, axes)
    y = e.op(f"nn.adaptive_avg_pool{axes}d", batched, output_size=wanted)
    return y if batched is x else e.reshape(y, y.shape[1:])
