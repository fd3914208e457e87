"""Convolutions by Winograd's algorithm F(2 x 2, 3 x 3): 16 multiplications for 4 results of a channel instead of 36."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce

from tir_mlir import te
from tir_mlir.topi.nn.padding import pad_axes, window_padding
from tir_mlir.topi.operands import (
    Ints,
    as_type,
    constant,
    describe_tensor,
    integer,
    integers,
    one_type,
    ranked_tensor,
    refuse,
)
from tir_mlir.topi.sizes import number

__all__ = ["conv2d_winograd", "winograd_results", "winograd_tiles", "winograd_weights"]

RESULTS, TAPS = 2, 3
"""Along each axis of an image, a tile has so many results, of windows of so many pixels."""
POINTS = RESULTS + TAPS - 1
"""Of a tile along each axis: its pixels, and the products that its results are sums of."""
BYTES = ("int8", "uint8")
_Values = Callable[[te.Expr | int], te.Expr]


def winograd_weights(kernel: te.Tensor, width: int = 1) -> te.Tensor:
    """The weights that tiles are multiplied with: (o, c, 3, 3) -> (o / width, 4, 4, c, width), panels of the results.

    A window w becomes G w G^T. The rows of G are (1, 0, 0), (1/2, 1/2, 1/2), (1/2, -1/2, 1/2) and (0, 0, -1); of int8,
    they are twice these, and the weights int16.
    """
    op = "nn.winograd_weights"
    w = ranked_tensor(op, "kernel", kernel, 4)
    panel = integer(op, "width", width, 1)
    o, c, *taps = (number(size) for size in w.shape)
    if taps != [TAPS, TAPS] or o is None or c is None or o % panel:
        problem = f"{describe_tensor('kernel', w)} for panels of {panel}"
        raise refuse(op, problem, f"pass (o, c, {TAPS}, {TAPS}) with a multiple of {panel} for o")

    dtype = "int16" if w.dtype == "int8" else w.dtype

    def along(values: _Values, point: te.Expr) -> te.Expr:
        half = (point + 1) // 2  # 0, 1, 1, 2
        twice = (2 - half, _is_one(point) * 2 - half + point // 3 * 2, half - point // 3 * 4)
        factors = [te.cast(number, dtype) for number in twice]
        if dtype != "int16":
            factors = [factor * constant(0.5, dtype) for factor in factors]
        return reduce(operator.add, (values(n) * factor for n, factor in enumerate(factors)))

    def element(p: te.Expr, i: te.Expr, j: te.Expr, k: te.Expr, q: te.Expr) -> te.Expr:
        return along(lambda y: along(lambda x: as_type(w(p * panel + q, k, y, x), w.dtype, dtype), j), i)

    return te.compute((o // panel, POINTS, POINTS, c, panel), element, name="winograd_weights")


def conv2d_winograd(data: te.Tensor, weights: te.Tensor, padding: Ints = 0) -> te.Tensor:
    """A convolution with windows of 3 x 3 and stride 1, from `winograd_weights`: (n, h, w, c) -> (n, oh, ow, o).

        T[i, j, n, y, x, c] = (B^T d B)[i, j]      d: the 4 x 4 pixels from (2 y, 2 x) on
        M[i, j, n, y, x, o] = sum over c of T * weights
        Y[n, 2 y + a, 2 x + b, o] = (A^T M A)[a, b]

    The rows of B^T are (1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, -1, 0, 1), those of A^T (1, 1, 1, 0) and
    (0, 1, -1, -1). oh and ow are even numbers. padding: one number, one for each axis, or one for each side.
    """
    op = "nn.conv2d_winograd"
    x, u = ranked_tensor(op, "data", data, 4), ranked_tensor(op, "weights", weights, 5)
    one_type(op, data=x, weights=u)
    sides = dict(enumerate(window_padding(op, padding, 2), 1))
    n, *sizes, c = (number(size) for size in x.shape)
    panels, *points, channels, width = (number(size) for size in u.shape)
    outs = [(size or 0) + sum(sides[axis]) - TAPS + 1 for axis, size in enumerate(sizes, 1)]
    if n is None or c is None or panels is None or width is None or points != [POINTS, POINTS] or channels != c:
        problem = f"{describe_tensor('data', x)} and {describe_tensor('weights', u)}"
        raise refuse(op, problem, "pass images of known sizes, and `winograd_weights` for their channels")
    if any(size < RESULTS or size % RESULTS for size in outs):
        problem = f"{describe_tensor('data', x)} has results of {outs[0]} x {outs[1]} pixels"
        raise refuse(op, problem, "use nn.conv2d where they are not even numbers")
    image = pad_axes(x, sides, 0, "pad_temp")
    tiles, o = [size // RESULTS for size in outs], panels * width
    tiled = te.compute((POINTS, POINTS, n, *tiles, c), _pixels(image, image.dtype), name="winograd_image")
    k = te.reduce_axis((0, c), name="k")

    def multiply(i: te.Expr, j: te.Expr, n: te.Expr, y: te.Expr, x: te.Expr, f: te.Expr) -> te.ReductionValue:
        return te.sum(tiled(i, j, n, y, x, k) * u(f // width, i, j, k, f % width), axis=k)

    product = te.compute((POINTS, POINTS, n, *tiles, o), multiply, name="winograd_product")
    return te.compute((n, *outs, o), _results(product), name="winograd_results")


def winograd_tiles(data: te.Tensor) -> te.Tensor:
    """The tiles of a padded image of bytes, as in `conv2d_winograd`, in int16: (n, h, w, c) -> (4, 4, n, y, x, c).

    Each is of 4 x 4 pixels, two of which the next one has, too: exact, as it adds four bytes. h and w are even numbers.
    """
    op = "nn.winograd_tiles"
    x = ranked_tensor(op, "data", data, 4)
    n, h, w, c = (number(size) for size in x.shape)
    if n is None or c is None or x.dtype not in BYTES or any(s is None or s < POINTS or s % RESULTS for s in (h, w)):
        fix = f"pass int8 or uint8 of even height and width, {POINTS} at least"
        raise refuse(op, describe_tensor("data", x), fix)
    tiles = [((size or 0) - TAPS + 1) // RESULTS for size in (h, w)]
    return te.compute((POINTS, POINTS, n, *tiles, c), _pixels(x, "int16"), name="winograd_tiles")


def winograd_results(data: te.Tensor, size: Ints) -> te.Tensor:
    """The convolution whose tiles were multiplied with `winograd_weights` of int8: (4, 4, n, y, x, o) -> (n, h, w, o).

    A quarter of A^T M A, see `conv2d_winograd`, which is exact where four times the result fits in int32. size: h and
    w; the last tiles may reach beyond them.
    """
    op = "nn.winograd_results"
    m = ranked_tensor(op, "data", data, 6)
    outs = integers(op, "size", size, 2, 1)
    shape, tiles = [number(extent) for extent in m.shape], [-(-extent // RESULTS) for extent in outs]
    if shape[:2] != [POINTS, POINTS] or shape[3:5] != tiles or None in shape or m.dtype != "int32":
        expected = f"pass int32 of ({POINTS}, {POINTS}, n, {tiles[0]}, {tiles[1]}, o) for {outs[0]} x {outs[1]} pixels"
        raise refuse(op, describe_tensor("data", m), expected)
    values = _results(m)
    return te.compute((m.shape[2], *outs, m.shape[5]), lambda *at: values(*at) >> 2, name="winograd_quarters")


def _pixels(image: te.Tensor, dtype: str) -> Callable[..., te.Expr]:
    """B^T d B of each tile of an image, in a type: a row of B^T adds two pixels, the second one with a sign."""

    def along(values: _Values, point: te.Expr) -> te.Expr:
        second = 2 - point // 2  # 2, 2, 1, 1
        return values(point) + values(second) * te.cast(_is_one(point) * 2 - 1, dtype)

    def element(i: te.Expr, j: te.Expr, n: te.Expr, y: te.Expr, x: te.Expr, c: te.Expr) -> te.Expr:
        def pixel(a: te.Expr | int, b: te.Expr | int) -> te.Expr:
            return as_type(image(n, y * RESULTS + a, x * RESULTS + b, c), image.dtype, dtype)

        return along(lambda a: along(lambda b: pixel(a, b), j), i)

    return element


def _results(product: te.Tensor) -> Callable[..., te.Expr]:
    """A^T M A of the tile of each pixel: a row of A^T adds three products, the last two with a sign."""

    def along(values: _Values, position: te.Expr) -> te.Expr:
        sign = te.cast(1 - position * 2, product.dtype)
        return values(position) + (values(position + 1) + values(position + 2)) * sign

    def element(n: te.Expr, h: te.Expr, w: te.Expr, o: te.Expr) -> te.Expr:
        y, x = h // RESULTS, w // RESULTS
        return along(lambda i: along(lambda j: product(i, j, n, y, x, o), w % RESULTS), h % RESULTS)

    return element


def _is_one(point: te.Expr) -> te.Expr:
    """Of 0, 1, 2, 3, a 1 for 1 and a 0 for others, in arithmetic of indices, which takes fewer operations than choices
    and is a constant where loops over positions are unrolled."""
    return (point + 2) // 3 - (point + 1) // 3
