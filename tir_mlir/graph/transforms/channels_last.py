"""Images with their channels last: the layout in which convolutions are fastest on a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.graph import Node
from tir_mlir.dialect.ir import entered
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.transforms.rewriter import Rewriter
from tir_mlir.graph.transforms.simplify import simplify

_TO_LAST, _TO_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]
_ROUNDS = 200


def channels_last(graph: Graph) -> Graph:
    """Compute convolutions and pools of images in NHWC, and move the permutations between them out of the way.

        lv = R.nn.conv2d(x, w)            lv = R.permute_dims(x, (0, 2, 3, 1))
        lv1 = R.nn.relu(lv)               lv1 = R.nn.relu(R.nn.conv2d(lv, w, data_layout="NHWC"))
        gv = R.nn.conv2d(lv1, w1)    ->   lv2 = R.nn.conv2d(lv1, w1, data_layout="NHWC")
                                          gv = R.permute_dims(lv2, (0, 3, 1, 2))

    Permutations move below pointwise operators, concatenations, and reductions of the image, until they meet and cancel
    each other. Weights keep their layout; those of depthwise convolutions get their channels last as well, which are
    read as vectors. A graph without convolutions of images is returned as it is.
    """
    with entered():
        if not any(_is_convolution(node) for node in graph.func.nodes):
            return graph
    made = graph.clone()
    with entered():
        rewrite = Rewriter(made)
        for node in made.func.nodes:
            if _is_convolution(node) or _is_pool(node):
                _in_last(rewrite, node)
    made = simplify(made)
    for _ in range(_ROUNDS):
        with entered():
            rewrite = Rewriter(made)
            moved = sum([_sink(rewrite, node) for node in made.func.nodes])
        made = simplify(made)
        if not moved:
            break
    return made


def _is_convolution(node: Node) -> bool:
    given = node.attributes
    layouts = given.get("data_layout"), given.get("out_layout") or "NCHW"
    return kind_of(node.operator) is OperatorKind.CONVOLUTION and layouts == ("NCHW", "NCHW")


def _is_pool(node: Node) -> bool:
    return kind_of(node.operator) is OperatorKind.POOL and node.attributes["layout"] == "NCHW"


def _in_last(rewrite: Rewriter, node: Node) -> None:
    """permute, the operator in NHWC, permute back."""
    image = rewrite.emit(node, "permute_dims", node.inputs[:1], {"axes": _TO_LAST})
    key = "data_layout" if _is_convolution(node) else "layout"
    given = {name: value for name, value in node.attributes.items() if name != "out_layout"} | {key: "NHWC"}
    kernel = node.inputs[1:]
    if _is_depthwise(rewrite, node):
        kernel = [rewrite.emit(node, "permute_dims", kernel, {"axes": [2, 3, 0, 1]})]
        given["kernel_layout"] = "HWOI"
    made = rewrite.emit(node, str(node.operator), [image, *kernel], given)
    rewrite.replace(node, rewrite.emit(node, "permute_dims", [made], {"axes": _TO_FIRST}))


def _is_depthwise(rewrite: Rewriter, node: Node) -> bool:
    """Whether a convolution has one input channel a group, and weights that can be permuted at no cost."""
    if not _is_convolution(node) or node.attributes["groups"] == 1 or node.attributes["kernel_layout"] != "OIHW":
        return False
    return rewrite.is_weight(node.inputs[1]) and rewrite.type_of(node.inputs[1]).shape[1] == 1


def _sink(rewrite: Rewriter, node: Node) -> bool:
    """Move the permutations above a node below it, if all its inputs can be had without. Whether it was done."""
    if len(node.results) != 1 or not rewrite.users(node.results[0]):
        return False
    axes = next((_axes_of(rewrite, v) for v in node.inputs if _axes_of(rewrite, v)), None)
    if axes is None or len(node.types[0].shape) not in (len(axes), len(axes) - 2):
        return False
    given = _attributes_below(node, axes)
    if given is None:
        return False
    inputs = [_before(rewrite, node, value, axes) for value in node.inputs]
    if any(value is None for value in inputs):
        return False
    made = rewrite.emit(node, str(node.operator), [v for v in inputs if v is not None], given)
    if len(node.types[0].shape) == len(axes):
        made = rewrite.emit(node, "permute_dims", [made], {"axes": axes})
    rewrite.replace(node, made)
    return True


def _axes_of(rewrite: Rewriter, value: ir.Value) -> list[int] | None:
    """The axes of the permutation to channels first that a value is the result of."""
    node = rewrite.producer(value, "permute_dims")
    return _TO_FIRST if node is not None and node.attributes.get("axes") == _TO_FIRST else None


def _attributes_below(node: Node, axes: list[int]) -> dict[str, Any] | None:
    """The attributes of an operator on tensors that are not yet permuted; None if it cannot be computed on them."""
    given, kind = dict(node.attributes), kind_of(node.operator)
    if kind is OperatorKind.ELEMENTWISE:
        return given
    if node.operator == "concat":
        return given | {"axis": axes[given["axis"] % len(axes)]}
    if kind is OperatorKind.REDUCTION:
        over = given.get("axis")
        if isinstance(over, int):
            return given | {"axis": axes[over % 4]} if given["keepdims"] else None
        if over is None or not (given["keepdims"] or sorted(a % 4 for a in over) == [2, 3]):
            return None
        return given | {"axis": [axes[a % 4] for a in over]}
    return None


def _before(rewrite: Rewriter, node: Node, value: ir.Value, axes: Sequence[int]) -> ir.Value | None:
    """An operand for the operator on tensors that are not yet permuted; None if there is none that costs nothing."""
    if _axes_of(rewrite, value):
        source = rewrite.producer(value, "permute_dims")
        return source.inputs[0] if source is not None else None
    shape = rewrite.type_of(value).shape
    if all(size == 1 for size in shape):
        return value if len(shape) in (0, len(axes)) else None
    one_pixel = len(shape) == len(axes) and shape[2] == shape[3] == 1
    if not rewrite.is_weight(value) and not one_pixel:
        return None
    full = value
    if len(shape) < len(axes):
        full = rewrite.emit(node, "reshape", [value], {"shape": [1] * (len(axes) - len(shape)) + list(shape)})
    return rewrite.emit(node, "permute_dims", [full], {"axes": _TO_LAST})
