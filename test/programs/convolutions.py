"""Convolutions for tests of `tir_mlir.schedules`, with NumPy references."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tir_mlir import te


@dataclass(frozen=True)
class Conv:
    """Sizes of a convolution; `batch` and `ci` may be names of symbolic sizes."""

    ci: int | str
    co: int
    size: tuple[int, int]
    kernel: tuple[int, int] = (3, 3)
    stride: int = 1
    pad: int = 0
    dilation: int = 1
    batch: int | str = 1
    dtype: str = "float32"

    @property
    def out(self) -> tuple[int, ...]:
        reach = ((s + 2 * self.pad - self.dilation * (k - 1) - 1) for s, k in zip(self.size, self.kernel, strict=True))
        return tuple(r // self.stride + 1 for r in reach)


def program(conv: Conv, layout: str = "NCHW"):
    """Y = conv(X, W), with a padding block if needed; weights OIHW or HWIO."""
    places = [layout.index(x) for x in "NCHW"]
    named: dict = {}

    def size(extent):
        return named.setdefault(extent, te.var(extent)) if isinstance(extent, str) else extent

    def turned(n, c, h, w):
        found = [None] * 4
        for place, value in zip(places, (n, c, h, w), strict=True):
            found[place] = value
        return tuple(found)

    n, ci, (high, wide), p = size(conv.batch), size(conv.ci), conv.size, conv.pad
    x = te.placeholder(turned(n, ci, high, wide), conv.dtype, name="X")
    weights = (conv.co, ci, *conv.kernel) if layout == "NCHW" else (*conv.kernel, ci, conv.co)
    w = te.placeholder(weights, conv.dtype, name="W")
    source = x
    if p:

        def padded(*i):
            b, c, y, z = (i[place] for place in places)
            inside = te.all(y >= p, y < high + p, z >= p, z < wide + p)
            return te.if_then_else(inside, x[turned(b, c, y - p, z - p)], 0.0 if "float" in conv.dtype else 0)

        source = te.compute(turned(n, ci, high + 2 * p, wide + 2 * p), padded, name="P")
    c, kh, kw = (
        te.reduce_axis((0, e), name=e_name) for e, e_name in ((ci, "c"), *zip(conv.kernel, ("kh", "kw"), strict=True))
    )

    def point(*i):
        b, o, y, z = (i[place] for place in places)
        at = turned(b, c, y * conv.stride + kh * conv.dilation, z * conv.stride + kw * conv.dilation)
        weight = w[o, c, kh, kw] if layout == "NCHW" else w[kh, kw, c, o]
        return te.sum(source[at] * weight, axis=[c, kh, kw])

    y = te.compute(turned(n, conv.co, *conv.out), point, name="Y")
    return te.create_prim_func([x, w, y])


def convolved(x: np.ndarray, w: np.ndarray, conv: Conv, groups: int = 1) -> np.ndarray:
    """NumPy reference for NCHW and OIHW."""
    kernel, d = conv.kernel, conv.dilation
    padded = np.pad(x, ((0, 0), (0, 0), (conv.pad,) * 2, (conv.pad,) * 2))
    reach = tuple(d * (k - 1) + 1 for k in kernel)
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=(2, 3))
    windows = windows[:, :, :: conv.stride, :: conv.stride, ::d, ::d]
    parts = [
        np.einsum("nchwxy,ocxy->nohw", part, weights)
        for part, weights in zip(np.split(windows, groups, axis=1), np.split(w, groups), strict=True)
    ]
    return np.concatenate(parts, axis=1)
