"""Round what is added to rounded products to steps of their sums, for machines that add it before they scale."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.graph import TensorType, create, free_name
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind
from tir_mlir.graph.rewrite import NodeCall, Rewriter, is_kind, is_op
from tir_mlir.graph.transforms.lift_weights import constant_array

_PRODUCT = is_kind(OperatorKind.CONVOLUTION, OperatorKind.PRODUCT)
_DEQUANTIZE, _RESHAPE = is_op("dequantize"), is_op("reshape")


def round_biases(graph: Graph) -> None:
    """Let weights that are added to products of dequantised tensors be multiples of the steps of their sums, in place.

    y = R.nn.dense(R.dequantize(x, s), R.dequantize(w, t))       bias_int32 = round(bias / (s * t))
    R.add(y, bias)                                         ->    R.add(y, R.dequantize(bias_int32, R.multiply(s, t)))
    """
    rewriter = Rewriter(graph)
    for call, _ in list(rewriter.calls(is_op("add")(varg_default_wildcard=True))):
        for number in (0, 1):
            product = call.defining_call(call.args[number], _PRODUCT)
            bias = None if product is None else _integer_bias(graph, rewriter, call, product, call.args[1 - number])
            if bias is not None:
                call.replace(call.emit_same([call.args[number], bias]))
                break


def _integer_bias(
    graph: Graph, rewriter: Rewriter, call: NodeCall, product: NodeCall, added: ir.Value
) -> ir.Value | None:
    """What is added, rounded; None where it is not a weight of one number a channel, or the product is of floats."""
    x, w = (product.defining_call(value, _DEQUANTIZE) for value in product.args[:2])
    shaped = call.defining_call(added, _RESHAPE)
    base = added if shaped is None else shaped.args[0]
    name = rewriter.func.weight(base.arg_number) if isinstance(base, ir.BlockArgument) else None
    if x is None or w is None or name is None or call.type_of(base).dtype != "float32":
        return None
    steps = _array(graph, rewriter, x.args[1]), _array(graph, rewriter, w.args[1])
    bias = graph.weights[name].reshape(-1)
    if any(s is None for s in steps) or not np.isfinite(bias).all() or _size(call, w) not in (1, len(bias)):
        return None
    scale: Any = steps[0].reshape(-1) * steps[1].reshape(-1)  # type: ignore[union-attr]
    limits = np.iinfo(np.int32)
    rounded = np.clip(np.rint(bias.astype(np.float64) / scale), limits.min, limits.max).astype(np.int32)
    new_name = free_name(f"{name}.int32", graph.weights)
    graph.weights[new_name] = rounded
    stored = create.add_input(rewriter.func, new_name, TensorType(rounded.shape, "int32"), new_name)
    rewriter.weights.add(stored)
    factor = call.emit("multiply", [x.args[1], w.args[1]])
    wide = call.emit("dequantize", [stored, factor], {"axis": 0})
    return wide if call.shape_of(wide) == call.shape_of(added) else call.reshape(wide, call.shape_of(added))


def _size(call: NodeCall, dequantized: NodeCall) -> Any:
    return prod(int(size) for size in call.shape_of(dequantized.args[1]))


def _array(graph: Graph, rewriter: Rewriter, value: ir.Value) -> np.ndarray | None:
    """The numbers of a weight or a constant."""
    if isinstance(value, ir.BlockArgument):
        name = rewriter.func.weight(value.arg_number)
        return None if name is None else graph.weights.get(name)
    node = rewriter.definition(value)
    return constant_array(node.node) if node is not None and node.kind == "constant" else None
