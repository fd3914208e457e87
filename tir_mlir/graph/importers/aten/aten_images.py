"""Images: other sizes, windows as columns, places that are data, pools with the positions of the maxima."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import equal, product
from tir_mlir.graph.importers import resampling
from tir_mlir.graph.importers.aten.aten_table import Translation, aten
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.importers.emitter import OneOrEach, axis_in, size_form, static_size
from tir_mlir.graph.importers.layers import every_axis, pool, pool_with_indices
from tir_mlir.topi.nn.pooling import adaptive_max_pool_with_indices

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value
    from tir_mlir.graph.size_code import Size


def _resize_axes(
    e: TorchEmitter, x: Value, scales: Sequence[float | None], method: str, corners: bool, widens: bool
) -> Value:
    """x in the size of torch's result, one axis after the other: those that grow behind the last one, whose elements
    are gathered, which costs most."""
    axes = len(x.shape) - 2
    given = [*scales, *[None] * axes]
    for a in sorted(range(axes), key=lambda a: a < axes - 1 and _grows(x.shape[2 + a], e.shape[2 + a])):
        size, result = x.shape[2 + a], e.shape[2 + a]
        if not isinstance(size, int) or not isinstance(result, int):
            if widens:
                raise GraphError(
                    f"antialias to a size {result}, known only when the model runs\n  fix: antialias=False"
                )
            if not equal(size_form(size), size_form(result)):
                x = resampling.resample_symbolic_axis(e, x, 2 + a, result, method, given[a], corners)
            continue
        step = resampling.ratio(size, result, given[a], corners)
        if method in ("nearest", "nearest_exact"):
            table = resampling.nearest(size, result, step, method == "nearest_exact")
        elif widens:
            table = resampling.antialiased_table(size, result, step, method)
        elif method == "linear":
            table = resampling.linear(size, result, step, corners)
        else:
            table = resampling.cubic(size, result, step, corners)
        x = resampling.resample_axis(e, x, 2 + a, table)
    return x


def _grows(size: object, result: object) -> bool:
    return isinstance(size, int) and isinstance(result, int) and size < result


def _resize(method: str, widens: bool = False) -> Translation:
    def translate(
        e: TorchEmitter,
        x: Value,
        output_size: Sequence[Size],
        align_corners: bool = False,
        scale_factors: Sequence[float] | None = None,
        scales: float | None = None,
        scales_d: float | None = None,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> Value:
        named = [scales, scales_d, scales_h, scales_w][-(len(x.shape) - 2) :] if len(x.shape) > 3 else [scales]
        given = list(scale_factors) if scale_factors else named
        pairs = list(zip(given, x.shape[2:], e.shape[2:], strict=False))
        factors = [_times(n, m) for _, n, m in pairs]
        if len(x.shape) == 4 and method == "nearest" and None not in factors and factors != [1, 1]:
            scale_h, scale_w = factors
            return e.op("nn.upsampling", x, scale_h=scale_h, scale_w=scale_w)
        whole = all(isinstance(m, int) and (s is None or (isinstance(n, int) and n * s == m)) for s, n, m in pairs)
        if len(x.shape) == 4 and whole and method in ("nearest", "linear") and not widens:
            return _plain_resize(e, x, method, align_corners)
        return _resize_axes(e, x, given, method, align_corners, widens)

    return translate


def _times(size: Size, result: Size) -> int | None:
    """2 of h and 2 * h; None of numbers, and of others."""
    if isinstance(size, int) and isinstance(result, int):
        return 1 if size == result else None
    quotient = product([size_form(result)]).exact_quotient(product([size_form(size)]))
    return None if quotient is None else quotient.constant()


def _plain_resize(e: TorchEmitter, x: Value, method: str, corners: bool) -> Value:
    mode = "align_corners" if corners else "half_pixel" if method == "linear" else "asymmetric"
    return e.op(
        "image.resize2d",
        x,
        size=list(e.shape[2:]),
        layout="NCHW",
        method="nearest_neighbor" if method == "nearest" else method,
        coordinate_transformation_mode=mode,
        rounding_method="" if method == "linear" else "floor",
    )


for _axes in (1, 2, 3):
    aten(f"upsample_nearest{_axes}d")(_resize("nearest"))
    aten(f"_upsample_nearest_exact{_axes}d")(_resize("nearest_exact"))
aten("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")(_resize("linear"))
aten("upsample_bicubic2d")(_resize("cubic"))
aten("_upsample_bilinear2d_aa")(_resize("linear", True))
aten("_upsample_bicubic2d_aa")(_resize("cubic", True))


_METHODS, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


@aten("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(
    e: TorchEmitter, x: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Value:
    method, padding = _METHODS[interpolation_mode], _PADDINGS[padding_mode]
    return e.op("image.grid_sample", x, grid, method=method, padding_mode=padding, align_corners=bool(align_corners))


@aten("im2col")
def windows_as_columns(
    e: TorchEmitter, x: Value, kernel_size: OneOrEach, dilation: OneOrEach, padding: OneOrEach, stride: OneOrEach
) -> Value:
    batched = x if len(x.shape) == 4 else e.reshape(x, (1, *x.shape))
    y = e.op("nn.windows", batched, kernel=kernel_size, strides=stride, padding=padding, dilation=dilation)
    return e.reshape(y, e.shape)


@aten("col2im")
def columns_as_windows(
    e: TorchEmitter,
    x: Value,
    output_size: Sequence[Size],
    kernel_size: OneOrEach,
    dilation: OneOrEach,
    padding: OneOrEach,
    stride: OneOrEach,
) -> Value:
    batched = x if len(x.shape) == 3 else e.reshape(x, (1, *x.shape))
    window = {"strides": stride, "padding": padding, "dilation": dilation}
    y = e.op("nn.fold", batched, output_size=output_size, kernel=kernel_size, **window)
    return y if batched is x else e.reshape(y, y.shape[1:])


@aten("unfold")
def sliding_windows(e: TorchEmitter, x: Value, dimension: int, size: int, step: int) -> Value:
    """Windows along an axis, as a new last axis."""
    if not x.shape:
        return e.reshape(x, (1,))
    return e.op("sliding_windows", x, size=size, step=step, axis=axis_in(dimension, len(x.shape)))


def _uses_indices(e: TorchEmitter) -> bool:
    """Whether the second of the results is used."""
    return any(user.args[1:] == (1,) for user in e.node.users)


def _max_pool_with_indices(axes: int) -> Translation:
    def translate(
        e: TorchEmitter,
        x: Value,
        kernel_size: OneOrEach,
        stride: OneOrEach,
        padding: OneOrEach,
        dilation: OneOrEach,
        ceil_mode: bool,
    ) -> Sequence[Value | None]:
        window = kernel_size, stride, padding, dilation, ceil_mode
        if not _uses_indices(e):
            return [pool(e, "max", x, axes, *window), None]
        return pool_with_indices(e, x, axes, *window, of_image=True)

    return translate


def _adaptive_max(axes: int) -> Translation:
    def translate(e: TorchEmitter, x: Value, output_size: OneOrEach) -> list[Value | None]:
        """The maxima and, where they are used, their indices in each image."""
        size = every_axis(output_size, axes)
        batched = x if len(x.shape) == axes + 2 else e.reshape(x, (1, *x.shape))
        if _uses_indices(e):
            both: list[Value | None] = list(e.builder.call_te(adaptive_max_pool_with_indices, batched, size))
        else:
            both = [e.op(f"nn.adaptive_max_pool{axes}d", batched, output_size=size), None]
        return both if batched is x else [y if y is None else e.reshape(y, y.shape[1:]) for y in both]

    return translate


for _axes in (1, 2, 3):
    aten(f"max_pool{_axes}d_with_indices")(_max_pool_with_indices(_axes))
    aten(f"adaptive_max_pool{_axes}d")(_adaptive_max(_axes))


def mean_pool(axes: int) -> Translation:
    def translate(
        e: TorchEmitter,
        x: Value,
        kernel_size: OneOrEach,
        stride: OneOrEach,
        padding: OneOrEach,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None = None,
    ) -> Value:
        window = kernel_size, stride, padding, 1, ceil_mode
        if divisor_override is None:
            return pool(e, "avg", x, axes, *window, count_include_pad)
        return e.multiply(_sum_of_windows(e, x, axes, kernel_size, stride, padding), 1 / divisor_override)

    return translate


def _sum_of_windows(
    e: TorchEmitter, x: Value, axes: int, kernel: OneOrEach, strides: OneOrEach, padding: OneOrEach
) -> Value:
    """The mean of windows that lie within data with zeros around, times their size."""
    size, stride, lows = (every_axis(given, axes) for given in (kernel, strides or kernel, padding))
    pairs = []
    for n, m, k, s, p in zip(x.shape[-axes:], e.shape[-axes:], size, stride, lows, strict=True):
        if not isinstance(n, int) or not isinstance(m, int):
            raise GraphError("divisor_override of an image of symbolic size\n  fix: multiply the mean")
        pairs.append((p, max((m - 1) * s + k - n - p, 0)))
    widths = [0] * (2 * (len(x.shape) - axes)) + [w for pair in pairs for w in pair]
    padded = e.op("nn.pad", x, pad_width=widths, pad_value=0) if any(widths) else x
    for a, (n, k, s) in enumerate(zip(e.shape[-axes:], size, stride, strict=True)):
        axis = len(x.shape) - axes + a
        padded = e.slice(padded, axis, 0, (static_size(n, "a size of a pool") - 1) * s + k)
    return e.multiply(pool(e, "avg", padded, axes, size, stride, 0, 1, False, True), math.prod(size))


for _axes in (1, 2, 3):
    aten(f"avg_pool{_axes}d")(mean_pool(_axes))
