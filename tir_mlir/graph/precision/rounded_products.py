"""Products and convolutions with rounded weights, as nodes of a graph."""

from __future__ import annotations

from typing import Any

from mlir import ir

from tir_mlir.dialect.graph import Node
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.precision.formats import BFLOAT16, INT4, Format, packed_group
from tir_mlir.graph.transforms.rewriter import Rewriter

LEAST = 1e-30
"""The least step of rounded activations: those of a row of zeros."""


def is_convolution(node: Node) -> bool:
    return kind_of(node.operator) is OperatorKind.CONVOLUTION


def rounded_product(rewrite: Rewriter, node: Node, how: Format, stored: ir.Value, scale: ir.Value | None) -> ir.Value:
    """The result of a product with a rounded weight, before its node. See `quantize_weights`."""
    made = _without_bias(rewrite, node, how, stored, scale)
    return made if len(node.inputs) == 2 else rewrite.emit(node, "add", [made, node.inputs[2]])


def _without_bias(rewrite: Rewriter, node: Node, how: Format, stored: ir.Value, scale: ir.Value | None) -> ir.Value:
    if how.activations is not None and not is_convolution(node):
        given = (rewrite, node, how, stored)
        return _of_bfloat16(*given) if scale is None else _of_integers(*given, scale)
    emit = rewrite.emit
    if how.group is not None and scale is not None:
        more = {"group_size": how.group, "bits": 4 if how.name == INT4 else 8}
        return _product(rewrite, node, node.inputs[0], emit(node, "dequantize_group", [stored, scale], more))
    made = _product(rewrite, node, node.inputs[0], emit(node, "astype", [stored], {"dtype": "float32"}))
    return made if scale is None else emit(node, "multiply", [made, _along(rewrite, node, scale)])


def _product(rewrite: Rewriter, node: Node, left: ir.Value, right: ir.Value, **more: Any) -> ir.Value:
    """The operator of a node with other operands; a matmul by a dense layer, whose weight is (outputs, inputs)."""
    dense = node.operator == "matmul"
    given = {} if dense else node.attributes
    return rewrite.emit(node, "nn.dense" if dense else str(node.operator), [left, right], {**given, **more})


def _of_bfloat16(rewrite: Rewriter, node: Node, how: Format, stored: ir.Value) -> ir.Value:
    """R.nn.dense(R.astype(x, "bfloat16"), w_bfloat16, out_dtype="float32")"""
    left = rewrite.emit(node, "astype", node.inputs[:1], {"dtype": BFLOAT16})
    return _product(rewrite, node, left, stored, out_dtype="float32")


def _of_integers(rewrite: Rewriter, node: Node, how: Format, stored: ir.Value, scale: ir.Value) -> ir.Value:
    """step = max(abs(x)) / 127 of each row; R.nn.dense(int8(round(x / step)), w, out_dtype="int32") * step * scale"""
    emit, x = rewrite.emit, node.inputs[0]
    top = emit(node, "max", [emit(node, "abs", [x])], {"axis": [-1], "keepdims": True})
    step = emit(node, "multiply", [top, rewrite.number(node, 1 / 127, top)])
    step = emit(node, "maximum", [step, rewrite.number(node, LEAST, step)])
    steps = emit(node, "round", [emit(node, "divide", [x, step])])  # -127 to 127: 127 steps are the largest
    left = emit(node, "astype", [steps], {"dtype": "int8"})
    right = _unpacked(rewrite, node, stored) if how.name == INT4 else stored
    sums = emit(node, "astype", [_product(rewrite, node, left, right, out_dtype="int32")], {"dtype": "float32"})
    return emit(node, "multiply", [emit(node, "multiply", [sums, step]), scale])


def _unpacked(rewrite: Rewriter, node: Node, stored: ir.Value) -> ir.Value:
    columns = 2 * int(rewrite.type_of(stored).shape[-1])
    return rewrite.emit(node, "unpack_int4", [stored], {"group_size": packed_group(columns)})


def _along(rewrite: Rewriter, node: Node, scale: ir.Value) -> ir.Value:
    """The scales of the channels of a result, for a product with it."""
    given, rank = node.attributes, len(node.types[0].shape)
    layout = (given.get("out_layout") or given["data_layout"]) if is_convolution(node) else None
    if layout is None or layout.index("C") == rank - 1:
        return scale
    (channels,) = rewrite.type_of(scale).shape
    shape = [channels if letter == "C" else 1 for letter in layout]
    return rewrite.emit(node, "reshape", [scale], {"shape": shape})
