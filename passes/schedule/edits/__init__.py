"""IR rewrites shared by several families of schedule primitives: block iters, buffers, domains, region lists. Nothing
here checks legality.
"""

from tir_mlir.passes.schedule.edits.block_iters import NestedRegions as NestedRegions
from tir_mlir.passes.schedule.edits.block_iters import replace_iters as replace_iters
from tir_mlir.passes.schedule.edits.block_iters import set_domain as set_domain
from tir_mlir.passes.schedule.edits.block_iters import set_extent as set_extent
from tir_mlir.passes.schedule.edits.block_iters import shrink_domains as shrink_domains
from tir_mlir.passes.schedule.edits.buffers import DYNAMIC as DYNAMIC
from tir_mlir.passes.schedule.edits.buffers import BufferChoice as BufferChoice
from tir_mlir.passes.schedule.edits.buffers import alloc_buffer as alloc_buffer
from tir_mlir.passes.schedule.edits.buffers import alloc_like as alloc_like
from tir_mlir.passes.schedule.edits.buffers import check_retypable as check_retypable
from tir_mlir.passes.schedule.edits.buffers import check_scope_name as check_scope_name
from tir_mlir.passes.schedule.edits.buffers import declaring as declaring
from tir_mlir.passes.schedule.edits.buffers import drop_regions as drop_regions
from tir_mlir.passes.schedule.edits.buffers import find_accessed_buffer as find_accessed_buffer
from tir_mlir.passes.schedule.edits.buffers import find_buffer as find_buffer
from tir_mlir.passes.schedule.edits.buffers import first_op_after_allocs as first_op_after_allocs
from tir_mlir.passes.schedule.edits.buffers import follow_in_annotations as follow_in_annotations
from tir_mlir.passes.schedule.edits.buffers import fresh_name as fresh_name
from tir_mlir.passes.schedule.edits.buffers import propagate_type as propagate_type
from tir_mlir.passes.schedule.edits.buffers import rename_in_regions as rename_in_regions
from tir_mlir.passes.schedule.edits.buffers import with_scope as with_scope
from tir_mlir.passes.schedule.edits.computed_values import check_computable as check_computable
from tir_mlir.passes.schedule.edits.computed_values import replace_by_computed as replace_by_computed
from tir_mlir.passes.schedule.edits.index_values import EXPANDABLE as EXPANDABLE
from tir_mlir.passes.schedule.edits.index_values import canonical as canonical
from tir_mlir.passes.schedule.edits.index_values import common_terms as common_terms
from tir_mlir.passes.schedule.edits.index_values import contains_any as contains_any
from tir_mlir.passes.schedule.edits.index_values import emit_floormod as emit_floormod
from tir_mlir.passes.schedule.edits.index_values import emit_index as emit_index
from tir_mlir.passes.schedule.edits.index_values import emit_operation as emit_operation
from tir_mlir.passes.schedule.edits.index_values import expand_affine_op as expand_affine_op
from tir_mlir.passes.schedule.edits.index_values import is_affine_value as is_affine_value
from tir_mlir.passes.schedule.edits.index_values import operands as operands
from tir_mlir.passes.schedule.edits.index_values import values_in_order as values_in_order
from tir_mlir.passes.schedule.edits.loop_nest import guard_blocks as guard_blocks
from tir_mlir.passes.schedule.edits.loop_nest import linear_index as linear_index
from tir_mlir.passes.schedule.edits.loop_nest import simplify_bindings as simplify_bindings
from tir_mlir.passes.schedule.edits.region_order import BlockRegions as BlockRegions
from tir_mlir.passes.schedule.edits.region_order import keeps_region_order as keeps_region_order
