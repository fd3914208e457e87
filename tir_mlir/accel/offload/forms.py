"""The programs that compute a layer of a graph: as it is, or as a product with patches of the image."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir

from tir_mlir.accel.offload.programs import ConvolutionProgram, ProductProgram, Program
from tir_mlir.graph.rewrite import NodeCall
from tir_mlir.graph.transforms.patches import diagonal_weights, every

_KERNEL = "OIHW"
_TOGETHER = 64
"""Channels of groups that are computed at once at most: those of the widest tiles, and little more."""


@dataclass(frozen=True)
class LayerForm:
    """A program of a layer, without what follows it.

    axis: of the channels in the result of the layer. operands: writes what the program reads before a node. together:
    the groups of a convolution of which it computes one with zeros for the others; 0 where there are no groups.
    """

    program: Program
    axis: int
    operands: Callable[[NodeCall], list[ir.Value]]
    together: int = 0


def forms_of(layer: NodeCall) -> tuple[list[LayerForm], str]:
    """The programs that compute a layer, the best first; and why there are none, if so."""
    shapes = [*layer.shape, *(size for value in layer.args[:2] for size in layer.shape_of(value))]
    if symbolic := sorted({size for size in shapes if isinstance(size, str)}):
        return [], f"its sizes are decided by a call: {', '.join(symbolic)}; programs of machines have numbers"
    types = tuple(layer.type_of(value).dtype for value in layer.args[:2])
    dtypes = (types[0], types[1], layer.struct_info.dtype)
    match layer.op.short:
        case "nn.dense":
            return [_dense(layer, dtypes)], ""
        case "matmul":
            return _matmul(layer, dtypes), "its operands are not matrices, one for each or one for all"
        case "nn.conv2d":
            return _convolution(layer, dtypes), (
                "in groups of which the weights are computed"
                if layer.attrs["groups"] != 1
                else f"its image is {layer.attrs['data_layout']}, and its kernel {layer.attrs['kernel_layout']}"
            )
    return [], f"{layer.op.name} has no program: only products and convolutions of images have"


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
    layouts = attrs["data_layout"], attrs.get("out_layout") or "NHWC"
    if layouts != ("NHWC", "NHWC") or sorted(attrs["kernel_layout"]) != sorted(_KERNEL):
        return []
    if attrs["groups"] != 1:
        return _groups(layer, dtypes)
    taps = _kernel_sizes(layer)[2:]
    strides, padding = every(attrs["strides"], 2), every(attrs["padding"], 4)
    if [*taps, *strides] == [1, 1, 1, 1] and not any(padding):
        return [_pixels(layer, dtypes)]
    window = {name: attrs[name] for name in ("strides", "padding", "dilation")}
    window |= {"pad_value": attrs.get("pad_value", 0), "kernel": list(taps)}
    forms = [_windows(layer, dtypes), _patches(layer, dtypes, window, taps)]
    return forms if max(strides) == 1 else forms[::-1]  # no copy reads rows with steps: the CPU copies them anyway


def _windows(layer: NodeCall, dtypes: tuple[str, str, str]) -> LayerForm:
    """A convolution of an image that the CPU pads."""
    outputs, channels, *taps = _kernel_sizes(layer)
    program = _convolution_program(layer, (channels,), (*taps, channels, outputs), dtypes)

    def operands(at: NodeCall) -> list[ir.Value]:
        return [_padded_image(layer, at), at.permute(_kernel(layer, at), [2, 3, 1, 0])]

    return LayerForm(program, 3, operands)


def _groups(layer: NodeCall, dtypes: tuple[str, str, str]) -> list[LayerForm]:
    """A convolution in groups: some groups together are one with weights of 0 for the channels of other groups, so that
    there are as many parts fewer; for each number of them that may fill tiles."""
    groups = int(layer.attrs["groups"])
    outputs, inputs, *taps = _kernel_sizes(layer)
    most = max(1, _TOGETHER // max(inputs, outputs // groups))
    if not layer.is_weight(layer.args[1]):
        return []

    def form(together: int) -> LayerForm:
        parts, channels = groups // together, together * inputs
        shape = (parts, *taps, channels, together * (outputs // groups))
        program = _convolution_program(layer, (parts, channels), shape, dtypes)

        def operands(at: NodeCall) -> list[ir.Value]:
            image = _padded_image(layer, at)
            view = at.reshape(image, (*at.shape_of(image)[:3], parts, channels))
            return [view, at.reshape(diagonal_weights(at, _kernel(layer, at), groups, together), shape)]

        return LayerForm(program, 3, operands, together)

    return [form(n) for n in range(1, min(groups, most) + 1) if groups % n == 0]


def _convolution_program(
    layer: NodeCall, channels: tuple[int, ...], kernel: tuple[int, ...], dtypes: tuple[str, str, str]
) -> ConvolutionProgram:
    """The program of a convolution whose image is padded, and has these dimensions for its channels."""
    n, height, width, _ = _sizes(layer, layer.args[0])
    top, left, bottom, right = every(layer.attrs["padding"], 4)
    strides, dilation = (tuple(every(layer.attrs[name], 2)) for name in ("strides", "dilation"))
    image = n, height + top + bottom, width + left + right, *channels
    return ConvolutionProgram(image, kernel, strides, dilation, dtypes)


def _padded_image(layer: NodeCall, at: NodeCall) -> ir.Value:
    """The image of a convolution with its padding."""
    image, (top, left, bottom, right) = layer.args[0], every(layer.attrs["padding"], 4)
    widths = [0, 0, top, bottom, left, right, 0, 0]
    pad_value = layer.attrs.get("pad_value", 0)
    return at.emit("nn.pad", [image], {"pad_width": widths, "pad_value": pad_value}) if any(widths) else image


def _pixels(layer: NodeCall, dtypes: tuple[str, str, str]) -> LayerForm:
    """A convolution of single pixels: each is a row."""
    image = layer.args[0]
    outputs, channels = _kernel_sizes(layer)[:2]
    rows = prod(_sizes(layer, image)[:3])

    def operands(at: NodeCall) -> list[ir.Value]:
        matrix = at.reshape(_kernel(layer, at), (outputs, channels))
        return [at.reshape(image, (rows, channels)), at.permute(matrix, [1, 0])]

    return LayerForm(ProductProgram((), rows, outputs, channels, dtypes), 3, operands)


def _patches(
    layer: NodeCall, dtypes: tuple[str, str, str], window: Mapping[str, object], taps: Sequence[int]
) -> LayerForm:
    """A convolution as a product with patches of the image, which the CPU copies."""
    outputs, channels = _kernel_sizes(layer)[:2]
    depth, rows = prod(taps) * channels, prod(map(int, layer.shape[:3]))

    def operands(at: NodeCall) -> list[ir.Value]:
        patches = at.emit("nn.patches", layer.args[:1], {**window, "multiple": 1})
        matrix = at.reshape(at.permute(_kernel(layer, at), [2, 3, 1, 0]), (depth, outputs))
        return [patches, matrix]

    return LayerForm(ProductProgram((), rows, outputs, depth, dtypes), 3, operands)


def _kernel_sizes(layer: NodeCall) -> tuple[int, ...]:
    """Of the kernel of a convolution: outputs, channels of a group, height, width."""
    sizes = dict(zip(layer.attrs["kernel_layout"], _sizes(layer, layer.args[1]), strict=True))
    return tuple(sizes[axis] for axis in _KERNEL)


def _kernel(layer: NodeCall, at: NodeCall) -> ir.Value:
    """The kernel of a convolution, in that order."""
    axes = [layer.attrs["kernel_layout"].index(axis) for axis in _KERNEL]
    return layer.args[1] if axes == sorted(axes) else at.permute(layer.args[1], axes)


def _sizes(call: NodeCall, value: ir.Value) -> tuple[int, ...]:
    return tuple(map(int, call.shape_of(value)))


def _reshape_to(at: NodeCall, value: ir.Value, shape: tuple[int, ...]) -> ir.Value:
    return value if at.shape_of(value) == shape else at.reshape(value, shape)
