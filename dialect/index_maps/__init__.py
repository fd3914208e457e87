"""Index maps given as lambdas: parsing, injectivity, image, inverse and padding."""

from tir_mlir.dialect.index_maps.formulas import Formula, Operators, parsed
from tir_mlir.dialect.index_maps.index_map import IndexMap, check_start, collision_text
from tir_mlir.dialect.index_maps.layout import Box, Collision, Conjunction, Layout, Padding
from tir_mlir.dialect.index_maps.map_input import unused
from tir_mlir.dialect.index_maps.predicate import Predicate
from tir_mlir.dialect.index_maps.region_map import RegionMap
from tir_mlir.dialect.index_maps.terms import IndexExpr, Name, Number, Operation, SizeVariable, by_sizes, names_in

__all__ = [
    "Box",
    "Collision",
    "Conjunction",
    "Formula",
    "IndexMap",
    "Layout",
    "Name",
    "Number",
    "Operation",
    "Operators",
    "Padding",
    "Predicate",
    "RegionMap",
    "SizeVariable",
    "IndexExpr",
    "by_sizes",
    "check_start",
    "collision_text",
    "names_in",
    "parsed",
    "unused",
]
