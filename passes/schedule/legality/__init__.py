"""Legality checks shared by several families of schedule primitives: block structure, reductions, coverage. Nothing
here changes the IR.
"""

from tir_mlir.passes.schedule.legality.access_order import in_order, written_after_read
from tir_mlir.passes.schedule.legality.every_step import check_aliasing, check_concurrency, check_data_loops
from tir_mlir.passes.schedule.legality.init_placement import check_always_begins, check_visits_once
from tir_mlir.passes.schedule.legality.ordered_iters import KEEP_NEST, full_iters, refuse_ordered
from tir_mlir.passes.schedule.legality.private_nest import PrivateNest
from tir_mlir.passes.schedule.legality.reduction_order import check_reduction_order
from tir_mlir.passes.schedule.legality.scope import (
    Scope,
    check_complete,
    check_complete_or_reduction,
    check_init_runs,
    check_reduction,
    check_self_contained,
    children,
    children_using,
    consumers,
    is_ahead,
    is_child,
    is_output,
    nest_top,
    producers,
    readers,
    reads_of,
    scope_of,
    writers,
    writes_of,
)
from tir_mlir.passes.schedule.legality.stable_inputs import check_inputs_stable, check_results_stable, shared_loops
from tir_mlir.passes.schedule.legality.thread_sharing import sharing_threads
from tir_mlir.passes.schedule.legality.traps import trapping_op
from tir_mlir.passes.schedule.legality.user_words import is_vector_access, use_words
from tir_mlir.passes.schedule.legality.written_before_read import (
    accessed_elements,
    check_read_after,
    common_ancestor,
    elements_over,
    first_write,
    ops_between,
    runs_before,
    smallest_element,
    uncovered,
)

__all__ = [
    "PrivateNest",
    "refuse_ordered",
    "Scope",
    "check_aliasing",
    "check_always_begins",
    "check_complete",
    "check_complete_or_reduction",
    "full_iters",
    "KEEP_NEST",
    "check_concurrency",
    "check_data_loops",
    "check_reduction",
    "check_read_after",
    "check_reduction_order",
    "check_visits_once",
    "check_self_contained",
    "check_init_runs",
    "check_inputs_stable",
    "check_results_stable",
    "shared_loops",
    "children",
    "children_using",
    "is_ahead",
    "is_child",
    "runs_before",
    "consumers",
    "accessed_elements",
    "in_order",
    "is_output",
    "common_ancestor",
    "nest_top",
    "producers",
    "elements_over",
    "readers",
    "reads_of",
    "scope_of",
    "sharing_threads",
    "trapping_op",
    "is_vector_access",
    "use_words",
    "smallest_element",
    "ops_between",
    "uncovered",
    "writers",
    "written_after_read",
    "writes_of",
    "first_write",
]
