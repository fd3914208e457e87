"""IR rewrites shared by several families of schedule primitives: block iters, buffers, domains, region lists. Nothing
here checks legality.
"""

from tir_mlir.passes.schedule.edits.block_iters import NestedRegions, replace_iters
from tir_mlir.passes.schedule.edits.buffers import (
    BufferChoice,
    alloc_buffer,
    alloc_like,
    check_scope_name,
    declaring,
    drop_regions,
    find_accessed_buffer,
    find_buffer,
    first_op_after_allocs,
    follow_in_annotations,
    fresh_name,
    rename_in_regions,
)
from tir_mlir.passes.schedule.edits.common_subexpressions import (
    canonical,
    common_terms,
    contains_any,
    operands,
    values_in_order,
)
from tir_mlir.passes.schedule.edits.computed_values import (
    check_computable,
    replace_by_computed,
)
from tir_mlir.passes.schedule.edits.domains import set_domain, set_extent, shrink_domains
from tir_mlir.passes.schedule.edits.index_values import (
    EXPANDABLE,
    emit_floormod,
    emit_index,
    emit_operation,
    expand_affine_op,
    is_affine_value,
)
from tir_mlir.passes.schedule.edits.loop_nest import (
    guard_blocks,
    linear_index,
    simplify_bindings,
)
from tir_mlir.passes.schedule.edits.region_order import BlockRegions, keeps_region_order
from tir_mlir.passes.schedule.edits.retype import DYNAMIC, check_retypable, propagate_type, with_scope

__all__ = [
    "EXPANDABLE",
    "BufferChoice",
    "DYNAMIC",
    "check_computable",
    "replace_by_computed",
    "NestedRegions",
    "BlockRegions",
    "alloc_buffer",
    "alloc_like",
    "canonical",
    "check_retypable",
    "check_scope_name",
    "common_terms",
    "shrink_domains",
    "declaring",
    "drop_regions",
    "follow_in_annotations",
    "expand_affine_op",
    "propagate_type",
    "fresh_name",
    "guard_blocks",
    "first_op_after_allocs",
    "contains_any",
    "is_affine_value",
    "keeps_region_order",
    "linear_index",
    "emit_operation",
    "operands",
    "find_buffer",
    "find_accessed_buffer",
    "rename_in_regions",
    "simplify_bindings",
    "set_domain",
    "set_extent",
    "values_in_order",
    "replace_iters",
    "with_scope",
    "emit_floormod",
    "emit_index",
]
