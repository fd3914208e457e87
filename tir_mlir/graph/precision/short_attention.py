"""Attention of short floats whose weights have the type of the values, for tiles and dot products of a CPU."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.rewrite import NodeCall, Rewriter, Rule, apply_rules, is_op
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.schedules.programs.attention import multiplies_short
from tir_mlir.target import Target, chosen

_ATTENTION = is_op("nn.attention")(varg_default_wildcard=True)
_WEIGHTS = "weights_dtype"


def short_attention(graph: Graph, target: Target | str = "llvm") -> Graph:
    """Round the weights of attention to the type of the values, where the target has tiles or dot products of it.

        lv = R.nn.attention(q, k, v)    ->    lv = R.nn.attention(q, k, v, weights_dtype="bfloat16")

    Only weights are rounded, each once, as PyTorch rounds them: scores, their exponentials and all sums remain float32.
    What remains as it is: other types, symbolic sizes, a part of the keys, keys that several heads share, and sizes
    that are not whole blocks of tiles; for dot products, keys and elements of values that do not fill vectors.
    """
    cpu = chosen(target)
    with enter_context():
        if not any(_is_short(call, cpu) for call, _ in Rewriter(graph).calls(_ATTENTION)):
            return graph
    return clean(apply_rules(graph, [Rule(_ATTENTION, lambda call, _: _short_weights(call, cpu))]))


def _short_weights(call: NodeCall, target: Target) -> ir.Value | None:
    """The same attention with rounded weights; None if it remains."""
    if not _is_short(call, target):
        return None
    attrs = {**call.attrs, _WEIGHTS: call.type_of(call.args[2]).dtype}
    return call.emit("nn.attention", list(call.args), attrs, call.struct_info)


def _is_short(call: NodeCall, target: Target) -> bool:
    """Whether the target multiplies the values of an attention by weights of their type."""
    query, key, value, *others = (call.type_of(x) for x in call.args)
    if len(others) > 1 or _WEIGHTS in call.attrs:
        return False
    heads, rows = (1, 2) if call.attrs.get("layout", "BSHD") == "BHSD" else (2, 1)
    sizes = [query.shape[rows], key.shape[rows], key.shape[3], value.shape[3]]
    whole = [n for n in sizes if isinstance(n, int)]
    return query.shape[heads] == key.shape[heads] and len(whole) == 4 and multiplies_short(target, value.dtype, *whole)
