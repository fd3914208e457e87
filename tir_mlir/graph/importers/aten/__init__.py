"""The operators of PyTorch (ATen) as operators of a graph, by family. `translations()`: by name."""

from tir_mlir.graph.importers.aten import (
    aten_data_sizes,
    aten_elementwise,
    aten_images,
    aten_layers,
    aten_ordering,
    aten_quantized,
    aten_random,
    aten_recurrent,
    aten_reductions,
    aten_scatters,
    aten_shapes,
)
from tir_mlir.graph.importers.aten.aten_table import translations

FAMILIES = (
    aten_data_sizes,
    aten_elementwise,
    aten_images,
    aten_layers,
    aten_ordering,
    aten_quantized,
    aten_random,
    aten_recurrent,
    aten_reductions,
    aten_scatters,
    aten_shapes,
)

__all__ = ["FAMILIES", "translations"]
