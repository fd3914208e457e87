"""Images read at positions that are data."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence

from tir_mlir import te
from tir_mlir.topi.operands import as_type, constant, describe_tensor, floats, one_of, one_type, refuse, wide_type
from tir_mlir.topi.reductions import narrow
from tir_mlir.topi.sizes import are_equal, number

OP = "image.grid_sample"
METHODS = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
CUBIC = -0.75
"""The slope of cubic interpolation, that of torch and OpenCV."""


def grid_sample(
    data: te.Tensor, grid: te.Tensor, method: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> te.Tensor:
    """Images read at positions: (n, c, h, w) at (n, p, q, 2) -> (n, c, p, q), or volumes (n, c, d, h, w) at (.., 3).

    grid: the positions as x, y (, z): the last axis of the data first; -1 and 1 are the ends of the image, the centres
    of the elements there (align_corners) or their outer edges. method: the mean of the neighbours, the nearest one, or
    cubic (images only). padding_mode: what is beyond the image: zeros, its border, or its reflection.
    """
    x, positions = floats(OP, "data", data), floats(OP, "grid", grid)
    one_type(OP, data=x, grid=positions)
    one_of(OP, "method", method, METHODS)
    one_of(OP, "padding_mode", padding_mode, PADDINGS)
    axes = x.ndim - 2
    fits = axes in (2, 3) and positions.ndim == x.ndim and number(positions.shape[-1]) == axes
    if not fits or not are_equal(x.shape[0], positions.shape[0]) or (method == "bicubic" and axes == 3):
        problem = f"{describe_tensor('data', x)} at {describe_tensor('grid', positions)}, method {method}"
        raise refuse(OP, problem, "pass (n, c, h, w) and (n, p, q, 2), or volumes and (n, o, p, q, 3), not bicubic")
    table = _Table(x, positions, method, padding_mode, align_corners)
    where, weights = table.build()
    taps = [te.reduce_axis((0, table.taps), name=f"t{a}") for a in range(axes)]
    wide = wide_type(x.dtype)

    def term(*i: te.Expr) -> te.ReductionValue:
        point = (i[0], *i[2:])
        index = [where(a, t, *point) for a, t in enumerate(taps)]
        weight = functools.reduce(operator.mul, (weights(a, t, *point) for a, t in enumerate(taps)))
        inside = [te.max(te.min(v, n - 1), 0) for v, n in zip(index, x.shape[2:], strict=True)]
        return te.sum(as_type(x(*i[:2], *inside), x.dtype, wide) * weight, axis=taps)

    return narrow(te.compute((*x.shape[:2], *positions.shape[1:-1]), term, name="T_sample"), x.dtype)


class _Table:
    """For each axis and each of its taps where they are in the data, and their weights; 0 beyond the image.

    Each step is a tensor of its own: an expression would have the steps before it many times.
    """

    def __init__(self, x: te.Tensor, grid: te.Tensor, method: str, padding: str, corners: bool):
        self.x, self.grid, self.method, self.padding, self.corners = x, grid, method, padding, corners
        self.sizes, self.wide = x.shape[2:], wide_type(x.dtype)
        self.points = (len(self.sizes), *grid.shape[:-1])
        self.taps = {"nearest": 1, "bilinear": 2, "bicubic": 4}[method]

    def real(self, value: float) -> te.Expr:
        return constant(value, self.wide)

    def size(self, axis: te.Expr) -> te.Expr:
        """The size of an axis that is an index."""
        size = self.sizes[-1]
        for a in range(len(self.sizes) - 2, -1, -1):
            size = te.Select(axis < a + 1, te.cast(self.sizes[a], "int32"), te.cast(size, "int32"))
        return te.cast(size, self.wide)

    def build(self) -> tuple[te.Tensor, te.Tensor]:
        sizes = te.compute((len(self.sizes),), lambda a: self.size(a), name="T_sizes")
        at = te.compute(self.points, lambda a, *p: self._unnormalize(self._grid(a, p), sizes(a)), name="T_place")
        if self.method == "bicubic":
            steps = te.compute(self._shape(), lambda a, t, *p: te.floor(at(a, *p)) + self._step(t - 1), name="T_step")
            positions = self._apply_padding(steps, sizes)
            where = te.compute(self._shape(), lambda *i: te.nearbyint(positions(*i)), name="T_near")
            shares = te.compute(self._shape(), lambda a, t, *p: self._cubic(at(a, *p), t), name="T_share")
        else:
            spread = te.compute((self.points[0], 1, *self.points[1:]), lambda a, _, *p: at(a, *p), name="T_spread")
            positions = self._apply_padding(spread, sizes)
            whole = te.nearbyint if self.method == "nearest" else te.floor
            where = te.compute(
                self._shape(), lambda a, t, *p: whole(positions(a, 0, *p)) + self._step(t), name="T_near"
            )
            shares = te.compute(
                self._shape(), lambda a, t, *p: self._linear(positions(a, 0, *p), where(a, t, *p)), name="T_share"
            )
        shape = self._shape()
        weights = te.compute(shape, lambda *i: self._masked_weight(where(*i), shares(*i), sizes(i[0])), name="T_weight")
        return te.compute(shape, lambda *i: self._clamp_index(where(*i), sizes(i[0])), name="T_where"), weights

    def _shape(self) -> tuple[te.Size, ...]:
        return (self.points[0], self.taps, *self.points[1:])

    def _step(self, t: te.Expr) -> te.Expr:
        return te.cast(t, self.wide)

    def _grid(self, axis: te.Expr, point: Sequence[te.Expr]) -> te.Expr:
        """The grid names the last axis first."""
        return as_type(self.grid(*point, len(self.sizes) - 1 - axis), self.grid.dtype, self.wide)

    def _unnormalize(self, v: te.Expr, n: te.Expr) -> te.Expr:
        """-1..1 -> a position along an axis of n elements."""
        if self.corners:
            return (v + self.real(1)) * self.real(0.5) * (n - self.real(1))
        return ((v + self.real(1)) * n - self.real(1)) * self.real(0.5)

    def _apply_padding(self, at: te.Tensor, sizes: te.Tensor) -> te.Tensor:
        """Positions within the image, unless what is beyond is zero."""
        if self.padding == "zeros":
            return at
        if self.padding == "reflection":
            at = self._reflect(at, sizes)
        numbers = te.compute(at.shape, lambda *i: te.Select(te.isnan(at(*i)), self.real(0), at(*i)), name="T_number")
        return te.compute(
            at.shape, lambda *i: te.min(te.max(numbers(*i), self.real(0)), sizes(i[0]) - self.real(1)), name="T_border"
        )

    def _reflect(self, at: te.Tensor, sizes: te.Tensor) -> te.Tensor:
        """Positions mirrored at both ends until they are between them."""
        low = self.real(0 if self.corners else -0.5)

        def span(a: te.Expr) -> te.Expr:
            return te.max(sizes(a) - self.real(1), self.real(0)) if self.corners else sizes(a)

        away = te.compute(at.shape, lambda *i: te.abs(at(*i) - low), name="T_away")
        none = self.real(0)

        def flip_count(*i: te.Expr) -> te.Expr:
            return te.floor(away(*i) / te.Select(span(i[0]) > none, span(i[0]), self.real(1)))

        flips = te.compute(at.shape, flip_count, name="T_flips")
        extra = te.compute(at.shape, lambda *i: away(*i) - flips(*i) * span(i[0]), name="T_extra")

        def reflected_position(*i: te.Expr) -> te.Expr:
            odd = flips(*i) - te.floor(flips(*i) * self.real(0.5)) * self.real(2) > self.real(0.5)
            folded = te.Select(odd, span(i[0]) - extra(*i), extra(*i)) + low
            return te.Select(span(i[0]) > self.real(0), folded, self.real(0))

        return te.compute(at.shape, reflected_position, name="T_mirrored")

    def _linear(self, at: te.Expr, where: te.Expr) -> te.Expr:
        """The share of a tap: less the farther it is."""
        return self.real(1) if self.method == "nearest" else self.real(1) - te.abs(at - where)

    def _cubic(self, at: te.Expr, t: te.Expr) -> te.Expr:
        """The share of tap t, which is at t - 1 from the position's whole part."""
        far = te.abs(at - te.floor(at) - self._step(t - 1))
        return cubic_weight(far, self.real)

    def _masked_weight(self, where: te.Expr, share: te.Expr, size: te.Expr) -> te.Expr:
        if self.padding != "zeros" and self.method != "bilinear":
            return share
        inside = te.all(where >= self.real(0), where <= size - self.real(1))
        return te.Select(inside, share, self.real(0))

    def _clamp_index(self, where: te.Expr, size: te.Expr) -> te.Expr:
        limited = te.min(te.max(where, self.real(0)), size - self.real(1))
        return te.Select(te.isnan(where), self.real(0), limited).astype("int32")


def cubic_weight(far: te.Expr, real: Callable[[float], te.Expr], slope: float = CUBIC) -> te.Expr:
    """The weight of an element that is `far` from the position, of 0..2."""
    near = ((real(slope + 2) * far - real(slope + 3)) * far) * far + real(1)
    tail = ((real(slope) * far - real(5 * slope)) * far + real(8 * slope)) * far - real(4 * slope)
    return te.Select(far <= real(1), near, tail)
