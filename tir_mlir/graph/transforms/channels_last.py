"""Images with their channels last: the layout in which convolutions are fastest on a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.ir import enter_context, symbols_kept
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.rewrite import (
    Matches,
    NodeCall,
    Rewriter,
    Rule,
    apply_rules,
    is_kind,
    is_op,
    permute_type,
    wildcard,
)
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.simplify import CONVERTED, simplify
from tir_mlir.graph.transforms.simplify import RULES as SIMPLIFY

if TYPE_CHECKING:
    from tir_mlir.graph.operators.attributes import PlainAttribute

_TO_LAST, _TO_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]


def channels_last(graph: Graph) -> Graph:
    """Compute convolutions and pools of images in NHWC, and move the permutations between them out of the way.

        lv = R.nn.conv2d(x, w)            lv = R.permute_dims(x, (0, 2, 3, 1))
        lv1 = R.nn.relu(lv)               lv1 = R.nn.relu(R.nn.conv2d(lv, w, data_layout="NHWC"))
        gv = R.nn.conv2d(lv1, w1)    ->   lv2 = R.nn.conv2d(lv1, w1, data_layout="NHWC")
                                          gv = R.permute_dims(lv2, (0, 3, 1, 2))

    Permutations move below pointwise operators, concatenations, reductions of the image, and what moves parts of its
    axes, such as pixel shuffles and transposed convolutions, until they meet and cancel each other. Weights keep their
    layout; those of depthwise convolutions get their channels last as well, which are read as vectors. Pools of one
    channel remain as they are. A graph without convolutions of images is returned as it is. Convolutions of single
    pixels that no such operators connect with one of more pixels, a pool, or an image with its channels last, gain
    nothing from that layout: they are products with the image as it is, w (o, c) times x (n, c, h * w).
    """
    with enter_context():
        if not any(True for _ in Rewriter(graph).calls(_CONVOLUTION)):
            return graph
    graph = _products(graph)
    return clean(apply_rules(simplify(apply_rules(graph, IMAGES)), [*SINK, *SIMPLIFY]))


def _products(graph: Graph) -> Graph:
    """A copy of a graph with products for the convolutions of single pixels that are not connected with others."""
    copy = graph.clone()
    with enter_context(), symbols_kept(copy.module.mlir):
        for call in _separate(Rewriter(copy)):
            call.replace(_product(call))
    return copy


def _separate(rewriter: Rewriter) -> list[NodeCall]:
    """The convolutions of single pixels in groups of operators on images where no other gains from channels last."""
    permuted: dict[ir.Value, ir.Value] = {}

    def find_root(value: ir.Value) -> ir.Value:
        while value in permuted:
            value = permuted[value]
        return value

    convolutions = [call for call, _ in rewriter.calls(_CONVOLUTION)]
    pixels = {call.node.results[0]: call for call in convolutions if _is_of_pixels(call)}
    gaining = [call.node.results[0] for call in convolutions if call.node.results[0] not in pixels]
    for call, _ in rewriter.calls(_OF_IMAGES):
        made = call.node.results[0]
        is_pool = kind_of(call.op.short) is OperatorKind.POOL and _has_channels(call)
        if is_pool or any(_source(call, value) for value in call.args):
            gaining.append(made)
        for value in call.args[: 1 if kind_of(call.op.short) is OperatorKind.CONVOLUTION else None]:
            if len(call.shape_of(value)) == 4 and not call.is_weight(value) and find_root(value) != find_root(made):
                permuted[find_root(made)] = find_root(value)
    groups = set(map(find_root, gaining))
    return [call for made, call in pixels.items() if find_root(made) not in groups]


def _in_last(call: NodeCall, _: Matches) -> ir.Value:
    """max_pool2d(x) -> permute(max_pool2d(permute(x), layout="NHWC"))"""
    image = call.permute(call.args[0], _TO_LAST)
    last_type = permute_type(call.struct_info, _TO_LAST)
    return _from_last(call, call.emit_same([image], {**call.attrs, "layout": "NHWC"}, last_type))


def _convolution(call: NodeCall, _: Matches) -> ir.Value:
    """conv2d(x, w) -> permute(conv2d(permute(x), w, data_layout="NHWC"))"""
    image = call.permute(call.args[0], _TO_LAST)
    attrs = {name: value for name, value in call.attrs.items() if name != "out_layout"} | {"data_layout": "NHWC"}
    kernel = call.args[1]
    if _is_depthwise(call):
        kernel = call.permute(kernel, [2, 3, 0, 1])
        attrs["kernel_layout"] = "HWOI"
    return _from_last(call, call.emit_same([image, kernel], attrs, permute_type(call.struct_info, _TO_LAST)))


def _has_channels(call: NodeCall) -> bool:
    """Whether a pool has more than one channel: of one, which is the same in memory, pixels are computed in vectors."""
    return call.shape[1] != 1


def _is_of_pixels(call: NodeCall) -> bool:
    """Whether each pixel of the result, of known size, is that pixel of the image times one matrix."""
    attrs, kernel, made = call.attrs, call.shape_of(call.args[1]), call.struct_info
    plain = (
        call.op.short == "nn.conv2d"
        and attrs["kernel_layout"] == "OIHW"
        and attrs["groups"] == 1
        and made.dtype in ("float32", "float16")
    )
    dense = _all(attrs["strides"], 1) and _all(attrs["padding"], 0) and attrs.get("out_dtype") in (None, made.dtype)
    return plain and dense and kernel[2:] == (1, 1) and all(isinstance(size, int) for size in (*made.shape, *kernel))


def _all(sizes: int | list[int], size: int) -> bool:
    return all(n == size for n in (sizes if isinstance(sizes, (list, tuple)) else [sizes]))


def _product(call: NodeCall) -> ir.Value:
    """conv2d(x, w) -> reshape(matmul(reshape(w), reshape(x)))"""
    n, o, *sizes = call.shape
    c, pixels = call.shape_of(call.args[1])[1], prod(map(int, sizes))
    kernel, image = call.reshape(call.args[1], [o, c]), call.reshape(call.args[0], [n, c, pixels])
    return call.reshape(call.emit("matmul", [kernel, image]), [n, o, *sizes])


def _from_last(call: NodeCall, image: ir.Value) -> ir.Value:
    return call.permute(image, _TO_FIRST)


def _is_depthwise(call: NodeCall) -> bool:
    """Whether a convolution has one input channel a group, and weights that can be permuted at no cost."""
    if call.attrs["groups"] == 1 or call.attrs["kernel_layout"] != "OIHW":
        return False
    return call.is_weight(call.args[1]) and call.shape_of(call.args[1])[1] == 1


def _sink(call: NodeCall, _: Matches) -> ir.Value | None:
    """relu(permute(x)) -> permute(relu(x)), if all operands can be had without a permutation"""
    if not any(_source(call, v) for v in call.args) or len(call.shape) not in (4, 2):
        return None
    attrs = _attributes_of_last(call)
    if attrs is None:
        return None
    if not all(_is_free(call, v) for v in call.args):
        return None
    last_type = permute_type(call.struct_info, _TO_LAST) if len(call.shape) == 4 else call.struct_info
    image = call.emit_same([_in_last_layout(call, v) for v in call.args], attrs, last_type)
    return _from_last(call, image) if len(call.shape) == 4 else image


def _source(call: NodeCall, value: ir.Value) -> ir.Value | None:
    """What a value is the permutation to channels first of."""
    permute = call.defining_call(value, _PERMUTE)
    return permute.args[0] if permute is not None and permute.attrs.get("axes") == _TO_FIRST else None


def _attributes_of_last(call: NodeCall) -> dict[str, PlainAttribute] | None:
    """The attributes of an operator on tensors that are not yet permuted; None if it cannot be computed on them."""
    attrs = dict(call.attrs)
    if call.op.short == "concat":
        return attrs | {"axis": _TO_FIRST[attrs["axis"] % 4]}
    if kind_of(call.op.short) is OperatorKind.REDUCTION:
        over = attrs.get("axis")
        if isinstance(over, int):
            return attrs | {"axis": _TO_FIRST[over % 4]} if attrs["keepdims"] else None
        if over is None or not (attrs["keepdims"] or sorted(a % 4 for a in over) == [2, 3]):
            return None
        return attrs | {"axis": [_TO_FIRST[a % 4] for a in over]}
    return attrs


def _is_free(call: NodeCall, value: ir.Value) -> bool:
    """Whether an operand can be had for an operator on tensors that are not yet permuted, at no cost."""
    shape = call.shape_of(value)
    if all(size == 1 for size in shape):
        return len(shape) in (0, 4)
    one_pixel = len(shape) == 4 and shape[2] == shape[3] == 1
    return one_pixel or call.is_weight(value) or _source(call, value) is not None


def _in_last_layout(call: NodeCall, value: ir.Value) -> ir.Value:
    """An operand for the operator on tensors that are not yet permuted."""
    shape = call.shape_of(value)
    if (source := _source(call, value)) is not None or all(size == 1 for size in shape):
        return value if source is None else source
    full = value if len(shape) == 4 else call.reshape(value, [1] * (4 - len(shape)) + list(shape))
    return call.permute(full, _TO_LAST)


def _rearrange(call: NodeCall, _: Matches) -> ir.Value | None:
    """reshape(permute_dims(reshape(permute(x)))) -> permute(reshape(permute_dims(reshape(x)))), if the first reshape
    divides axes of an image into parts, and the second one joins such parts: a pixel shuffle, or one of channels"""
    moved = call.defining_call(call.args[0], _PERMUTE)
    divided = None if moved is None else call.defining_call(moved.args[0], _RESHAPE)
    source = None if divided is None else _source(call, divided.args[0])
    if source is None or moved is None or divided is None or len(call.shape) != 4:
        return None
    parts = _parts_of_axes(call.shape_of(divided.args[0]), divided.shape)
    joined = _parts_of_axes(call.shape, moved.shape)
    if parts is None or joined is None:
        return None
    order = [part for axis in _TO_LAST for part in parts[axis]]
    after = [order.index(moved.attrs["axes"][part]) for axis in _TO_LAST for part in joined[axis]]
    image = call.permute(call.reshape(source, [divided.shape[part] for part in order]), after)
    return _from_last(call, call.reshape(image, [call.shape[axis] for axis in _TO_LAST]))


def _parts_of_axes(shape: Sequence[int | str], divided: Sequence[int | str]) -> list[list[int]] | None:
    """For each axis of a shape the axes of a reshape of it that are its parts; None if one of these is of several."""
    found: list[list[int]] = []
    for size in shape:
        first = sum(map(len, found))
        ends = range(first + (size != 1 or divided[first : first + 1] == (1,)), len(divided) + 1)
        end = next((n for n in ends if _size_of(divided[first:n]) == size), None)
        if end is None:
            return None
        found.append(list(range(first, end)))
    rest = range(sum(map(len, found)), len(divided))
    found[-1] += rest
    return found if all(divided[n] == 1 for n in rest) else None


def _size_of(shape: Sequence[int | str]) -> int | str | None:
    """The number of elements, or the only size; None for several of which one is symbolic."""
    if len(shape) == 1:
        return shape[0]
    return None if any(isinstance(size, str) for size in shape) else prod(map(int, shape))


_X, _W, _PERMUTE, _RESHAPE = wildcard(), wildcard(), is_op("permute_dims"), is_op("reshape")
_CONVOLUTION = is_kind(OperatorKind.CONVOLUTION)(_X, _W).where(
    lambda call: (call.attrs["data_layout"], call.attrs.get("out_layout") or "NCHW") == ("NCHW", "NCHW")
)
IMAGES = [
    Rule(_CONVOLUTION, _convolution),
    Rule(is_kind(OperatorKind.POOL)(_X).has_attr({"layout": "NCHW"}).where(_has_channels), _in_last),
]
_MOVED = is_kind(OperatorKind.ELEMENTWISE, OperatorKind.REDUCTION) | is_op("concat")
_OF_IMAGES = (_MOVED | is_kind(OperatorKind.CONVOLUTION, OperatorKind.POOL))(varg_default_wildcard=True) | CONVERTED
SINK = [
    Rule(_MOVED(varg_default_wildcard=True), _sink),
    Rule(CONVERTED, _sink),
    Rule(_RESHAPE(_PERMUTE(_RESHAPE(_X))), _rearrange),
]
