"""Convolutions."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.fronts.aten.aten_table import aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.layers.convolution_layers import convolution, transposed_convolution


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
