"""Images in another size, and one axis of any tensor read at given positions with given weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tir_mlir import te
from tir_mlir.topi.layouts import layout as layout_of
from tir_mlir.topi.operands import (
    as_type,
    axis_of,
    constant,
    describe_tensor,
    integers,
    is_float,
    one_of,
    refuse,
    tensor,
    wide_type,
)
from tir_mlir.topi.reductions import narrow
from tir_mlir.topi.sizes import number

RESAMPLE = "image.resample"
OP = "image.resize2d"
MODES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
S = TypeVar("S", int, te.Expr)
ROUNDINGS = ("round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def resize2d(
    data: te.Tensor,
    size: te.Shape,
    layout: str = "NCHW",
    method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "round",
) -> te.Tensor:
    """An image of another size: the nearest elements ("nearest_neighbor"), or a mean of neighbors ("linear").

    size: height and width. coordinate_transformation_mode: the position in the data of element i of m from n,
    "half_pixel" (i + 1/2) * n / m - 1/2, "pytorch_half_pixel" the same, 0 if m is 1, "align_corners"
    i * (n - 1) / (m - 1), "asymmetric" i * n / m. rounding_method: of the nearest position. "round": ties to even, but
    down where an "asymmetric" image is whole times as large, so that each element is repeated, as in TVM;
    "round_prefer_floor" and "round_prefer_ceil": ties down and up, as in ONNX. Positions are computed exactly, as
    fractions.
    """
    order = layout_of(OP, "layout", layout, "NCHW", "NCHW")
    x = tensor(OP, "data", data)
    sizes = order.sizes(OP, "data", x)
    one_of(OP, "method", method, ["linear", "nearest_neighbor"])
    one_of(OP, "coordinate_transformation_mode", coordinate_transformation_mode, MODES)
    one_of(OP, "rounding_method", rounding_method, ROUNDINGS)
    if method == "linear" and not is_float(x.dtype):
        raise refuse(OP, f"{describe_tensor('data', x)} is not of floats", 'cast it first: astype(data, "float32")')
    coordinates = {}
    for a, m in zip("HW", integers(OP, "size", size, 2, 1), strict=True):
        n = number(sizes[a])
        if n is None:
            raise refuse(OP, f"{describe_tensor('data', x)} has a symbolic {a}", "use nn.upsampling by a whole factor")
        coordinates[order.axes.index(a)] = _SourceCoordinate(n, m, coordinate_transformation_mode)
    shape = tuple(coordinates[a].m if a in coordinates else n for a, n in enumerate(x.shape))
    if method == "nearest_neighbor":
        near = lambda *i: x(  # noqa: E731
            *(coordinates[a].nearest(v, rounding_method) if a in coordinates else v for a, v in enumerate(i))
        )
        return te.compute(shape, near, name="T_resize")
    return _linear(x, shape, coordinates)


def _linear(x: te.Tensor, shape: te.Shape, coordinates: dict[int, _SourceCoordinate]) -> te.Tensor:
    """A mean of two elements along the second axis, then of two of these along the first one: each row of the data is
    resized once, which needs elements at uneven distances; rows of the result are means of whole rows."""
    wide = wide_type(x.dtype)
    (h, high), (w, broad) = coordinates.items()

    def mean(data: te.Tensor, axis: int, along: _SourceCoordinate, i: Sequence[te.Expr]) -> te.Expr:
        first, second, far = along.linear_neighbors(i[axis], wide)
        near, other = (as_type(data(*i[:axis], at, *i[axis + 1 :]), data.dtype, wide) for at in (first, second))
        return near * (constant(1, wide) - far) + other * far

    resized_rows = tuple(broad.m if a == w else n for a, n in enumerate(x.shape))
    rows = te.compute(resized_rows, lambda *i: mean(x, w, broad, i), name="T_resize_rows")
    return te.compute(shape, lambda *i: as_type(mean(rows, h, high, i), wide, x.dtype), name="T_resize")


class _SourceCoordinate:
    """The position in n elements of an element of m, as a fraction top(i) / bottom."""

    def __init__(self, n: int, m: int, mode: str):
        self.n, self.m = n, m
        self.repeats = mode == "asymmetric" and n > 0 and m % n == 0
        if mode == "align_corners":
            self.factor, self.offset, self.bottom = n - 1, 0, max(m - 1, 1)
        elif mode == "asymmetric":
            self.factor, self.offset, self.bottom = n, 0, m
        elif mode == "pytorch_half_pixel" and m == 1:
            self.factor, self.offset, self.bottom = 0, 0, 1
        else:
            self.factor, self.offset, self.bottom = 2 * n, n - m, 2 * m

    def _top(self, i: S) -> S:
        return i * self.factor + self.offset

    def nearest(self, i: te.Expr, rounding: str) -> te.Expr:
        top, bottom = self._top(i), self.bottom
        if rounding == "floor" or (rounding == "round" and self.repeats):
            source_index = top // bottom
        elif rounding == "round_prefer_floor":
            source_index = (top * 2 + bottom - 1) // (2 * bottom)
        elif rounding == "ceil":
            source_index = (top + bottom - 1) // bottom
        elif rounding == "round_prefer_ceil" or not self._has_ties():
            source_index = (top * 2 + bottom) // (2 * bottom)
        else:  # to even: halves, one of them down and one up
            source_index = (top * 2 + bottom) // (4 * bottom) + (top * 2 + 3 * bottom - 1) // (4 * bottom)
        return te.max(te.min(source_index, self.n - 1), 0)

    def _has_ties(self) -> bool:
        """Whether some position is in the middle of two elements."""
        return any((2 * self._top(i) + self.bottom) % (2 * self.bottom) == 0 for i in range(self.m))

    def linear_neighbors(self, i: te.Expr, dtype: str) -> tuple[te.Expr, te.Expr, te.Expr]:
        """The elements before and after, and how far it is from the first one."""
        top = self._top(i)
        source_index = top // self.bottom
        far = constant(top % self.bottom, dtype) * constant(1 / self.bottom, dtype)
        return te.max(te.min(source_index, self.n - 1), 0), te.max(te.min(source_index + 1, self.n - 1), 0), far


def upsampling(
    data: te.Tensor, scale_h: int, scale_w: int, layout: str = "NCHW", method: str = "nearest_neighbor"
) -> te.Tensor:
    """An image whole times as large: each element repeated, or ("bilinear") interpolated at half pixels."""
    op = "nn.upsampling"
    order = layout_of(op, "layout", layout, "NCHW", "NCHW")
    x = tensor(op, "data", data)
    sizes = order.sizes(op, "data", x)
    factors = integers(op, "scale", (scale_h, scale_w), 2, 1)
    one_of(op, "method", method, ["nearest_neighbor", "bilinear"])
    if method == "bilinear":
        size = [sizes[a] * f for a, f in zip("HW", factors, strict=True)]
        return resize2d(x, size, layout, "linear")
    by = dict(zip(order.axis_numbers("HW"), factors, strict=True))
    shape = tuple(n * by[a] if a in by else n for a, n in enumerate(x.shape))
    return te.compute(shape, lambda *i: x(*(v // by[a] if a in by else v for a, v in enumerate(i))), name="T_upsample")


def resample(data: te.Tensor, positions: te.Tensor, weights: te.Tensor | None = None, axis: int = -1) -> te.Tensor:
    """result[.., o, ..] = sum over t of data[.., positions[o, t], ..] * weights[o, t], along an axis.

    positions: integers (m, taps) within the axis; weights: floats of the same shape; without them taps is 1.
    """
    x, at = tensor(RESAMPLE, "data", data), tensor(RESAMPLE, "positions", positions)
    d = axis_of(RESAMPLE, axis, x.ndim)
    taps = number(at.shape[-1]) if at.ndim == 2 else None
    if taps is None or is_float(at.dtype) or (weights is None and taps != 1):
        raise refuse(
            RESAMPLE, f"{describe_tensor('positions', at)}", "pass integers (m, taps), and weights for several taps"
        )
    shape = (*x.shape[:d], at.shape[0], *x.shape[d + 1 :])
    last = x.shape[d] - 1

    def element(i: Sequence[te.Expr], t: te.Size) -> te.Expr:
        where = te.max(te.min(as_type(at(i[d], t), at.dtype, "int32"), last), 0)
        return x(*i[:d], where, *i[d + 1 :])

    if weights is None:
        return te.compute(shape, lambda *i: element(i, 0), name="T_resample")
    w, wide = tensor(RESAMPLE, "weights", weights), wide_type(x.dtype)
    if not is_float(x.dtype):
        raise refuse(
            RESAMPLE, f"{describe_tensor('data', x)} is not of floats", 'cast it first: astype(data, "float32")'
        )

    def term(i: Sequence[te.Expr], t: te.Size) -> te.Expr:
        return as_type(element(i, t), x.dtype, wide) * as_type(w(i[d], t), w.dtype, wide)

    if taps <= 4:

        def weighted_sum(*i: te.Expr) -> te.Expr:
            return as_type(sum((term(i, t) for t in range(1, taps)), term(i, 0)), wide, x.dtype)

        return te.compute(shape, weighted_sum, name="T_resample")
    k = te.reduce_axis((0, taps), name="t")
    return narrow(te.compute(shape, lambda *i: te.sum(term(i, k), axis=k), name="T_resample"), x.dtype)
