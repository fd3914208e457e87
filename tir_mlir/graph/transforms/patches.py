"""Convolutions of short numbers as products with the patches of their images."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.ir import bits, enter_context
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.rewrite import NodeCall, Rewriter, Rule, apply_rules, is_op, wildcard
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.simplify import RULES as SIMPLIFY
from tir_mlir.schedules.products.short_numbers import groups_together, has_tiles, multiplies, rows_together
from tir_mlir.target import Target, chosen

if TYPE_CHECKING:
    from tir_mlir.graph.operators.attributes import PlainAttribute

TILE, DOT = 512, 32
"""Bits of the terms of a sum that a product of tiles, or a dot product, takes at once: long rows of patches are filled
up to a multiple of it."""
CELL = 4
"""Channels of an image that are copied at once: images with fewer are filled up to it, for dot products only if pieces
of rows are not multiples of it else."""


def patches(graph: Graph, target: Target | str = "llvm") -> Graph:
    """Compute convolutions of short numbers as dense layers, whose rows are the patches of pixels.

        lv = R.nn.conv2d(x, w,                        lv = R.nn.patches(x, kernel=[3, 3])      (a reshape, of one pixel)
                         data_layout="NHWC",    ->    lv1 = R.nn.dense(lv, w1, out_dtype="int32")
                         out_dtype="int32")           gv = R.reshape(lv1, [1, 56, 56, 64])

    So they have the instructions of products; patches are computed where the product reads them, a few rows at a time.
    Reshapes move below pointwise operators. Numbers are short that are summed in a wider type: integers, and the floats
    that the target has instructions for, such as bfloat16. Convolutions of symbolic sizes remain as they are. Those in
    groups are products for some groups together, whose weights for channels of other groups are 0, where the target has
    products of tiles; else they remain, as those of floats do: 0 times infinity is not a number. A graph
    without convolutions of short numbers is returned as it is.

        lv = R.nn.conv2d(x, w, groups=32)    ->    lv = R.nn.patches(x, kernel=[3, 3], parts=2)     (2, 3136, 576)
                                                   lv1 = R.matmul(lv, w1, out_dtype="int32")        (2, 3136, 64)

    Depthwise ones get weights with rows in groups, where the target multiplies those of a group at once.
    """
    cpu = chosen(target)
    with enter_context():
        if not any(_is_short(call, cpu) for kind in (_LAST, _DEPTHWISE) for call, _ in Rewriter(graph).calls(kind)):
            return graph
    products = Rule(_LAST, lambda call, _: _product(call, cpu) if _is_short(call, cpu) else None)
    depthwise = Rule(_DEPTHWISE, lambda call, _: _depthwise_in_groups(call, cpu) if _is_short(call, cpu) else None)
    return clean(apply_rules(clean(apply_rules(graph, [products, depthwise, *SIMPLIFY])), SIMPLIFY))


def _is_short(call: NodeCall, target: Target) -> bool:
    """Whether a convolution sums short numbers in a wider type, by instructions of the target."""
    if call.attrs.get("out_dtype") == "int32":
        return True
    image, kernel = (call.type_of(value).dtype for value in call.args)
    return image == kernel and image in ("bfloat16", "float16") and multiplies(target, image, kernel, "float32")


def _product(call: NodeCall, target: Target) -> ir.Value | None:
    """See `patches`."""
    image, kernel = call.args
    attrs, shape, weight = call.attrs, call.shape_of(image), call.shape_of(kernel)
    if attrs.get("out_layout") not in (None, "NHWC"):
        return None
    if any(isinstance(size, str) for size in (*shape, *weight)) or not call.is_weight(kernel):
        return None
    window = {name: attrs[name] for name in ("strides", "padding", "dilation")}
    window["pad_value"] = attrs.get("pad_value", 0)
    window["kernel"] = [int(size) for size in weight[2:]]
    if attrs["groups"] != 1:
        return _of_groups(call, window, target)
    last = call.emit("permute_dims", [kernel], {"axes": [0, 2, 3, 1]})
    types = (call.type_of(image).dtype, call.type_of(kernel).dtype, call.struct_info.dtype)
    tiles = has_tiles(target, *types[:2], types[2] if types[2] == "int32" else "float32")
    strides, padding = (every(attrs[name], count) for name, count in (("strides", 2), ("padding", 4)))
    if window["kernel"] == strides == [1, 1] and not any(padding):
        rows = call.reshape(image, [prod(int(size) for size in shape[:3]), int(weight[1])])
    else:
        if int(weight[1]) < CELL and every(attrs["dilation"], 2)[1] == 1:
            piece = strides[1] * int(weight[1]) * -(-int(weight[3]) // strides[1])
            least = CELL if tiles or piece % CELL else 0
            image, last, window = _in_cells(call, image, last, window, (strides, padding), least)
        length = prod(int(size) for size in call.shape_of(last)[1:])
        group = (TILE if tiles else DOT) // bits(call.type_of(image).dtype)
        multiple = group if length > group and length % group else 1
        rows = call.emit("nn.patches", [image], {**window, "multiple": multiple})
    matrix = _pad_kernel_rows(call, last, int(call.shape_of(rows)[1]))
    return call.reshape(call.emit("nn.dense", [rows, matrix], {"out_dtype": call.struct_info.dtype}), call.shape)


def _of_groups(call: NodeCall, window: Mapping[str, PlainAttribute], target: Target) -> ir.Value | None:
    """A convolution in groups as a batch of products, each of some groups; None where more is lost by zeros."""
    image, kernel = call.args
    outputs, inputs, *taps = (int(size) for size in call.shape_of(kernel))
    groups, of_image, of_kernel = call.attrs["groups"], call.type_of(image).dtype, call.type_of(kernel).dtype
    each = groups_together(target, (of_image, of_kernel), groups, (inputs * prod(taps), outputs // groups))
    if each is None or call.struct_info.dtype != "int32":
        return None
    parts, length, of_group = groups // each, prod(taps) * each * inputs, outputs // groups
    multiple = TILE // bits(of_image)
    rows = call.emit("nn.patches", [image], {**window, "multiple": multiple, "parts": parts})
    weight = diagonal_weights(call, kernel, groups, each)
    weight = call.reshape(weight, [parts, length, each * of_group])
    weight = call.emit("nn.pad", [weight], {"pad_width": [0, 0, 0, -length % multiple, 0, 0]})
    if parts == 1:
        weight = call.reshape(weight, call.shape_of(weight)[1:])
        return call.reshape(call.emit("matmul", [rows, weight], {"out_dtype": "int32"}), call.shape)
    product = call.emit("matmul", [rows, weight], {"out_dtype": "int32"})
    return call.reshape(call.emit("permute_dims", [product], {"axes": [1, 0, 2]}), call.shape)


def _depthwise_in_groups(call: NodeCall, target: Target) -> ir.Value | None:
    """A depthwise convolution with the rows of its weights in groups, filled with zeros, as a dot product takes them
    for each lane; None where the target has none of whole groups.

        lv = R.nn.conv2d(x, w, kernel_layout="HWOI")    ->    lv = R.nn.conv2d(x, w1, kernel_layout="HWOI4h")

    The image is padded with as many rows more, so that the result has as many as before.
    """
    image, kernel = call.args
    sizes, types = call.shape_of(kernel), (call.type_of(image).dtype, call.type_of(kernel).dtype)
    if any(isinstance(size, str) for size in (*sizes, *call.shape_of(image))) or not call.is_weight(kernel):
        return None
    tall, wide, outputs, inputs = (int(size) for size in sizes)
    each = rows_together(target, types, outputs) if inputs == 1 and outputs == call.attrs["groups"] else 1
    if each == 1 or tall == 1:
        return None
    more = -tall % each
    (top, left, bottom, right), down = every(call.attrs["padding"], 4), every(call.attrs["dilation"], 2)[0]
    filled = call.emit("nn.pad", [kernel], {"pad_width": [0, more, 0, 0, 0, 0, 0, 0]}) if more else kernel
    groups = call.reshape(filled, [(tall + more) // each, each, wide, outputs, inputs])
    weight = call.emit("permute_dims", [groups], {"axes": [0, 2, 3, 4, 1]})
    attrs = {"padding": [top, left, bottom + more * down, right], "kernel_layout": f"HWOI{each}h"}
    return call.emit_same([image, weight], {**call.attrs, **attrs}, call.struct_info)


def diagonal_weights(call: NodeCall, kernel: ir.Value, groups: int, each: int) -> ir.Value:
    """The kernel of a convolution in groups, as one for `each` groups together: 0 for the channels of other groups.

    (groups * outputs, inputs, height, width)    ->    (groups / each, height * width, each * inputs, each, outputs)
    """
    outputs, inputs, *taps = (int(size) for size in call.shape_of(kernel))
    parts, of_group, count = groups // each, outputs // groups, prod(taps)
    # zeros behind the weights of a group, as many as put the next ones on the diagonal
    weight = call.reshape(kernel, [parts, each, of_group, inputs, count])
    weight = call.emit("permute_dims", [weight], {"axes": [0, 2, 4, 1, 3]})
    weight = call.emit("nn.pad", [weight], {"pad_width": [0] * 9 + [each * inputs]})
    weight = call.reshape(weight, [parts, of_group, count, each * (each + 1) * inputs])
    weight = call.emit("strided_slice", [weight], {"axes": [3], "begin": [0], "end": [each * each * inputs]})
    weight = call.reshape(weight, [parts, of_group, count, each, each * inputs])
    return call.emit("permute_dims", [weight], {"axes": [0, 2, 4, 3, 1]})


def _pad_kernel_rows(call: NodeCall, kernel: ir.Value, length: int) -> ir.Value:
    """A kernel (outputs, height, width, inputs) as a matrix with rows of a length, filled with zeros."""
    outputs, *others = (int(size) for size in call.shape_of(kernel))
    matrix, own = call.reshape(kernel, [outputs, prod(others)]), prod(others)
    return matrix if own == length else call.emit("nn.pad", [matrix], {"pad_width": [0, 0, 0, length - own]})


def _in_cells(
    call: NodeCall,
    image: ir.Value,
    kernel: ir.Value,
    window: Mapping[str, PlainAttribute],
    moves: tuple[list[int], list[int]],
    least: int,
) -> tuple[ir.Value, ir.Value, dict[str, PlainAttribute]]:
    """An image with few channels, padded, with cells of at least `least` channels a pixel, as many pixels in one as the
    window moves on: patches are copied in pieces of adjacent cells. And the kernel and the window for it. moves:
    strides and padding.

        (1, 224, 224, 3), (64, 7, 7, 3), stride 2   ->   (1, 230, 115, 8), (64, 7, 4, 8), stride 1 along rows
    """
    strides, padding = moves
    (_, high, wide, channels), (outputs, tall, broad, _) = map(call.shape_of, (image, kernel))
    step, (top, left, bottom, right) = strides[1], padding
    cells = -(-int(broad) // step)
    columns = (int(wide) + left + right - int(broad)) // step + cells
    more = columns * step - int(wide) - left
    own = max(least, int(channels))
    fill = {"pad_width": [0, 0, top, bottom, left, max(0, more), 0, own - int(channels)]}
    padded = call.emit("nn.pad", [image], {**fill, "pad_value": window["pad_value"]})
    if more < 0:  # the window does not reach the last pixels
        padded = call.emit("strided_slice", [padded], {"axes": [2], "begin": [0], "end": [columns * step]})
    wider = call.emit(
        "nn.pad", [kernel], {"pad_width": [0, 0, 0, 0, 0, cells * step - int(broad), 0, own - int(channels)]}
    )
    cell = step * own
    view = call.reshape(padded, [call.shape_of(image)[0], int(high) + top + bottom, columns, cell])
    taps = {"kernel": [int(tall), cells], "strides": [strides[0], 1], "padding": 0}
    return view, call.reshape(wider, [outputs, tall, cells, cell]), {**window, **taps}


def every(value: object, count: int) -> list[int]:
    """An attribute that is one number for all, or one for each, in the order top, left, bottom, right."""
    entries = [int(n) for n in value] if isinstance(value, (list, tuple)) else [int(value)]  # type: ignore[call-overload]
    return entries * (count // len(entries))


_LAST = is_op("nn.conv2d")(wildcard(), wildcard()).has_attr({"data_layout": "NHWC", "kernel_layout": "OIHW"})
_DEPTHWISE = is_op("nn.conv2d")(wildcard(), wildcard()).has_attr({"data_layout": "NHWC", "kernel_layout": "HWOI"})
