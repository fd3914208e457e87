"""Integer reasoning on affine expressions, by interval arithmetic and isl sets: simplification under ranges, full boxes
of loops, implied guards, conditions on shape variables.
"""

from tir_mlir.dialect.presburger.assumptions import assume, speaks_of_sizes
from tir_mlir.dialect.presburger.digits import index_sums
from tir_mlir.dialect.presburger.full_box import (
    NotABox,
    Span,
    box_of,
    boxes_cover,
    fills_constant_domain,
    is_full_box,
    is_injective,
    span,
)
from tir_mlir.dialect.presburger.guards import either, sides
from tir_mlir.dialect.presburger.intervals import Bound, ValueRanges, around
from tir_mlir.dialect.presburger.isl_exprs import recover, to_index
from tir_mlir.dialect.presburger.linear_terms import (
    DimFactors,
    LinearTerms,
    Split,
    dim_factors,
    has_division,
    linear_terms,
    split_linear,
    summands,
    times,
)
from tir_mlir.dialect.presburger.sets import (
    Domain,
    constraint_set,
    dim_type,
    domain,
    flatten,
    guard_set,
    holds,
    local_space,
    nonneg,
    question,
    region_map,
    sizes,
    smallest_point,
    to_aff,
    zeros,
)
from tir_mlir.dialect.presburger.simplify import fold_expr, fold_index, simplify_expr, simplify_index
from tir_mlir.dialect.presburger.size_conditions import only_where, promised, sizes_without

__all__ = [
    "Bound",
    "ValueRanges",
    "DimFactors",
    "Domain",
    "LinearTerms",
    "NotABox",
    "Span",
    "Split",
    "around",
    "assume",
    "box_of",
    "boxes_cover",
    "constraint_set",
    "dim_factors",
    "dim_type",
    "domain",
    "either",
    "flatten",
    "fold_expr",
    "fold_index",
    "guard_set",
    "has_division",
    "index_sums",
    "holds",
    "fills_constant_domain",
    "is_full_box",
    "is_injective",
    "linear_terms",
    "local_space",
    "nonneg",
    "only_where",
    "promised",
    "question",
    "recover",
    "region_map",
    "sides",
    "simplify_expr",
    "simplify_index",
    "sizes",
    "sizes_without",
    "smallest_point",
    "span",
    "speaks_of_sizes",
    "split_linear",
    "summands",
    "times",
    "to_aff",
    "to_index",
    "zeros",
]
