"""IR rewrites shared by several families of schedule primitives: block iters, buffers, domains, region lists. Nothing
here checks legality.
"""

from tir_mlir.passes.schedule.edits.block_iters import DeclaredBelow, with_iters
from tir_mlir.passes.schedule.edits.buffers import (
    BufferChoice,
    alloc,
    check_scope_name,
    drop_declared,
    fresh_name,
    head_end,
    pick,
    pick_either,
    rename_declared,
)
from tir_mlir.passes.schedule.edits.common_subexpressions import canonical, common_terms, holds_any, parts, variables
from tir_mlir.passes.schedule.edits.domains import cut_to_reach, set_domain, set_extent
from tir_mlir.passes.schedule.edits.index_values import expanded, is_affine_value, operation, written_out
from tir_mlir.passes.schedule.edits.loop_nest import guard_blocks, linear_index, resimplify
from tir_mlir.passes.schedule.edits.region_order import Signature, keeps_region_order
from tir_mlir.passes.schedule.edits.retype import DYNAMIC, check_retypable, follow, with_scope

__all__ = [
    "BufferChoice",
    "DYNAMIC",
    "DeclaredBelow",
    "Signature",
    "alloc",
    "canonical",
    "check_retypable",
    "check_scope_name",
    "common_terms",
    "cut_to_reach",
    "drop_declared",
    "expanded",
    "follow",
    "fresh_name",
    "guard_blocks",
    "head_end",
    "holds_any",
    "is_affine_value",
    "keeps_region_order",
    "linear_index",
    "operation",
    "parts",
    "pick",
    "pick_either",
    "rename_declared",
    "resimplify",
    "set_domain",
    "set_extent",
    "variables",
    "with_iters",
    "with_scope",
    "written_out",
]
