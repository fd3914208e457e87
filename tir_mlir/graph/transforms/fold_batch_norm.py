"""Fold batch normalization into the weights of the convolution, or product, before it."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.graph import Node, node_of
from tir_mlir.dialect.ir import entered
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.rewriter import Rewriter


def fold_batch_norm(graph: Graph) -> Graph:
    """Scale the weights of a convolution as the batch normalization after it scales its channels.

        lv = R.nn.conv2d(x, w)                              s = gamma / sqrt(var + epsilon)
        gv = R.nn.batch_norm(lv, gamma, beta, mean, var)    lv = R.nn.conv2d(x, w * s)
                                                       ->   gv = lv + (beta - mean * s)

    Also of nn.dense, and with a bias in between. One without such an operator before it becomes a product and a sum.
    Needs gamma, beta, mean, var that are weights; others are left alone. (Ioffe, Szegedy 2015, section 3.1.)
    """
    made = graph.clone()
    with entered():
        rewrite = Rewriter(made)
        for node in made.func.nodes:
            if node.operator == "nn.batch_norm" and all(rewrite.is_weight(v) for v in node.inputs[1:]):
                _fold(rewrite, node)
    return clean(made)


def _fold(rewrite: Rewriter, node: Node) -> None:
    data, gamma, beta, mean, var = node.inputs
    given, rank = node.attributes, len(rewrite.type_of(data).shape)
    axis = given["axis"] % rank
    total = rewrite.emit(node, "add", [var, rewrite.number(node, given["epsilon"], var)])
    scale = rewrite.emit(node, "rsqrt", [total])
    if given["scale"]:
        scale = rewrite.emit(node, "multiply", [scale, gamma])
    shift = rewrite.emit(node, "negative", [rewrite.emit(node, "multiply", [mean, scale])])
    if given["center"]:
        shift = rewrite.emit(node, "add", [shift, beta])
    before, bias = _scaled(rewrite, data, axis)
    if before is None:
        data = rewrite.emit(node, "multiply", [data, _along(rewrite, node, scale, axis, rank)])
    else:
        along = _output_channel(before)
        kernel = rewrite.type_of(before.inputs[1])
        wide = _along(rewrite, node, scale, along, len(kernel.shape))
        weights = rewrite.emit(node, "multiply", [before.inputs[1], wide])
        data = rewrite.emit(node, str(before.operator), [before.inputs[0], weights], before.attributes)
    if bias is not None:
        scaled = rewrite.emit(node, "multiply", [bias, _along(rewrite, node, scale, axis, rank)])
        offset = rewrite.emit(node, "add", [scaled, _along(rewrite, node, shift, axis, rank)])
    else:
        offset = _along(rewrite, node, shift, axis, rank)
    rewrite.replace(node, rewrite.emit(node, "add", [data, offset]))


def _scaled(rewrite: Rewriter, data: ir.Value, axis: int) -> tuple[Node | None, ir.Value | None]:
    """The convolution or product whose result, perhaps with a bias, is normalized; and that bias."""
    node, bias = node_of(data), None
    if node is not None and node.operator == "add" and rewrite.users(data) == 1:
        left, right = node.inputs
        if rewrite.is_weight(left):
            left, right = right, left
        if rewrite.is_weight(right) and rewrite.type_of(left).shape == node.types[0].shape:
            node, data, bias = node_of(left), left, right
    if node is None or rewrite.users(data) != 1 or not _has_output_channel(node, axis):
        return None, None
    return (node, bias) if rewrite.is_weight(node.inputs[1]) else (None, None)


def _has_output_channel(node: Node, axis: int) -> bool:
    if node.operator == "nn.dense":
        return len(node.inputs) == 2 and axis == len(node.types[0].shape) - 1
    if kind_of(node.operator) is not OperatorKind.CONVOLUTION:
        return False
    given = node.attributes
    result = given.get("out_layout") or given["data_layout"]
    return result.isalpha() and result.isupper() and given["kernel_layout"].isalpha() and result.index("C") == axis


def _output_channel(node: Node) -> int:
    return 0 if node.operator == "nn.dense" else node.attributes["kernel_layout"].index("O")


def _along(rewrite: Rewriter, node: Node, value: ir.Value, axis: int, rank: int) -> ir.Value:
    """A vector as a tensor of a rank that varies along one axis."""
    (size,) = rewrite.type_of(value).shape
    return rewrite.emit(node, "reshape", [value], {"shape": [size if a == axis else 1 for a in range(rank)]})
