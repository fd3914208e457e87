"""Index maps given as lambdas: parsing, injectivity, image, inverse and padding."""

from tir_mlir.dialect.index_maps.index_map import IndexMap, check_start, collision_text
from tir_mlir.dialect.index_maps.layout import Box, Collision, Conjunction, Layout, Padding
from tir_mlir.dialect.index_maps.map_input import unused
from tir_mlir.dialect.index_maps.predicate import Predicate
from tir_mlir.dialect.index_maps.region_map import RegionMap
from tir_mlir.dialect.index_maps.terms import SizeVariable, by_sizes

__all__ = [
    "Box",
    "Collision",
    "Conjunction",
    "IndexMap",
    "Layout",
    "Padding",
    "Predicate",
    "RegionMap",
    "SizeVariable",
    "by_sizes",
    "check_start",
    "collision_text",
    "unused",
]
