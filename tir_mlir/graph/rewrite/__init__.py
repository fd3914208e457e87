"""One rewriter of graphs: patterns, which match nodes of MLIR, and rules, of which transforms are lists."""

from tir_mlir.graph.rewrite.pattern import (
    CallPattern,
    DFPattern,
    Op,
    is_call_dps_packed,
    is_call_tir,
    is_const,
    is_dfv,
    is_expr,
    is_gv,
    is_kind,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    make_fused_bias_activation_pattern,
    wildcard,
)
from tir_mlir.graph.rewrite.rules import (
    Matches,
    NodeCall,
    Rewriter,
    Rule,
    apply_rules,
    call_group,
    group_of,
    permute_type,
    uses,
)

__all__ = [
    "NodeCall", "CallPattern", "DFPattern", "Matches", "Op", "Rewriter", "Rule", "call_group", "group_of",
    "is_call_dps_packed", "is_call_tir", "is_const", "is_dfv", "is_expr", "is_gv", "is_kind", "is_op", "is_shape",
    "is_tuple", "is_tuple_get_item", "is_var", "make_fused_bias_activation_pattern", "permute_type", "apply_rules",
    "uses", "wildcard",
]  # fmt: skip
