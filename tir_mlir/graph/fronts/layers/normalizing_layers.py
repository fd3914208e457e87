"""Normalizations: batch, layer, group, instance, root mean square."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.fronts.emitter import Emitter


def _vector(e: Emitter, given: Any, like: Any, size: Any, number: float) -> Any:
    return e.broadcast(e.constant(number, like.dtype), (size,)) if given is None else given


def batch_norm(e: Emitter, x: Any, scale: Any, shift: Any, mean: Any, variance: Any, eps: float) -> Any:
    """(x - mean) / sqrt(variance + eps) * scale + shift for channels at axis 1."""
    scale, shift = _vector(e, scale, mean, mean.shape[0], 1), _vector(e, shift, mean, mean.shape[0], 0)
    y = e.op("nn.batch_norm", x, scale, shift, mean, variance, axis=1, epsilon=eps)
    return y[0] if isinstance(y, (tuple, list)) else y


def layer_norm(e: Emitter, x: Any, last_axes: int, scale: Any, shift: Any, eps: float) -> Any:
    """Mean 0 and variance 1 over the last axes, times scale, plus shift."""
    shape = tuple(x.shape[len(x.shape) - last_axes :])
    scale = e.broadcast(e.constant(1, x.dtype), shape) if scale is None else scale
    shift = e.broadcast(e.constant(0, x.dtype), shape) if shift is None else shift
    return e.op("nn.layer_norm", x, scale, shift, axis=list(range(-last_axes, 0)), epsilon=eps)


def rms_norm(e: Emitter, x: Any, last_axes: int, scale: Any, eps: float) -> Any:
    """x / sqrt(mean(x * x) + eps) over the last axes, times scale."""
    shape = tuple(x.shape[len(x.shape) - last_axes :])
    scale = e.broadcast(e.constant(1, x.dtype), shape) if scale is None else scale
    return e.op("nn.rms_norm", x, scale, axis=list(range(-last_axes, 0)), epsilon=eps)


def group_norm(e: Emitter, x: Any, groups: int, scale: Any, shift: Any, eps: float) -> Any:
    """Mean 0 and variance 1 over the channels of a group and all axes behind them, then scale and shift by channel."""
    channels = x.shape[1]
    scale, shift = _vector(e, scale, x, channels, 1), _vector(e, shift, x, channels, 0)
    axes = list(range(2, len(x.shape)))
    return e.op("nn.group_norm", x, scale, shift, num_groups=groups, channel_axis=1, axes=axes, epsilon=eps)
