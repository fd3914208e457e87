"""`from_onnx`, and the operators of ONNX as operators of a graph, by family. `translations()`: by name."""

from tir_mlir.graph.fronts.onnx_model import (
    onnx_control,
    onnx_elementwise,
    onnx_layers,
    onnx_sequences,
    onnx_shapes,
)
from tir_mlir.graph.fronts.onnx_model.onnx_emitter import translations

FAMILIES = (onnx_control, onnx_elementwise, onnx_layers, onnx_sequences, onnx_shapes)

__all__ = ["FAMILIES", "translations"]
