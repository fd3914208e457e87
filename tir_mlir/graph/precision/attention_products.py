"""Attention as two products of activations with a softmax between them, as machines of integers compute it."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from mlir import ir

from tir_mlir.dialect.graph import create
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.rewrite import Matches, NodeCall, Rule, apply_rules, is_op
from tir_mlir.graph.transforms.simplify import simplify

IS_ATTENTION = is_op("nn.attention")


def attention_products(graph: Graph, chosen: Callable[[NodeCall], bool]) -> Graph:
    """Write the chosen attentions as their products.

        lv = R.nn.attention(q, k, v, bias,    ->    lv = R.matmul(q, R.permute_dims(k)) * scale + bias
                            layout="BHSD")          lv1 = R.matmul(R.nn.softmax(lv), v)

    chosen: of a call for which `attention_hindrance` has no reason. A mask of bool selects scores, and so does a causal
    one: what is not seen has the least number. Heads of queries that share one of keys are rows of one product.
    """

    def write(call: NodeCall, _: Matches) -> ir.Value | None:
        return _products(call) if chosen(call) else None

    return simplify(apply_rules(graph, [Rule(IS_ATTENTION(varg_default_wildcard=True), write)]))


def attention_hindrance(call: NodeCall) -> str | None:
    """Why an attention is not written as products; None if it is."""
    shapes = [call.shape_of(value) for value in call.args[:3]]
    if any(isinstance(size, str) for shape in shapes for size in shape):
        return "its sizes are symbolic"
    if call.struct_info.dtype != "float32":
        return f"it is {call.struct_info.dtype}, not float32"
    return "it reads a part of its keys" if len(call.args) > 4 else None


def _products(call: NodeCall) -> ir.Value:
    """The result of an attention by its products, before its node."""
    attrs, swap = call.attrs, [0, 2, 1, 3]
    heads_first = attrs.get("layout", "BSHD") == "BHSD"
    query, key, value = (v if heads_first else call.permute(v, swap) for v in call.args[:3])
    batch, heads, queries, depth = (int(size) for size in call.shape_of(query))
    groups, keys, width = (int(size) for size in call.shape_of(value)[1:])
    rows = heads // groups * queries
    grouped = call.reshape(query, (batch, groups, rows, depth))
    scores = call.emit("matmul", [grouped, call.permute(key, [0, 1, 3, 2])])
    scale = attrs.get("scale")
    factor = 1 / sqrt(depth) if scale is None else float(scale)
    scores = call.reshape(call.emit("multiply", [scores, call.number(factor, scores)]), (batch, heads, queries, keys))
    shares = call.emit("nn.softmax", [_see(call, scores, (queries, keys))], {"axis": -1})
    result = call.emit("matmul", [call.reshape(shares, (batch, groups, rows, keys)), value])
    result = call.reshape(result, (batch, heads, queries, width))
    return result if heads_first else call.permute(result, swap)


def _see(call: NodeCall, scores: ir.Value, shape: tuple[int, int]) -> ir.Value:
    """Scores with the bias added, and the least number where a key is not seen."""
    least = call.number(float(np.finfo(np.float32).min), scores)
    causal = call.attrs.get("causal_mask")
    if len(call.args) > 3:
        bias = call.args[3]
        is_mask = call.type_of(bias).dtype == "bool"
        scores = call.emit("where", [bias, scores, least]) if is_mask else call.emit("add", [scores, bias])
    if causal is not None:
        queries, keys = shape
        seen = np.tril(np.ones(shape, np.bool_), keys - queries if causal == "BottomRight" else 0)
        with ir.InsertionPoint(call.node.op):
            mask = call.rewriter.add(create.constant(seen, call.node.names[0]))
        scores = call.emit("where", [mask, scores, least])
    return scores
