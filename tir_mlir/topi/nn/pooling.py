"""Pools: the maximum or the mean of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tir_mlir import te
from tir_mlir.topi.layouts import TensorLayout, layout
from tir_mlir.topi.nn.convolution import Window
from tir_mlir.topi.nn.padding import pad_axes
from tir_mlir.topi.operands import (
    Ints,
    as_type,
    constant,
    describe_tensor,
    floats,
    integers,
    numbers,
    one_of,
    refuse,
    tensor,
    wide_type,
)
from tir_mlir.topi.reductions import MAX, first_of
from tir_mlir.topi.sizes import exact_quotient, number, simple, total, unravel_index

if TYPE_CHECKING:
    from tir_mlir.te.tensor import TupleReduction

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "adaptive_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "global_pool", "max_pool1d", "max_pool2d", "max_pool3d", "pool2d",
]  # fmt: skip


class _Pool:
    """A pool of a tensor: its window, and the sizes of its result along the spatial axes."""

    def __init__(
        self, op: str, x: te.Tensor, order: TensorLayout, kernel: Sequence[int], window: Window, ceil_mode: bool
    ):
        self.op, self.x, self.order, self.kernel, self.window = op, x, order, kernel, window
        letters = [a for a in order.axes if a in "DHW"]
        self.axes = [order.axes.index(a) for a in letters]
        self.sizes = [x.shape[a] for a in self.axes]
        self.extra = self._extra() if ceil_mode else [0] * len(letters)
        sides = [(p, q + e) for (p, q), e in zip(window.padding, self.extra, strict=True)]
        self.outer = Window(window.strides, sides, window.dilation)
        outs = dict(zip(self.axes, self.outer.result(op, self.sizes, kernel), strict=True))
        self.shape = tuple(outs.get(a, n) for a, n in enumerate(x.shape))

    def _extra(self) -> list[int]:
        """The padding after each axis that makes the last window whole; a window that begins in it is left out."""
        extras = []
        rows = zip(self.sizes, self.kernel, self.window.strides, self.window.padding, self.window.dilation, strict=True)
        for size, k, s, (p, q), d in rows:
            last_start = number(size + p + q - d * (k - 1) - 1)
            if last_start is None:
                problem = f"ceil_mode for {describe_tensor('data', self.x)}, whose sizes are symbolic"
                raise refuse(self.op, problem, "pad the data so that the windows fit")
            extra = -last_start % s
            begins = last_start + extra  # of the last window, from the padding before
            extras.append(0 if extra and begins >= number(size) + p else extra)  # type: ignore[operator]
        return extras

    def padded_data(self, value: te.Size) -> te.Tensor:
        return pad_axes(self.x, dict(zip(self.axes, self.outer.padding, strict=True)), value)

    def taps(self) -> list[te.IterVar]:
        return [te.reduce_axis((0, k), name=f"r{n}") for n, k in enumerate(self.kernel)]

    def window_index(self, index: Sequence[te.Expr], taps: Sequence[te.Expr]) -> tuple[te.Expr, ...]:
        """The index of an element of a window in the padded data."""
        source_index = list(index)
        for a, s, d, t in zip(self.axes, self.window.strides, self.window.dilation, taps, strict=True):
            source_index[a] = index[a] * s + t * d
        return tuple(source_index)

    def count(self, index: Sequence[te.Expr], count_include_pad: bool) -> te.Size:
        """The number of elements that a window takes the mean of: without what ceil_mode adds, and, if so asked,
        without padding."""
        result: te.Size = 1
        for n, a in enumerate(self.axes):
            (p, q), k, s = self.window.padding[n], self.kernel[n], self.window.strides[n]
            if self.extra[n] == 0 and (count_include_pad or (p, q) == (0, 0)):
                result = result * k
                continue
            if self.window.dilation[n] != 1:
                problem = f"dilation={self.window.dilation} of a mean without padding or with ceil_mode"
                raise refuse(self.op, problem, "use dilation 1, or count_include_pad=True and no ceil_mode")
            first = index[a] * s
            last = te.min(first + k, self.sizes[n] + p + (q if count_include_pad else 0))
            result = result * (last - first if count_include_pad else last - te.max(first, p))
        return result


def _maximum(pool: _Pool) -> te.Tensor:
    numbers(pool.op, "data", pool.x)
    x, taps = pool.padded_data(MAX.identity([pool.x.dtype])[0]), pool.taps()
    return te.compute(pool.shape, lambda *i: MAX(x(*pool.window_index(i, taps)), axis=taps), name="pool_max")


def max_pool_with_indices(
    data: te.Tensor,
    size: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool = False,
    columns: bool = False,
    of_image: bool = False,
) -> tuple[te.Tensor, te.Tensor]:
    """The greatest element of each window of (n, c, ...), and its index, int64; of equal ones the first in the window.

    The index counts the elements of the data in row-major order, columns: of each image in column-major order;
    of_image: from the start of its image.
    """
    axes = "DHW"[-len(size) :]
    x, order = _image("nn.max_pool", data, f"NC{axes}", f"NC{axes}")
    pool = _Pool(
        "nn.max_pool",
        x,
        order,
        size,
        Window.from_arguments("nn.max_pool", strides, padding, dilation, len(axes)),
        ceil_mode,
    )
    least, taps = MAX.identity([x.dtype])[0], pool.taps()
    source, reducer = pool.padded_data(least), first_of(lambda a, b: a > b, False, x.dtype)

    def candidate(*i: te.Expr) -> TupleReduction:
        """Padding has the last index, so that no element equal to it yields to it."""
        positions = [v - p for v, (p, _) in zip(pool.window_index(i, taps)[2:], pool.window.padding, strict=True)]
        tests = [t for v, n in zip(positions, pool.sizes, strict=True) for t in (v >= 0, v < n)]
        flat_index = te.if_then_else(te.all(*tests), _row_major(positions, pool.sizes), te.max_value("int32"))
        return reducer((flat_index, source(*pool.window_index(i, taps))), axis=taps)

    where, greatest = te.compute(pool.shape, candidate, name="pool_argmax")

    def index(*i: te.Expr) -> te.Expr:
        flat_index, image = where(*i), total(pool.sizes)
        if columns:
            flat_index = _row_major(
                *zip(*reversed([*zip(unravel_index(flat_index, pool.sizes), pool.sizes, strict=True)]), strict=True)
            )
        return (
            flat_index.astype("int64")
            if of_image
            else (i[0] * x.shape[1] + i[1]).astype("int64") * image + flat_index.astype("int64")
        )

    return greatest, te.compute(pool.shape, index, name="pool_index")


def _row_major(positions: Sequence[te.Expr], sizes: Sequence[te.Size]) -> te.Expr:
    flat_index = positions[0]
    for v, n in zip(positions[1:], sizes[1:], strict=True):
        flat_index = flat_index * n + v
    return flat_index


def _mean(pool: _Pool, count_include_pad: bool) -> te.Tensor:
    dtype = pool.x.dtype
    wide = wide_type(dtype)
    x, taps = pool.padded_data(0), pool.taps()
    added = te.compute(
        pool.shape, lambda *i: te.sum(as_type(x(*pool.window_index(i, taps)), dtype, wide), axis=taps), name="pool_sum"
    )

    def element(*i: te.Expr) -> te.Expr:
        return as_type(added(*i) / constant(pool.count(i, count_include_pad), wide), wide, dtype)

    return te.compute(pool.shape, element, name="pool_avg")


def _image(op: str, data: te.Tensor, text: str, default: str) -> tuple[te.Tensor, TensorLayout]:
    order = layout(op, "layout", text, default, default)
    x = tensor(op, "data", data)
    order.sizes(op, "data", x)
    return x, order


def _pool_builder(op: str, default: str) -> Callable[..., te.Tensor]:
    letters = [a for a in default if a in "DHW"]

    def build_pool(
        data: te.Tensor,
        size: Ints,
        strides: Ints | None,
        padding: Ints,
        dilation: Ints,
        kind: str,
        ceil_mode: bool,
        text: str,
        count_include_pad: bool,
    ) -> te.Tensor:
        x, order = _image(op, data, text, default)
        kernel = integers(op, "pool_size", size, len(letters), 1)
        window = Window.from_arguments(op, kernel if strides is None else strides, padding, dilation, len(letters))
        if any(
            max(sides) >= d * (k - 1) + 1 for sides, k, d in zip(window.padding, kernel, window.dilation, strict=True)
        ):
            raise refuse(op, f"padding={padding} for windows of {kernel}", "pad by less than the window")
        if kind == "avg":
            floats(op, "data", x)
        pool = _Pool(op, x, order, kernel, window, ceil_mode)
        return _maximum(pool) if kind == "max" else _mean(pool, count_include_pad)

    return build_pool


def _max_pool(op: str, default: str):
    pool = _pool_builder(op, default)

    def operator(
        data: te.Tensor,
        pool_size: Ints = 1,
        strides: Ints | None = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        ceil_mode: bool = False,
        layout: str = default,
    ) -> te.Tensor:
        """The greatest element of each window; strides None: windows side by side.

        ceil_mode: the last window may reach beyond the padding, but begins within the data or the padding before it.
        """
        return pool(data, pool_size, strides, padding, dilation, "max", ceil_mode, layout, True)

    operator.__name__ = operator.__qualname__ = op.removeprefix("nn.")
    return operator


def _avg_pool(op: str, default: str):
    pool = _pool_builder(op, default)

    def operator(
        data: te.Tensor,
        pool_size: Ints = 1,
        strides: Ints | None = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        ceil_mode: bool = False,
        layout: str = default,
        count_include_pad: bool = False,
    ) -> te.Tensor:
        """The mean of each window, of floats; strides None: windows side by side.

        ceil_mode: the last window may reach beyond the padding, but begins within the data or the padding before it.
        count_include_pad: padding counts as zeros, else the mean is that of the data alone.
        """
        return pool(data, pool_size, strides, padding, dilation, "avg", ceil_mode, layout, count_include_pad)

    operator.__name__ = operator.__qualname__ = op.removeprefix("nn.")
    return operator


max_pool1d, avg_pool1d = _max_pool("nn.max_pool1d", "NCW"), _avg_pool("nn.avg_pool1d", "NCW")
max_pool2d, avg_pool2d = _max_pool("nn.max_pool2d", "NCHW"), _avg_pool("nn.avg_pool2d", "NCHW")
max_pool3d, avg_pool3d = _max_pool("nn.max_pool3d", "NCDHW"), _avg_pool("nn.avg_pool3d", "NCDHW")


def pool2d(
    data: te.Tensor,
    kernel: Ints,
    stride: Ints | None,
    dilation: Ints,
    padding: Ints,
    pool_type: str,
    ceil_mode: bool = False,
    layout: str = "NCHW",
    count_include_pad: bool = True,
) -> te.Tensor:
    """The maxima (`pool_type="max"`) or means ("avg") of windows of two axes, as `max_pool2d` and `avg_pool2d` compute
    them; maxima do not use `count_include_pad`. The order of arguments is TVM's: dilation before padding.
    """
    one_of("nn.pool2d", "pool_type", pool_type, ["max", "avg"])
    if pool_type == "max":
        return max_pool2d(data, kernel, stride, padding, dilation, ceil_mode, layout)
    return avg_pool2d(data, kernel, stride, padding, dilation, ceil_mode, layout, count_include_pad)


def global_pool(data: te.Tensor, pool_type: str, layout: str = "NCHW") -> te.Tensor:
    """The mean or maximum of each image, by pool_type "avg" or "max"; its axes remain, with size 1."""
    return adaptive_pool(data, 1, pool_type, layout)


def adaptive_pool(data: te.Tensor, output_size: Ints, pool_type: str, layout: str = "NCHW") -> te.Tensor:
    """The means (`pool_type="avg"`) or maxima ("max") of `output_size` windows along each of two axes, which cover the
    image, as `adaptive_avg_pool2d` and `adaptive_max_pool2d` compute them.
    """
    one_of("nn.adaptive_pool", "pool_type", pool_type, ["avg", "max"])
    return _adaptive("nn.adaptive_pool", data, output_size, pool_type, layout, "NCHW")


def _adaptive_pool(kind: str, default: str):
    op = f"nn.adaptive_{kind}_pool{len(default) - 2}d"

    def operator(
        data: te.Tensor, output_size: Sequence[int | None] | int | None = None, layout: str = default
    ) -> te.Tensor:
        """The means or maxima of windows that cover the data: output_size of them along each axis, or a number
        for each; None: as many as the data has. Window i of n over m elements covers floor(i * m / n) to
        ceil((i + 1) * m / n).
        """
        return _adaptive(op, data, output_size, kind, layout, default)

    operator.__name__ = operator.__qualname__ = op.removeprefix("nn.")
    return operator


adaptive_avg_pool1d, adaptive_max_pool1d = _adaptive_pool("avg", "NCW"), _adaptive_pool("max", "NCW")
adaptive_avg_pool2d, adaptive_max_pool2d = _adaptive_pool("avg", "NCHW"), _adaptive_pool("max", "NCHW")
adaptive_avg_pool3d, adaptive_max_pool3d = _adaptive_pool("avg", "NCDHW"), _adaptive_pool("max", "NCDHW")


def _adaptive(
    op: str, data: te.Tensor, output_size: Sequence[int | None] | int | None, kind: str, text: str, default: str
) -> te.Tensor:
    """Window i of n along an axis of m elements covers floor(i * m / n) to ceil((i + 1) * m / n)."""
    x, order = _image(op, data, text, default)
    (floats if kind == "avg" else numbers)(op, "data", x)
    letters = [a for a in order.axes if a in "DHW"]
    axes = [order.axes.index(a) for a in letters]
    entries = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * len(letters)
    if len(entries) != len(letters):
        raise refuse(op, f"output_size={output_size} has {len(entries)} numbers", f"pass one, or {len(letters)}")
    out_sizes = [
        x.shape[p] if v is None else integers(op, "output_size", v, 1, 1)[0] for p, v in zip(axes, entries, strict=True)
    ]
    spans = {p: _AdaptiveWindows(op, x, p, n) for p, n in zip(axes, out_sizes, strict=True)}
    wide = wide_type(x.dtype) if kind == "avg" else x.dtype
    empty = constant(0, wide) if kind == "avg" else MAX.identity([wide])[0]
    taps = {p: te.reduce_axis((0, span.most), name=f"r{p}") for p, span in spans.items()}

    def element(*i: te.Expr) -> te.ReductionValue:
        value = as_type(
            x(*(spans[a].window_start(v) + taps[a] if a in spans else v for a, v in enumerate(i))), x.dtype, wide
        )
        tests = [taps[a] < spans[a].count(i[a]) for a in spans if not spans[a].even]
        value = te.if_then_else(te.all(*tests), value, empty) if tests else value
        return (te.sum if kind == "avg" else MAX)(value, axis=list(taps.values()))

    shape = tuple(spans[a].windows if a in spans else n for a, n in enumerate(x.shape))
    name = "adaptive_pool_sum" if kind == "avg" else "adaptive_pool_max"
    pooled = te.compute(shape, element, name=name)
    if kind == "max":
        return pooled
    even = simple(total([span.most for span in spans.values()]))

    def mean(*i: te.Expr) -> te.Expr:
        count: te.Size = even
        if not all(span.even for span in spans.values()):
            count = 1
            for a, span in spans.items():
                count = span.count(i[a]) * count
        return as_type(pooled(*i) / constant(count, wide), wide, x.dtype)

    return te.compute(shape, mean, name="adaptive_pool_avg")


def adaptive_max_pool_with_indices(data: te.Tensor, output_size: Sequence[int]) -> tuple[te.Tensor, te.Tensor]:
    """The maxima of `nn.adaptive_max_pool` of (n, c, ..), and the index of each in its image, int64."""
    op = "nn.adaptive_max_pool"
    letters = f"NC{'DHW'[-len(output_size) :]}"
    x, _ = _image(op, data, letters, letters)
    axes = list(range(2, x.ndim))
    spans = {
        p: _AdaptiveWindows(op, x, p, x.shape[p] if n is None else n) for p, n in zip(axes, output_size, strict=True)
    }
    taps = {p: te.reduce_axis((0, span.most), name=f"r{p}") for p, span in spans.items()}
    reducer = first_of(lambda a, b: a > b, False, x.dtype)
    least = MAX.identity([x.dtype])[0]

    def candidate(*i: te.Expr) -> TupleReduction:
        at = {p: spans[p].window_start(i[p]) + taps[p] for p in axes}
        tests = [taps[p] < spans[p].count(i[p]) for p in axes if not spans[p].even]
        value = x(*i[:2], *at.values())
        flat_index = _row_major(list(at.values()), [x.shape[p] for p in axes])
        if tests:
            value = te.if_then_else(te.all(*tests), value, least)
            flat_index = te.if_then_else(te.all(*tests), flat_index, te.max_value("int32"))
        return reducer((flat_index, value), axis=list(taps.values()))

    where, greatest = te.compute(
        (*x.shape[:2], *(spans[p].windows for p in axes)), candidate, name="adaptive_pool_argmax"
    )
    return greatest, te.compute(where.shape, lambda *i: where(*i).astype("int64"), name="adaptive_pool_index")


class _AdaptiveWindows:
    """The windows along one axis. `most`: the size of the largest; `even`: whether all have it."""

    def __init__(self, op: str, x: te.Tensor, axis: int, windows: te.Size):
        self.size, self.windows = x.shape[axis], windows
        quotient = exact_quotient([self.size], [windows])
        self.even = quotient is not None
        if quotient is None and (number(self.size) is None or number(windows) is None):
            problem = f"{windows} windows along axis {axis} of {describe_tensor('data', x)} have no size that is known"
            raise refuse(op, problem, "use 1 window, or sizes that are numbers")
        self.most = quotient if quotient is not None else max(self.count(i) for i in range(number(windows) or 0))

    def window_start(self, i: te.Expr) -> te.Expr:
        return i * self.most if self.even else i * self.size // self.windows

    def count(self, i: te.Size) -> te.Size:
        if self.even:
            return self.most
        return ((i + 1) * self.size + self.windows - 1) // self.windows - i * self.size // self.windows
