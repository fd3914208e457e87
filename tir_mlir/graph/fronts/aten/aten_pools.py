"""Pooling."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.aten.aten_table import Translation, aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.layers.pooling_layers import adaptive_mean, pool, pool_with_indices


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
