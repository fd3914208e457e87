"""Fold batch normalization into the weights of the convolution, or product, before it."""

from __future__ import annotations

from functools import partial

from mlir import ir

from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind
from tir_mlir.graph.rewrite import Matches, NodeCall, Rule, apply_rules, is_kind, is_op, uses, wildcard
from tir_mlir.graph.transforms.clean import clean


def fold_batch_norm(graph: Graph) -> Graph:
    """Scale the weights of a convolution as the batch normalization after it scales its channels.

        lv = R.nn.conv2d(x, w)                              s = gamma / sqrt(var + epsilon)
        gv = R.nn.batch_norm(lv, gamma, beta, mean, var)    lv = R.nn.conv2d(x, w * s)
                                                       ->   gv = lv + (beta - mean * s)

    Also of nn.dense, and with a bias in between. One without such an operator before it becomes a product and a sum.
    Needs gamma, beta, mean, var that are weights; others are left alone. (Ioffe, Szegedy 2015, section 3.1.)
    """
    return clean(apply_rules(graph, RULES))


def _fold(call: NodeCall, matches: Matches) -> ir.Value | None:
    """See `fold_batch_norm`."""
    data, gamma, beta, mean, var = call.args
    if not all(call.is_weight(v) for v in (gamma, beta, mean, var)):
        return None
    axis = call.attrs["axis"] % len(call.shape)
    total = call.emit("add", [var, call.number(call.attrs["epsilon"], var)])
    scale = call.emit("rsqrt", [total])
    if call.attrs["scale"]:
        scale = call.emit("multiply", [scale, gamma])
    shift = call.emit("negative", [call.emit("multiply", [mean, scale])])
    if call.attrs["center"]:
        shift = call.emit("add", [shift, beta])
    product, bias = _normalized_product(call, data, axis)
    along = partial(_reshape_along_axis, call, axis=axis, rank=len(call.shape))
    if product is None:
        data = call.emit("multiply", [data, along(scale)])
    else:
        kernel = product.args[1]
        scales = _reshape_along_axis(call, scale, _output_channel(product), len(call.shape_of(kernel)))
        weights = call.emit("multiply", [kernel, scales])
        data = call.emit(product.op.short, [product.args[0], weights], product.attrs, product.struct_info)
    if bias is None:
        return call.emit("add", [data, along(shift)])
    scaled = call.emit("multiply", [bias, along(scale)])
    return call.emit("add", [data, call.emit("add", [scaled, along(shift)])])


def _normalized_product(call: NodeCall, data: ir.Value, axis: int) -> tuple[NodeCall | None, ir.Value | None]:
    """The convolution or product whose result, perhaps with a bias, is normalized; and that bias."""
    bias = None
    if (total := call.defining_call(data, is_op("add"))) is not None and uses(data) == 1:
        lhs, rhs = total.args
        if call.is_weight(lhs):
            lhs, rhs = rhs, lhs
        if call.is_weight(rhs) and call.shape_of(lhs) == total.shape:
            data, bias = lhs, rhs
    product = call.defining_call(data, is_kind(OperatorKind.CONVOLUTION) | is_op("nn.dense"))
    if product is None or uses(data) != 1 or not _has_output_channel(product, axis):
        return None, None
    return (product, bias) if call.is_weight(product.args[1]) else (None, None)


def _has_output_channel(call: NodeCall, axis: int) -> bool:
    if call.op.short == "nn.dense":
        return len(call.args) == 2 and axis == len(call.shape) - 1
    kernel = call.attrs["kernel_layout"]
    result = call.attrs.get("out_layout") or call.attrs["data_layout"]
    return result.isalpha() and result.isupper() and kernel.isalpha() and result.index("C") == axis


def _output_channel(call: NodeCall) -> int:
    return 0 if call.op.short == "nn.dense" else call.attrs["kernel_layout"].index("O")


def _reshape_along_axis(call: NodeCall, value: ir.Value, axis: int, rank: int) -> ir.Value:
    """A vector as a tensor of a rank that varies along one axis."""
    (size,) = call.shape_of(value)
    return call.reshape(value, [size if a == axis else 1 for a in range(rank)])


RULES = [Rule(is_op("nn.batch_norm")(*(wildcard() for _ in range(5))), _fold)]
