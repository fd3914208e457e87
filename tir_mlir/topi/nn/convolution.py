"""Convolutions of images and sequences, in any layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tir_mlir import te
from tir_mlir.topi.layouts import BlockedPosition, Position, TensorLayout, flat_position, layout
from tir_mlir.topi.nn.padding import pad_axes, window_padding
from tir_mlir.topi.operands import Ints, as_type, describe_tensor, factor_type, integer, integers, refuse, tensor
from tir_mlir.topi.products import sum_type
from tir_mlir.topi.reductions import narrow
from tir_mlir.topi.sizes import are_equal, exact_quotient, floor_quotient, number, simple

if TYPE_CHECKING:
    from tir_mlir.te.tensor import ReductionValue

__all__ = ["conv1d", "conv2d", "conv3d"]


@dataclass(frozen=True)
class Window:
    """The window of a convolution or a pool: strides, padding (before, after) and dilation of each spatial axis."""

    strides: tuple[int, ...]
    padding: list[tuple[int, int]]
    dilation: tuple[int, ...]

    @classmethod
    def from_arguments(cls, op: str, strides: Ints, padding: Ints, dilation: Ints, count: int) -> Window:
        return cls(
            integers(op, "strides", strides, count, 1),
            window_padding(op, padding, count),
            integers(op, "dilation", dilation, count, 1),
        )

    def result(self, op: str, sizes: Sequence[te.Size], kernel: Sequence[te.Size]) -> list[te.Size]:
        """The sizes of the result. Raises GraphError if the window does not fit."""
        out_sizes = []
        for size, k, s, (p, q), d in zip(sizes, kernel, self.strides, self.padding, self.dilation, strict=True):
            last_start = simple(size + p + q - d * (k - 1) - 1)
            if isinstance(last_start, int) and last_start < 0:
                problem = f"a window of {simple(d * (k - 1) + 1)} does not fit in {simple(size + p + q)} with padding"
                raise refuse(op, problem, "use a larger input, more padding, or a smaller window")
            out_sizes.append(simple(floor_quotient(last_start, s) + 1))
        return out_sizes


def convolve(
    op: str,
    data: te.Tensor,
    kernel: te.Tensor,
    window: Window,
    groups: int,
    layouts: tuple[TensorLayout, TensorLayout, TensorLayout],
    spatial: str,
    out_dtype: str | None,
    names: tuple[str, str] | None = None,
    pad_value: int = 0,
) -> te.Tensor:
    """A convolution of a tensor in one layout with weights in another, to a third. `spatial`: its letters, `HW`.

    names: of the blocks that pad and that sum; default `pad_temp` and, in groups, `group_conv2d_nchw`.
    """
    x, w = tensor(op, "data", data), tensor(op, "kernel", kernel)
    dtype = factor_type(op, out_dtype, data=x, kernel=w)
    source, weights, target = layouts
    sizes, kernel_sizes = source.sizes(op, "data", x), weights.sizes(op, "kernel", w)
    _check_channels(op, x, w, sizes["C"], kernel_sizes, groups)
    outs = window.result(op, [sizes[a] for a in spatial], [kernel_sizes[a] for a in spatial])
    sides = dict(zip(source.axis_numbers(spatial), window.padding, strict=True))
    plain = f"{'group_' * (groups > 1)}{op.removeprefix('nn.')}_{target.text.lower()}"
    pad_name, name = names or ("pad_temp", plain)
    image = pad_axes(x, sides, pad_value, pad_name)
    channels = _Channels(sizes["C"], kernel_sizes, groups, source.factors.get("C") if groups == 1 else None)
    taps = [te.reduce_axis((0, kernel_sizes[a]), name=f"r{a.lower()}") for a in spatial]
    steps = list(zip(spatial, window.strides, window.dilation, taps, strict=True))
    added = sum_type(dtype, out_dtype)
    shape = target.shape(op, {"N": sizes["N"], "C": kernel_sizes["O"], **dict(zip(spatial, outs, strict=True))})
    if channels.depthwise and spatial[0] in weights.factors:
        element = _sum_of_groups(image, w, layouts, window, spatial, (kernel_sizes, outs[0]), channels, added)
        return narrow(te.compute(shape, element, name=name), out_dtype or dtype)

    def element(*i: te.Expr) -> ReductionValue:
        pos = target.positions(i)
        read_pos = {a: flat_position(pos[a]) * s + t * d for a, s, d, t in steps}
        value = image(*source.index({"N": pos["N"], "C": channels.read(pos["C"]), **read_pos}))
        weight = w(*weights.index({"O": pos["C"], "I": channels.inner(), **dict(zip(spatial, taps, strict=True))}))
        return te.sum(as_type(value, x.dtype, added) * as_type(weight, w.dtype, added), axis=[*channels.axes, *taps])

    return narrow(te.compute(shape, element, name=name), out_dtype or dtype)


def _sum_of_groups(
    image: te.Tensor, w: te.Tensor, layouts: tuple[TensorLayout, TensorLayout, TensorLayout], window: Window,
    spatial: str, rows: tuple[dict[str, te.Size], te.Size], channels: _Channels, added: str,
) -> Callable[..., ReductionValue]:  # fmt: skip
    """The sum of a depthwise convolution whose weights have rows in groups, `HWOI4h`: the rows of the image that a
    group is multiplied with are adjacent as well, in a copy. rows: the sizes of the weights, and rows of the result.

        (N, H, W, C)    ->    (N, rows of the result, groups, W, C, rows of a group)
    """
    (source, weights, target), (kernel, outs), (first, *others) = layouts, rows, spatial
    each, (s_0, *strides), (d_0, *dilation) = weights.factors[first], window.strides, window.dilation
    sizes = dict(zip(source.axes, image.shape, strict=True))

    def adjacent(n: te.Expr, row: te.Expr, group: te.Expr, *i: te.Expr) -> te.Expr:
        *inner, c, r = i
        read_pos = {first: row * s_0 + (group * each + r) * d_0, **dict(zip(others, inner, strict=True))}
        return image(*source.index({"N": n, "C": c, **read_pos}))

    groups = exact_quotient([kernel[first]], [each])
    assert groups is not None  # the layout has whole groups
    inner_sizes = (*(sizes[a] for a in others), channels.groups, each)
    copied = te.compute((sizes["N"], outs, groups, *inner_sizes), adjacent, name="rows_in_groups")
    group, r = (te.reduce_axis((0, n), name=f"r{first.lower()}{part}") for n, part in ((groups, ""), (each, "i")))
    taps = [te.reduce_axis((0, kernel[a]), name=f"r{a.lower()}") for a in others]

    def element(*i: te.Expr) -> ReductionValue:
        pos = target.positions(i)
        inner = [flat_position(pos[a]) * s + t * d for a, s, t, d in zip(others, strides, taps, dilation, strict=True)]
        n, row, c = (flat_position(p) for p in (pos["N"], pos[first], channels.read(pos["C"])))
        value = copied(n, row, group, *inner, c, r)
        at = {"O": pos["C"], "I": 0, first: BlockedPosition(group, r, each), **dict(zip(others, taps, strict=True))}
        product = as_type(value, image.dtype, added) * as_type(w(*weights.index(at)), w.dtype, added)
        return te.sum(product, axis=[group, *taps, r])

    return element


class _Channels:
    """The channels that one result sums over: `axes` are the reductions. A depthwise convolution has none."""

    def __init__(self, total: te.Size, kernel: dict[str, te.Size], groups: int, block: int | None):
        self.groups, self.each, self.results = groups, kernel["I"], kernel["O"]
        self.depthwise = groups > 1 and are_equal(self.each, 1)
        self.block = block
        if self.depthwise:
            self.axes = []
        elif block:
            outer = exact_quotient([total], [block])
            assert outer is not None  # the layout has whole blocks
            self.axes = [te.reduce_axis((0, outer), name="rc"), te.reduce_axis((0, block), name="rci")]
        else:
            self.axes = [te.reduce_axis((0, self.each), name="rc")]

    def inner(self) -> Position:
        """The position among the channels of a group."""
        if self.depthwise:
            return 0
        return BlockedPosition(self.axes[0], self.axes[1], self.block) if self.block else self.axes[0]

    def read(self, result: Position) -> Position:
        """The position of the channel of the data that a channel of the result reads."""
        if self.groups == 1:
            return self.inner()
        if self.depthwise and self.results == self.groups:
            return result
        group = flat_position(result) // (self.results // self.groups)
        return group if self.depthwise else group * self.each + self.axes[0]


def _check_channels(
    op: str, x: te.Tensor, w: te.Tensor, total: te.Size, kernel: dict[str, te.Size], groups: int
) -> None:
    operands_text = f"{describe_tensor('data', x)} and {describe_tensor('kernel', w)}"
    if not are_equal(total, kernel["I"] * groups):
        grouping = f" in {groups} groups" if groups > 1 else ""
        problem = f"{operands_text}: {total} channels, but the kernel reads {kernel['I']}{grouping}"
        raise refuse(op, problem, "pass a kernel for channels / groups, and the right layouts")
    if groups > 1 and ((results := number(kernel["O"])) is None or results % groups):
        raise refuse(
            op, f"{operands_text}: {kernel['O']} results in {groups} groups", "use groups that divide the results"
        )


def _plain(op: str, letters: str, kernel_text: str):
    """A convolution over the spatial axes `letters` with the arguments of TVM's operators."""
    default = f"NC{letters}"

    def operator(
        data: te.Tensor,
        kernel: te.Tensor,
        strides: Ints = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        data_layout: str = default,
        kernel_layout: str = kernel_text,
        out_dtype: str | None = None,
        groups: int = 1,
        out_layout: str | None = None,
        pad_value: int = 0,
    ) -> te.Tensor:
        """Convolution over the spatial axes: (N, C, sizes), (O, I, window) -> (N, O, sizes), axes as the layouts say.

        strides, dilation: one number, or one for each axis; padding: also one for each side (before.., after..).
        groups: channels are in that many groups; as many as channels: depthwise. data_layout, kernel_layout,
        out_layout: any order of the axes, and blocks of channels, as in "NCHW16c", or of the rows of depthwise weights,
        as in "HWOI4h", for dot products. float16 and bfloat16 are summed in
        float32. out_dtype: default that of the data; with "int32", data and kernel may be int8 and uint8. pad_value:
        what is around the data, such as the zero point of integers.
        """
        source = layout(op, "data_layout", data_layout, f"NC{letters}", default)
        weights = layout(op, "kernel_layout", kernel_layout or kernel_text, f"OI{letters}", kernel_text)
        target = layout(op, "out_layout", out_layout or data_layout, f"NC{letters}", default)
        window = Window.from_arguments(op, strides, padding, dilation, len(letters))
        parts = integer(op, "groups", groups, 1)
        return convolve(op, data, kernel, window, parts, (source, weights, target), letters, out_dtype, None, pad_value)

    operator.__name__ = operator.__qualname__ = op.removeprefix("nn.")
    return operator


conv1d = _plain("nn.conv1d", "W", "OIW")
conv2d = _plain("nn.conv2d", "HW", "OIHW")
conv3d = _plain("nn.conv3d", "DHW", "OIDHW")
