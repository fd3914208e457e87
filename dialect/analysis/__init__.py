"""Memory analyses: accesses, regions, dependences, dataflow, reduction updates."""

from tir_mlir.dialect.analysis.access_relations import (
    AccessRelation,
    conflicting,
    loop_names,
    relation_of,
    relations_of,
    same_element,
    written_groups,
)
from tir_mlir.dialect.analysis.accesses import (
    READ,
    WRITE,
    Access,
    access_domain,
    is_reshaped,
    kept_dims,
    of_op,
    of_view,
)
from tir_mlir.dialect.analysis.aliasing import alias_text, aliased_pair, has_distinct_buffers, require_apart
from tir_mlir.dialect.analysis.dataflow import surely_unwritten, unwritten_reads
from tir_mlir.dialect.analysis.declared_regions import EXPLICIT, explicit, hide, hides, only_groups, trusted
from tir_mlir.dialect.analysis.dependences import lex_lt, witness
from tir_mlir.dialect.analysis.indirect_accesses import known_indices
from tir_mlir.dialect.analysis.iter_conflicts import IterConflict, iter_conflict
from tir_mlir.dialect.analysis.overwriting import read_after_write
from tir_mlir.dialect.analysis.pointers import address, base_of, declared_count, extra_offset, pointed
from tir_mlir.dialect.analysis.reduction_updates import commutative_update, is_reduction_pair, update_store
from tir_mlir.dialect.analysis.regions import (
    Region,
    as_written,
    box,
    buffers,
    computed,
    declare,
    declared,
    footprint,
    outer_iters,
    resolved,
    visible_buffers,
)

__all__ = [
    "address",
    "base_of",
    "declared_count",
    "extra_offset",
    "READ",
    "WRITE",
    "Access",
    "AccessRelation",
    "EXPLICIT",
    "IterConflict",
    "Region",
    "access_domain",
    "alias_text",
    "aliased_pair",
    "as_written",
    "box",
    "buffers",
    "commutative_update",
    "computed",
    "conflicting",
    "declare",
    "declared",
    "explicit",
    "has_distinct_buffers",
    "hide",
    "hides",
    "is_reduction_pair",
    "is_reshaped",
    "iter_conflict",
    "kept_dims",
    "known_indices",
    "lex_lt",
    "loop_names",
    "of_op",
    "of_view",
    "of_view",
    "only_groups",
    "outer_iters",
    "pointed",
    "read_after_write",
    "footprint",
    "relation_of",
    "relations_of",
    "require_apart",
    "resolved",
    "same_element",
    "surely_unwritten",
    "trusted",
    "unwritten_reads",
    "update_store",
    "visible_buffers",
    "witness",
    "written_groups",
]
