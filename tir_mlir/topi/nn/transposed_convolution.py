"""Transposed convolutions: each element of the input adds a window to the result."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir import te
from tir_mlir.topi.layouts import TensorLayout, layout
from tir_mlir.topi.nn.convolution import Window, convolve
from tir_mlir.topi.operands import Ints, constant, describe_tensor, integer, integers, refuse, tensor
from tir_mlir.topi.sizes import number, simple

__all__ = ["conv1d_transpose", "conv2d_transpose", "conv3d_transpose"]


def _plain(op: str, letters: str):
    """A transposed convolution over the spatial axes `letters`."""
    default, kernel_text = f"NC{letters}", f"IO{letters}"

    def operator(
        data: te.Tensor,
        kernel: te.Tensor,
        strides: Ints = 1,
        padding: Ints = 0,
        output_padding: Ints = 0,
        dilation: Ints = 1,
        groups: int = 1,
        data_layout: str = default,
        kernel_layout: str = kernel_text,
        out_dtype: str | None = None,
    ) -> te.Tensor:
        """Transposed convolution over the spatial axes: (N, C, sizes), (C, O, window) -> (N, O, sizes).

        A result has (n - 1) * stride - padding before and after + dilation * (window - 1) + 1 + output_padding elements
        along an axis of n. groups: channels are in that many groups. padding: as of a convolution. The default of
        kernel_layout is "IO" and the spatial axes.
        """
        source = layout(op, "data_layout", data_layout, f"NC{letters}", default)
        weights = layout(op, "kernel_layout", kernel_layout, f"IO{letters}", kernel_text)
        window = Window.from_arguments(op, strides, padding, dilation, len(letters))
        out_padding = integers(op, "output_padding", output_padding, len(letters), 0)
        x, w = tensor(op, "data", data), tensor(op, "kernel", kernel)
        parts = integer(op, "groups", groups, 1)
        return _convolve_transposed(op, letters, x, w, window, out_padding, parts, (source, weights), out_dtype)

    operator.__name__ = operator.__qualname__ = op.removeprefix("nn.")
    return operator


def _convolve_transposed(
    op: str,
    letters: str,
    x: te.Tensor,
    w: te.Tensor,
    window: Window,
    out_padding: Sequence[int],
    groups: int,
    layouts: tuple[TensorLayout, TensorLayout],
    out_dtype: str | None,
) -> te.Tensor:
    """The convolution, with the weights reversed, of the data with zeros between and around its elements."""
    if any(m >= max(s, d) for m, s, d in zip(out_padding, window.strides, window.dilation, strict=True)):
        raise refuse(
            op, f"output_padding={out_padding}, strides={window.strides}", "use less than the stride or the dilation"
        )
    source, weights = layouts
    kernel_sizes = weights.sizes(op, "kernel", w)
    _check(op, x, w, source.sizes(op, "data", x), kernel_sizes, groups)
    reach = [d * (_tap(op, w, kernel_sizes[a]) - 1) for a, d in zip(letters, window.dilation, strict=True)]
    margins = [(r - p, r - q + m) for r, (p, q), m in zip(reach, window.padding, out_padding, strict=True)]
    image = _insert_zeros(x, source, letters, window.strides, margins)
    flipped, order = _flip_weights(w, weights, letters, kernel_sizes, groups)
    plain = Window((1,) * len(letters), [(0, 0)] * len(letters), window.dilation)
    return convolve(op, image, flipped, plain, groups, (source, order, source), letters, out_dtype)


def _check(
    op: str, x: te.Tensor, w: te.Tensor, sizes: dict[str, te.Size], kernel_sizes: dict[str, te.Size], groups: int
) -> None:
    channels, inputs = number(sizes["C"]), number(kernel_sizes["I"])
    if channels is None or channels != inputs or channels % groups:
        problem = f"{describe_tensor('data', x)} and {describe_tensor('kernel', w)}, groups={groups}"
        raise refuse(op, problem, "pass a kernel with as many inputs as channels, which the groups divide")


def _tap(op: str, w: te.Tensor, size: te.Size) -> int:
    if (taps := number(size)) is None:
        raise refuse(op, f"{describe_tensor('kernel', w)} has a window of symbolic size", "use a number")
    return taps


def _insert_zeros(
    x: te.Tensor, source: TensorLayout, letters: str, steps: Sequence[int], margins: Sequence[tuple[int, int]]
) -> te.Tensor:
    """The data with stride - 1 zeros between its elements, and zeros around (or, if negative, that many cut off)."""
    spacing = dict(zip(source.axis_numbers(letters), zip(steps, margins, strict=True), strict=True))
    if all(s == 1 and b == (0, 0) for s, b in spacing.values()):
        return x

    def size(a: int, n: te.Size) -> te.Size:
        if a not in spacing:
            return n
        step, (low, high) = spacing[a]
        return simple((n - 1) * step + 1 + low + high)

    def element(*i: te.Expr) -> te.Expr:
        tests, index = [], list(i)
        for a, (step, (low, high)) in spacing.items():
            offset = i[a] - low
            tests += [offset >= 0] * (low > 0) + [offset < (x.shape[a] - 1) * step + 1] * (high > 0)
            tests += [offset % step < 1] * (step > 1)
            index[a] = offset // step if step > 1 else offset
        return te.if_then_else(te.all(*tests), x(*index), constant(0, x.dtype)) if tests else x(*index)

    return te.compute(tuple(size(a, n) for a, n in enumerate(x.shape)), element, name="data_dilate")


def _flip_weights(
    w: te.Tensor, weights: TensorLayout, letters: str, kernel_sizes: dict[str, te.Size], groups: int
) -> tuple[te.Tensor, TensorLayout]:
    """The weights as those of a convolution: inputs of one group, results of all, windows reversed."""
    inputs, results = kernel_sizes["I"] // groups, kernel_sizes["O"]
    order = layout("nn.conv_transpose", "kernel_layout", f"OI{letters}", f"OI{letters}", "OIHW")

    def element(o: te.Expr, c: te.Expr, *taps: te.Expr) -> te.Expr:
        back = {a: simple(kernel_sizes[a] - 1) - v for a, v in zip(letters, taps, strict=True)}
        group = 0 if groups == 1 else o // results
        position = {"I": c if groups == 1 else group * inputs + c, "O": o if groups == 1 else o % results, **back}
        return w(*weights.index(position))

    shape = (simple(results * groups), inputs, *(kernel_sizes[a] for a in letters))
    return te.compute(shape, element, name="kernel_transform"), order


conv1d_transpose = _plain("nn.conv1d_transpose", "W")
conv2d_transpose = _plain("nn.conv2d_transpose", "HW")
conv3d_transpose = _plain("nn.conv3d_transpose", "DHW")
