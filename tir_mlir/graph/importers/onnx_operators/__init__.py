"""The operators of ONNX as operators of a graph, by family. `translations()`: by name."""

from tir_mlir.graph.importers.onnx_operators import (
    onnx_attention,
    onnx_control,
    onnx_data_sizes,
    onnx_elementwise,
    onnx_images,
    onnx_layers,
    onnx_microsoft,
    onnx_microsoft_quantized,
    onnx_quantized,
    onnx_recurrent,
    onnx_resize,
    onnx_scatters,
    onnx_sequences,
    onnx_shapes,
    onnx_signals,
)
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import translations

FAMILIES = (
    onnx_attention,
    onnx_control,
    onnx_data_sizes,
    onnx_elementwise,
    onnx_images,
    onnx_layers,
    onnx_microsoft,
    onnx_microsoft_quantized,
    onnx_quantized,
    onnx_recurrent,
    onnx_resize,
    onnx_scatters,
    onnx_sequences,
    onnx_shapes,
    onnx_signals,
)

__all__ = ["FAMILIES", "translations"]
