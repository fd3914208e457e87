"""Patterns of expressions: what to look for in a graph, and what to write instead."""

from tir_mlir.graph.patterns.matching import var_values
from tir_mlir.graph.patterns.pattern import (
    CallPattern,
    DFPattern,
    is_call_dps_packed,
    is_call_tir,
    is_const,
    is_dfv,
    is_expr,
    is_gv,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    make_fused_bias_activation_pattern,
    wildcard,
)
from tir_mlir.graph.patterns.rewriting import PatternContext, rewrite_bindings, rewrite_call

__all__ = [
    "CallPattern", "DFPattern", "PatternContext", "is_call_dps_packed", "is_call_tir", "is_const", "is_dfv", "is_expr",
    "is_gv", "is_op", "is_shape", "is_tuple", "is_tuple_get_item", "is_var", "make_fused_bias_activation_pattern",
    "rewrite_bindings", "rewrite_call", "var_values", "wildcard",
]  # fmt: skip
