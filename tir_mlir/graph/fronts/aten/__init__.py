"""The operators of PyTorch (ATen) as operators of a graph, by family. `translations()`: by name."""

from tir_mlir.graph.fronts.aten import (
    aten_activations,
    aten_arithmetic,
    aten_attention,
    aten_casts,
    aten_comparisons,
    aten_convolutions,
    aten_creation,
    aten_functions,
    aten_indexing,
    aten_normalizations,
    aten_pools,
    aten_products,
    aten_reductions,
    aten_resizing,
    aten_shapes,
    aten_slices,
)
from tir_mlir.graph.fronts.aten.aten_table import translations

FAMILIES = (
    aten_activations, aten_arithmetic, aten_attention, aten_casts, aten_comparisons, aten_convolutions, aten_creation,
    aten_functions, aten_indexing, aten_normalizations, aten_pools, aten_products, aten_reductions, aten_resizing,
    aten_shapes, aten_slices,
)  # fmt: skip

__all__ = ["FAMILIES", "translations"]
