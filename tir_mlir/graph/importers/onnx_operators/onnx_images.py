"""Operators on images that are sums over neighbours, or samples at positions that are data."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.emitter import OnnxValue, axis_in, static_size
from tir_mlir.graph.importers.layers import every_axis, pool, with_bias
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, microsoft_op, onnx_op, rank_of
from tir_mlir.graph.importers.onnx_operators.onnx_layers import window_padding

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


@onnx_op("LRN")
def local_response(
    e: OnnxEmitter, x: OnnxValue, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Value:
    """x / (bias + alpha / size * the sum of squares of `size` channels around it) ** beta."""
    x = e.value(x)
    before, channels = (size - 1) // 2, static_size(x.shape[1], "the channels of an LRN")
    widths = [w for a in range(len(x.shape)) for w in ((before, size - 1 - before) if a == 1 else (0, 0))]
    squares = e.op("nn.pad", e.op("square", x), pad_width=widths, pad_value=0)
    total = functools.reduce(e.add, (e.slice(squares, 1, n, channels + n) for n in range(size)))
    scale = e.add(e.multiply(total, alpha / size), bias)
    return e.op("divide", x, e.op("power", scale, e.constant(beta, x.dtype)))


@onnx_op("LpNormalization")
def lp_normalization(e: OnnxEmitter, x: OnnxValue, axis: int = -1, p: int = 2) -> Value:
    """x divided by its norm along an axis; 0 where that is 0."""
    x = e.value(x)
    if p not in (1, 2):
        raise GraphError(f"p={p}\n  fix: 1 or 2")
    powers = e.op("abs" if p == 1 else "square", x)
    norm = e.op("sum", powers, axis=[axis_in(axis, len(x.shape))], keepdims=True)
    norm = norm if p == 1 else e.op("sqrt", norm)
    zero = e.binary("equal", norm, 0, x.dtype)
    return e.op("where", zero, e.constant(0, x.dtype), e.op("divide", x, norm))


def _powers(e: OnnxEmitter, x: Value, p: int) -> Value:
    if p == 1:
        return e.op("abs", x)
    return e.op("square", x) if p == 2 else e.op("power", e.op("abs", x), e.constant(p, x.dtype))


def _root(e: OnnxEmitter, x: Value, p: int) -> Value:
    if p == 1:
        return x
    return e.op("sqrt", x) if p == 2 else e.op("power", x, e.constant(1 / p, x.dtype))


@onnx_op("LpPool")
def lp_pool(
    e: OnnxEmitter,
    x: OnnxValue,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: int = 0,
    p: int = 2,
) -> Value:
    """The norm of each window."""
    x, axes = e.value(x), len(kernel_shape)
    strides, dilations = every_axis(strides or 1, axes), every_axis(dilations or 1, axes)
    padding = window_padding(auto_pad, pads, x, kernel_shape, strides, dilations)
    if ceil_mode:
        window = enumerate(zip(x.shape[2:], kernel_shape, strides, dilations, strict=True))
        for n, (size, k, s, d) in window:
            inside, reach = static_size(size, "an image with ceil_mode=1") + padding[n], (k - 1) * d + 1
            count = -(-(inside + padding[n + axes] - reach) // s) + 1
            count -= (count - 1) * s >= inside  # no window is in the padding alone
            padding[n + axes] = max((count - 1) * s + reach - inside, 0)
    powers = _powers(e, x, p)
    if any(padding):  # with ceil_mode they may be wider than a window
        sides = zip(padding[:axes], padding[axes:], strict=True)
        widths = [0] * 4 + [w for side in sides for w in side]
        powers = e.op("nn.pad", powers, pad_width=widths, pad_value=0)
    mean = pool(e, "avg", powers, axes, kernel_shape, strides, 0, dilations, False, True)
    return _root(e, e.multiply(mean, float(np.prod(kernel_shape))), p)


@onnx_op("GlobalLpPool")
def global_lp_pool(e: OnnxEmitter, x: OnnxValue, p: int = 2) -> Value:
    x = e.value(x)
    return _root(e, e.op("sum", _powers(e, x, p), axis=list(range(2, len(x.shape))), keepdims=True), p)


@onnx_op("Col2Im")
def columns_to_image(
    e: OnnxEmitter,
    x: OnnxValue,
    image_shape: OnnxValue,
    block_shape: OnnxValue,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    """(n, c * block, places) -> (n, c, image): each column added where its block lies."""
    x = e.value(x)
    image = e.known_integers(image_shape, "the image of a Col2Im")
    block = e.known_integers(block_shape, "the block of a Col2Im")
    axes, count = len(image), int(np.prod(block))
    strides, dilations, pads = strides or [1] * axes, dilations or [1] * axes, pads or [0] * 2 * axes
    sizes = [n + p + q for n, p, q in zip(image, pads[:axes], pads[axes:], strict=True)]
    window = zip(sizes, block, strides, dilations, strict=True)
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in window]
    batch, channels = x.shape[0], static_size(x.shape[1], "the channels of a Col2Im") // count
    if int(np.prod(counts)) != x.shape[2]:
        raise GraphError(f"{x.shape[2]} columns for {int(np.prod(counts))} places of the block\n  fix: one for each")
    starts = np.stack(np.meshgrid(*(np.arange(k) * d for k, d in zip(block, dilations, strict=True)), indexing="ij"))
    steps = np.stack(np.meshgrid(*(np.arange(n) * s for n, s in zip(counts, strides, strict=True)), indexing="ij"))
    where = starts.reshape(axes, -1, 1) + steps.reshape(axes, 1, -1)
    flat = np.ravel_multi_index(tuple(where), tuple(sizes)).reshape(-1)
    rows = e.reshape(x, (batch * channels, flat.size))
    empty = e.broadcast(e.constant(0, x.dtype), (int(np.prod(sizes)), batch * channels))
    added = e.op("scatter_nd", empty, flat[:, None], e.permute(rows, [1, 0]), mode="add")
    y = e.reshape(e.permute(added, [1, 0]), (batch, channels, *sizes))
    for n in range(axes):
        y = e.slice(y, n + 2, pads[n], pads[n] + image[n])
    return y


def _bilinear(x: te.Tensor, outer: tuple[te.Expr, ...], y: te.Expr, z: te.Expr) -> te.Expr:
    """The mean of the four elements around (y, z) of the last two axes; 0 for those outside."""
    height, width = x.shape[-2:]
    top, left = te.floor(y), te.floor(z)
    parts = []
    for dy in (0, 1):
        for dz in (0, 1):
            by = (y - top if dy else top + 1.0 - y) * (z - left if dz else left + 1.0 - z)
            row, column = top.astype("int32") + dy, left.astype("int32") + dz
            inside = te.all(row >= 0, row < height, column >= 0, column < width)
            element = x(*outer, te.max(te.min(row, height - 1), 0), te.max(te.min(column, width - 1), 0))
            parts.append(te.Select(inside, element * by, te.cast(0, x.dtype)))
    return parts[0] + parts[1] + parts[2] + parts[3]


@onnx_op("DeformConv")
def deformable_convolution(
    e: OnnxEmitter,
    x: OnnxValue,
    weight: OnnxValue,
    offset: OnnxValue,
    bias: Input = None,
    mask: Input = None,
    kernel_shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
    offset_group: int = 1,
) -> Value:
    """A convolution of an image whose taps are moved by offsets (n, groups * taps * 2, h, w) and weighted by a mask."""
    x, weight, offset = e.value(x), e.value(weight), e.value(offset)
    if rank_of(x) != 4:
        raise GraphError(f"a DeformConv over {rank_of(x) - 2} axes\n  fix: images (n, c, h, w)")
    strides, dilations, pads = strides or [1, 1], dilations or [1, 1], pads or [0] * 4
    kernel, channels = [static_size(k, "a kernel") for k in weight.shape[2:]], static_size(x.shape[1], "the channels")
    taps, (rows, columns) = kernel[0] * kernel[1], (static_size(n, "an image") for n in offset.shape[2:])

    def sample_taps(image: te.Tensor, moved: te.Tensor, *masks: te.Tensor) -> te.Tensor:
        def element(n: te.Var, c: te.Var, t: te.Var, i: te.Var, j: te.Var) -> te.Expr:
            group_of = c // (channels // offset_group)
            y = (i * strides[0] - pads[0] + t // kernel[1] * dilations[0]).astype(image.dtype)
            z = (j * strides[1] - pads[1] + t % kernel[1] * dilations[1]).astype(image.dtype)
            at = (group_of * taps + t) * 2
            value = _bilinear(image, (n, c), y + moved(n, at, i, j), z + moved(n, at + 1, i, j))
            return value * masks[0](n, group_of * taps + t, i, j) if masks else value

        return te.compute((image.shape[0], channels, taps, rows, columns), element, name="deformed")

    parts = e.builder.call_te(sample_taps, x, offset, *([] if mask is None else [e.value(mask)]))
    inner, outputs = channels // group * taps, static_size(weight.shape[0], "the results of a convolution")
    parts = e.reshape(parts, (x.shape[0], group, inner, rows * columns))
    product = e.op("matmul", e.reshape(weight, (group, outputs // group, inner)), parts)
    y = e.reshape(product, (x.shape[0], outputs, rows, columns))
    return with_bias(e, y, e.value(bias), 2)


@onnx_op("RoiAlign")
def roi_align(
    e: OnnxEmitter,
    x: OnnxValue,
    rois: OnnxValue,
    batches: OnnxValue,
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
    coordinate_transformation_mode: str | None = None,
) -> Value:
    """(n, c, h, w) -> (regions, c, rows, columns): means or maxima of samples in each part of a region."""
    transformation = coordinate_transformation_mode or ("half_pixel" if e.opset >= 16 else "output_half_pixel")
    half = 0.5 if transformation == "half_pixel" else 0.0
    if sampling_ratio < 1:
        raise GraphError("sampling_ratio=0: as many samples as data say\n  fix: export with sampling_ratio=2, say")
    taps, rank = sampling_ratio, (output_height, output_width)

    def corner(regions: te.Tensor, r: te.Var, n: int) -> te.Expr:
        return regions(r, n) * spatial_scale - half

    def tap_coordinate(regions: te.Tensor, r: te.Var, axis: int, part: te.Var, tap: te.Var) -> te.Expr:
        first, last = corner(regions, r, 1 - axis), corner(regions, r, 3 - axis)
        length = last - first if half else te.max(last - first, te.cast(1, "float32"))
        step = length / float(rank[axis])
        return first + part.astype("float32") * step + (tap.astype("float32") + 0.5) * step / float(taps)

    def sample(image: te.Tensor, n: te.Expr, c: te.Var, y: te.Expr, z: te.Expr) -> te.Expr:
        height, width = (n for n in image.shape[2:] if isinstance(n, int))
        outside = te.any(y < -1.0, y > float(height), z < -1.0, z > float(width))
        y, z = (
            te.max(te.min(v, te.cast(s - 1, "float32")), te.cast(0, "float32")) for v, s in ((y, height), (z, width))
        )
        return te.Select(outside, te.cast(0, image.dtype), _roi_value(image, n, c, y, z, mode))

    def align_regions(image: te.Tensor, regions: te.Tensor, of_batch: te.Tensor) -> te.Tensor:
        ky, kz = (te.reduce_axis((0, taps), name=name) for name in ("ky", "kz"))

        def element(r: te.Var, c: te.Var, i: te.Var, j: te.Var) -> te.ReductionValue:
            n = te.max(te.min(of_batch(r).astype("int32"), image.shape[0] - 1), 0)
            value = sample(image, n, c, tap_coordinate(regions, r, 0, i, ky), tap_coordinate(regions, r, 1, j, kz))
            return (te.max if mode == "max" else te.sum)(value, axis=[ky, kz])

        shape = (regions.shape[0], image.shape[1], output_height, output_width)
        return te.compute(shape, element, name="aligned")

    if mode not in ("avg", "max"):
        raise GraphError(f"a RoiAlign of mode {mode}\n  fix: avg or max")
    y = e.builder.call_te(align_regions, e.value(x), e.value(rois), e.value(batches))
    return y if mode == "max" else e.multiply(y, 1 / taps**2)


def _roi_value(image: te.Tensor, n: te.Expr, c: te.Var, y: te.Expr, z: te.Expr, mode: str) -> te.Expr:
    """The mean of the four elements around a position within the image, or the greatest of them by weight."""
    height, width = image.shape[2:]
    top, left = te.floor(y), te.floor(z)
    parts = []
    for dy in (0, 1):
        for dz in (0, 1):
            by = (y - top if dy else top + 1.0 - y) * (z - left if dz else left + 1.0 - z)
            row, column = te.min(top.astype("int32") + dy, height - 1), te.min(left.astype("int32") + dz, width - 1)
            parts.append(image(n, c, te.max(row, 0), te.max(column, 0)) * by)
    if mode == "max":
        return te.max(te.max(parts[0], parts[1]), te.max(parts[2], parts[3]))
    return parts[0] + parts[1] + parts[2] + parts[3]


@onnx_op("MaxRoiPool")
def max_roi_pool(
    e: OnnxEmitter, x: OnnxValue, rois: OnnxValue, pooled_shape: Sequence[int], spatial_scale: float = 1.0
) -> Value:
    """The maxima of the parts of regions, whose corners are known."""
    regions = np.asarray(e.known_numbers(rois, "the regions of a MaxRoiPool"), "float64").reshape(-1, 5)
    x, results = e.value(x), []
    height, width = (static_size(n, "an image") for n in x.shape[2:])
    for batch, *corners in regions:
        left, top, right, bottom = (int(np.floor(c * spatial_scale + 0.5)) for c in corners)
        image = e.slice(x, 0, int(batch), int(batch) + 1)
        rows = [_max_part(e, image, 2, *s) for s in _bounds(top, bottom, pooled_shape[0], height)]
        parts = [_max_part(e, r, 3, *s) for r in rows for s in _bounds(left, right, pooled_shape[1], width)]
        results.append(e.reshape(e.concat(parts, 3), (1, x.shape[1], *pooled_shape)))
    return e.concat(results, 0)


def _bounds(first: int, last: int, parts: int, size: int) -> list[tuple[int, int]]:
    length = max(last - first + 1, 1) / parts
    ends = [(int(np.floor(n * length)) + first, int(np.ceil((n + 1) * length)) + first) for n in range(parts)]
    return [(min(max(b, 0), size), min(max(t, 0), size)) for b, t in ends]


def _max_part(e: OnnxEmitter, x: Value, axis: int, begin: int, end: int) -> Value:
    """The maxima of begin..end along an axis; 0 for none."""
    if end <= begin:
        return e.broadcast(e.constant(0, x.dtype), [1 if a == axis else s for a, s in enumerate(x.shape)])
    return e.op("max", e.slice(x, axis, begin, end), axis=[axis], keepdims=True)


@onnx_op("GridSample")
@microsoft_op("GridSample")
def grid_sample(
    e: OnnxEmitter,
    x: OnnxValue,
    grid: OnnxValue,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: int = 0,
) -> Value:
    """Images at positions of -1..1. Since opset 20 the modes are named linear, nearest and cubic."""
    methods = {"linear": "bilinear", "cubic": "bicubic"}
    x, grid = e.value(x), e.value(grid)
    options = {"padding_mode": padding_mode, "align_corners": bool(align_corners)}
    return e.op("image.grid_sample", x, e.cast(grid, x.dtype), method=methods.get(mode, mode), **options)
