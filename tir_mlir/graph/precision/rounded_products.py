"""Products and convolutions with rounded weights, as nodes of a graph."""

from __future__ import annotations

from typing import Any

from mlir import ir

from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.precision.formats import BFLOAT16, INT4, Format, packed_group
from tir_mlir.graph.rewrite import Call

LEAST = 1e-30
"""The least step of rounded activations: those of a row of zeros."""


def is_convolution(call: Call) -> bool:
    return kind_of(call.op.short) is OperatorKind.CONVOLUTION


def rounded_product(call: Call, how: Format, stored: ir.Value, scale: ir.Value | None) -> ir.Value:
    """The result of a product with a rounded weight, before its node. See `quantize_weights`."""
    made = _without_bias(call, how, stored, scale)
    return made if len(call.args) == 2 else call.emit("add", [made, call.args[2]])


def _without_bias(call: Call, how: Format, stored: ir.Value, scale: ir.Value | None) -> ir.Value:
    if how.activations is not None and not is_convolution(call):
        given = (call, how, stored)
        return _of_bfloat16(*given) if scale is None else _of_integers(*given, scale)
    emit = call.emit
    if how.group is not None and scale is not None:
        more = {"group_size": how.group, "bits": 4 if how.name == INT4 else 8}
        return _product(call, call.args[0], emit("dequantize_group", [stored, scale], more))
    made = _product(call, call.args[0], emit("astype", [stored], {"dtype": "float32"}))
    return made if scale is None else emit("multiply", [made, _along(call, scale)])


def _product(call: Call, left: ir.Value, right: ir.Value, **more: Any) -> ir.Value:
    """The operator of a node with other operands; a matmul by a dense layer, whose weight is (outputs, inputs)."""
    dense = call.op.short == "matmul"
    given = {} if dense else call.attrs
    return call.emit("nn.dense" if dense else call.op.short, [left, right], {**given, **more})


def _of_bfloat16(call: Call, how: Format, stored: ir.Value) -> ir.Value:
    """R.nn.dense(R.astype(x, "bfloat16"), w_bfloat16, out_dtype="float32")"""
    left = call.emit("astype", call.args[:1], {"dtype": BFLOAT16})
    return _product(call, left, stored, out_dtype="float32")


def _of_integers(call: Call, how: Format, stored: ir.Value, scale: ir.Value) -> ir.Value:
    """step = max(abs(x)) / 127 of each row; R.nn.dense(int8(round(x / step)), w, out_dtype="int32") * step * scale"""
    emit, x = call.emit, call.args[0]
    top = emit("max", [emit("abs", [x])], {"axis": [-1], "keepdims": True})
    step = emit("multiply", [top, call.number(1 / 127, top)])
    step = emit("maximum", [step, call.number(LEAST, step)])
    steps = emit("round", [emit("divide", [x, step])])  # -127 to 127: 127 steps are the largest
    left = emit("astype", [steps], {"dtype": "int8"})
    right = _unpacked(call, stored) if how.name == INT4 else stored
    sums = emit("astype", [_product(call, left, right, out_dtype="int32")], {"dtype": "float32"})
    return emit("multiply", [emit("multiply", [sums, step]), scale])


def _unpacked(call: Call, stored: ir.Value) -> ir.Value:
    columns = 2 * int(call.type_of(stored).shape[-1])
    return call.emit("unpack_int4", [stored], {"group_size": packed_group(columns)})


def _along(call: Call, scale: ir.Value) -> ir.Value:
    """The scales of the channels of a result, for a product with it."""
    given, rank = call.attrs, len(call.shape)
    layout = (given.get("out_layout") or given["data_layout"]) if is_convolution(call) else None
    if layout is None or layout.index("C") == rank - 1:
        return scale
    (channels,) = call.type_of(scale).shape
    shape = [channels if letter == "C" else 1 for letter in layout]
    return call.emit("reshape", [scale], {"shape": shape})
