"""Index maps given as lambdas: parsing, injectivity, image, inverse and padding."""

from tir_mlir.dialect.index_maps.index_map import IndexMap as IndexMap
from tir_mlir.dialect.index_maps.index_map import check_start as check_start
from tir_mlir.dialect.index_maps.index_map import collision_text as collision_text
from tir_mlir.dialect.index_maps.layout import Box as Box
from tir_mlir.dialect.index_maps.layout import Collision as Collision
from tir_mlir.dialect.index_maps.layout import Conjunction as Conjunction
from tir_mlir.dialect.index_maps.layout import Layout as Layout
from tir_mlir.dialect.index_maps.layout import Padding as Padding
from tir_mlir.dialect.index_maps.map_input import unused_name as unused_name
from tir_mlir.dialect.index_maps.predicate import Predicate as Predicate
from tir_mlir.dialect.index_maps.region_map import RegionMap as RegionMap
from tir_mlir.dialect.index_maps.terms import SizeVariable as SizeVariable
from tir_mlir.dialect.index_maps.terms import by_sizes as by_sizes
