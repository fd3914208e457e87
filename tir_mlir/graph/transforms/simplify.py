"""Simplify a graph: operators that do nothing or undo each other, and reshapes that move out of the way."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.graph import Node, TensorType, node_of
from tir_mlir.dialect.ir import entered
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory import size_code
from tir_mlir.graph.memory.places import is_view
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.rewriter import Rewriter

_ROUNDS = 50


def simplify(graph: Graph) -> Graph:
    """Simplify until nothing changes, then erase what is dead.

    permute_dims(permute_dims(x, p), q)    ->  permute_dims(x, p[q]); gone if that is the identity
    reshape(reshape(x, s), t)              ->  reshape(x, t); gone if x has the shape t
    nn.dense(x, w, b)                      ->  nn.dense(x, w) + b
    matmul(x, w), x of rank 3, w of 2      ->  reshape(matmul(reshape(x), w)): one product
    relu(reshape(x, s))                    ->  reshape(relu(x), s), so that operators meet what they can be fused with
    """
    made = graph.clone()
    with entered():
        for _ in range(_ROUNDS):
            rewrite = Rewriter(made)
            if not sum([_simplified(rewrite, node) for node in made.func.nodes]):
                break
    return clean(made)


def _simplified(rewrite: Rewriter, node: Node) -> bool:
    """Replace a node by something simpler, if there is something. Whether it was replaced."""
    if len(node.results) != 1 or not rewrite.users(node.results[0]):
        return False
    for rule in (_identity, _permutes, _reshapes, _separate_bias, _flat_product, _reshape_below):
        value = rule(rewrite, node)
        if value is not None:
            rewrite.replace(node, value)
            return True
    return False


def _identity(rewrite: Rewriter, node: Node) -> ir.Value | None:
    """What has no effect: a reshape, cast, broadcast or permutation to what its input is, and dropout."""
    if node.operator == "nn.dropout":
        return node.inputs[0]
    if node.operator == "permute_dims":
        axes = _axes(rewrite, node)
        return node.inputs[0] if axes == list(range(len(axes))) else None
    if not is_view(node) and node.operator not in ("astype", "broadcast_to"):
        return None
    return node.inputs[0] if rewrite.type_of(node.inputs[0]) == node.types[0] else None


def _axes(rewrite: Rewriter, node: Node) -> list[int]:
    rank = len(rewrite.type_of(node.inputs[0]).shape)
    given = node.attributes.get("axes")
    return list(range(rank))[::-1] if given is None else [a % rank for a in given]


def _permutes(rewrite: Rewriter, node: Node) -> ir.Value | None:
    """Two permutations are one; one that moves only dimensions of size 1 is a reshape."""
    if node.operator != "permute_dims":
        return None
    axes = _axes(rewrite, node)
    if before := rewrite.producer(node.inputs[0], "permute_dims"):
        inner = _axes(rewrite, before)
        return rewrite.emit(node, "permute_dims", before.inputs, {"axes": [inner[a] for a in axes]})
    shape = rewrite.type_of(node.inputs[0]).shape
    moved = [a for a in axes if shape[a] != 1]
    if moved == sorted(moved):
        return rewrite.emit(node, "reshape", node.inputs, {"shape": list(node.types[0].shape)})
    return None


def _reshapes(rewrite: Rewriter, node: Node) -> ir.Value | None:
    """Two reshapes are one; all kinds are written as reshape."""
    if not is_view(node):
        return None
    before = node_of(node.inputs[0])
    if before is None or not is_view(before):
        before = None
    if before is None and node.operator == "reshape":
        return None
    source = before.inputs if before else node.inputs
    return rewrite.emit(node, "reshape", source[:1], {"shape": list(node.types[0].shape)})


def _separate_bias(rewrite: Rewriter, node: Node) -> ir.Value | None:
    """A product with a bias: the product, and a sum."""
    if node.operator != "nn.dense" or len(node.inputs) != 3:
        return None
    made = rewrite.emit(node, "nn.dense", node.inputs[:2], node.attributes)
    return rewrite.emit(node, "add", [made, node.inputs[2]])


def _flat_product(rewrite: Rewriter, node: Node) -> ir.Value | None:
    """A product of a tensor of rank > 2 by a matrix: one product of all its rows."""
    if kind_of(node.operator) is not OperatorKind.PRODUCT or len(node.inputs) != 2:
        return None
    left, right = (rewrite.type_of(v) for v in node.inputs)
    if len(left.shape) < 3 or len(right.shape) != 2:
        return None
    rows = size_code.product(left.shape[:-1])
    flat = rewrite.emit(node, "reshape", node.inputs[:1], {"shape": [rows, left.shape[-1]]})
    made = rewrite.emit(node, str(node.operator), [flat, node.inputs[1]], node.attributes)
    return rewrite.emit(node, "reshape", [made], {"shape": list(node.types[0].shape)})


def _reshape_below(rewrite: Rewriter, node: Node) -> ir.Value | None:
    """An operator of a reshaped tensor, where the reshape can come after it."""
    at = next((n for n, v in enumerate(node.inputs) if _is_moved(rewrite, node, n, v)), None)
    if at is None:
        return None
    before = rewrite.producer(node.inputs[at], "reshape")
    if before is None:
        return None
    source, shown = rewrite.type_of(before.inputs[0]), before.types[0]
    inputs = []
    for number, value in enumerate(node.inputs):
        other = before.inputs[0] if number == at else _reshaped(rewrite, node, value, source, shown)
        if other is None:
            return None
        inputs.append(other)
    made = rewrite.emit(node, str(node.operator), inputs, node.attributes)
    return rewrite.emit(node, "reshape", [made], {"shape": list(node.types[0].shape)})


def _is_moved(rewrite: Rewriter, node: Node, number: int, value: ir.Value) -> bool:
    """Whether the reshape that an input comes from may move below a node: it only adds dimensions, nobody else reads
    the reshaped tensor, and the node computes each element, or each row, from those at the same place."""
    before = rewrite.producer(value, "reshape")
    if before is None or rewrite.users(value) != 1 or before.types[0].shape != node.types[0].shape:
        return False
    source, shown = rewrite.type_of(before.inputs[0]).shape, before.types[0].shape
    if len(source) >= len(shown) or not source:
        return False
    kind = kind_of(node.operator)
    if kind is OperatorKind.ROWS:
        return number == 0 and node.attributes.get("axis") in (-1, [-1]) and source[-1] == shown[-1]
    return kind is OperatorKind.ELEMENTWISE


def _reshaped(rewrite: Rewriter, node: Node, value: ir.Value, source: TensorType, shown: TensorType) -> ir.Value | None:
    """Another operand, for a node whose operand of shape `shown` is taken in the shape `source`; None if it does not
    have one."""
    shape = rewrite.type_of(value).shape
    if all(size == 1 for size in shape) and len(shape) <= len(source.shape):
        return value
    if shape == shown.shape:
        return rewrite.emit(node, "reshape", [value], {"shape": list(source.shape)})
    along_last = len(shape) == 1 and source.shape and shown.shape and source.shape[-1] == shown.shape[-1] == shape[0]
    return value if along_last else None
