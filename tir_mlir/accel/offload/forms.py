"""The programs that compute a layer of a graph: as it is, or as a product with patches of the image."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir

from tir_mlir.accel.offload.programs import ConvolutionProgram, ProductProgram, Program
from tir_mlir.graph.rewrite import NodeCall
from tir_mlir.graph.transforms.patches import every


@dataclass(frozen=True)
class LayerForm:
    """A program of a layer, without what follows it.

    axis: of the channels in the result of the layer. operands: writes what the program reads before a node.
    """

    program: Program
    axis: int
    operands: Callable[[NodeCall], list[ir.Value]]


def forms_of(layer: NodeCall) -> list[LayerForm]:
    """The programs that compute a layer, the best first; none for one that is not a product of matrices."""
    shapes = [*layer.shape, *(size for value in layer.args[:2] for size in layer.shape_of(value))]
    if any(isinstance(size, str) for size in shapes):
        return []
    types = tuple(layer.type_of(value).dtype for value in layer.args[:2])
    dtypes = (types[0], types[1], layer.struct_info.dtype)
    match layer.op.short:
        case "nn.dense":
            return [_dense(layer, dtypes)]
        case "matmul":
            return _matmul(layer, dtypes)
        case "nn.conv2d":
            return _convolution(layer, dtypes)
    return []


def _dense(layer: NodeCall, dtypes: tuple[str, str, str]) -> LayerForm:
    """dense(x, w): x times w transposed."""
    x, w = layer.args[:2]
    *rows, depth = _sizes(layer, x)
    columns = _sizes(layer, w)[0]
    program = ProductProgram((), prod(rows), columns, depth, dtypes)

    def operands(at: NodeCall) -> list[ir.Value]:
        return [_reshape_to(at, x, (prod(rows), depth)), at.permute(w, [1, 0])]

    return LayerForm(program, len(layer.shape) - 1, operands)


def _matmul(layer: NodeCall, dtypes: tuple[str, str, str]) -> list[LayerForm]:
    """matmul(x, w), of one matrix w for all, or one for each of x."""
    x, w = layer.args[:2]
    left, right = _sizes(layer, x), _sizes(layer, w)
    if len(left) < 2 or len(right) < 2 or (len(right) > 2 and left[:-2] != right[:-2]):
        return []
    single = prod(right[:-2]) == 1
    batch = () if single else (prod(right[:-2]),)
    rows = prod(left[:-1]) if single else left[-2]
    program = ProductProgram(batch, rows, right[-1], right[-2], dtypes)
    shapes = (*batch, rows, left[-1]), (*batch, *right[-2:])

    def operands(at: NodeCall) -> list[ir.Value]:
        return [_reshape_to(at, value, shape) for value, shape in zip((x, w), shapes, strict=True)]

    return [LayerForm(program, len(layer.shape) - 1, operands)]


def _convolution(layer: NodeCall, dtypes: tuple[str, str, str]) -> list[LayerForm]:
    """conv2d(x, w) of an image with its channels last."""
    attrs = layer.attrs
    image, kernel = layer.args[:2]
    out_layout = attrs.get("out_layout") or "NHWC"
    if (attrs["data_layout"], attrs["kernel_layout"], out_layout, attrs["groups"]) != ("NHWC", "OIHW", "NHWC", 1):
        return []
    outputs, channels, *taps = _sizes(layer, kernel)
    strides, padding, dilation = (every(attrs[n], c) for n, c in (("strides", 2), ("padding", 4), ("dilation", 2)))
    if [*taps, *strides] == [1, 1, 1, 1] and not any(padding):
        return [_pixels(layer, dtypes)]
    top, left, bottom, right = padding
    n, height, width, _ = _sizes(layer, image)
    padded = n, height + top + bottom, width + left + right, channels
    widths, value = [0, 0, top, bottom, left, right, 0, 0], attrs.get("pad_value", 0)
    program = ConvolutionProgram(padded, (*taps, channels, outputs), tuple(strides), tuple(dilation), dtypes)

    def operands(at: NodeCall) -> list[ir.Value]:
        whole = image
        if any(padding):
            whole = at.emit("nn.pad", [image], {"pad_width": widths, "pad_value": value})
        return [whole, at.permute(kernel, [2, 3, 1, 0])]

    window = {name: attrs[name] for name in ("strides", "padding", "dilation")}
    window |= {"pad_value": value, "kernel": list(taps)}
    forms = [LayerForm(program, 3, operands), _patches(layer, dtypes, window, taps)]
    return forms if max(strides) == 1 else forms[::-1]  # no copy reads rows with steps: the CPU copies them anyway


def _pixels(layer: NodeCall, dtypes: tuple[str, str, str]) -> LayerForm:
    """A convolution of single pixels: each is a row."""
    image, kernel = layer.args[:2]
    outputs, channels = _sizes(layer, kernel)[:2]
    rows = prod(_sizes(layer, image)[:3])

    def operands(at: NodeCall) -> list[ir.Value]:
        matrix = at.reshape(kernel, (outputs, channels))
        return [at.reshape(image, (rows, channels)), at.permute(matrix, [1, 0])]

    return LayerForm(ProductProgram((), rows, outputs, channels, dtypes), 3, operands)


def _patches(
    layer: NodeCall, dtypes: tuple[str, str, str], window: Mapping[str, object], taps: Sequence[int]
) -> LayerForm:
    """A convolution as a product with patches of the image, which the CPU copies."""
    image, kernel = layer.args[:2]
    outputs, channels = _sizes(layer, kernel)[:2]
    depth, rows = prod(taps) * channels, prod(map(int, layer.shape[:3]))

    def operands(at: NodeCall) -> list[ir.Value]:
        patches = at.emit("nn.patches", [image], {**window, "multiple": 1})
        matrix = at.reshape(at.permute(kernel, [2, 3, 1, 0]), (depth, outputs))
        return [patches, matrix]

    return LayerForm(ProductProgram((), rows, outputs, depth, dtypes), 3, operands)


def _sizes(call: NodeCall, value: ir.Value) -> tuple[int, ...]:
    return tuple(map(int, call.shape_of(value)))


def _reshape_to(at: NodeCall, value: ir.Value, shape: tuple[int, ...]) -> ir.Value:
    return value if at.shape_of(value) == shape else at.reshape(value, shape)
