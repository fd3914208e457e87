"""The ten programs of docs/searches.md, as loop nests that both libraries read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tensor_programs import convolution, layer_norm, product, softmax
from tir_mlir import te
from tir_mlir.script import PrimFunc


@dataclass(frozen=True)
class SearchedProgram:
    """operations: arithmetic ones of a call, 0 where bytes count. moved: bytes of its arrays."""

    name: str
    make: Callable[[], PrimFunc]
    operations: float
    moved: float = 0.0

    @property
    def unit(self) -> str:
        return "GFLOP/s" if self.operations else "GB/s"

    def rate(self, seconds: float) -> float:
        """In its unit."""
        return (self.operations or self.moved) / seconds / 1e9


def _twice(count: float) -> float:
    """The operations of multiply-adds."""
    return 2.0 * count


def depthwise(channels: int, size: int) -> PrimFunc:
    """3x3, padded by 1: each channel by its own filter."""
    x, w = te.placeholder((channels, size, size), name="X"), te.placeholder((channels, 3, 3), name="W")
    inside = lambda c, h, v: te.if_then_else(  # noqa: E731
        te.all(h >= 1, h < size + 1, v >= 1, v < size + 1), x[c, h - 1, v - 1], 0.0
    )
    p = te.compute((channels, size + 2, size + 2), inside, name="P")
    kh, kw = te.reduce_axis((0, 3), name="kh"), te.reduce_axis((0, 3), name="kw")
    y = te.compute(
        (channels, size, size), lambda c, h, v: te.sum(p[c, h + kh, v + kw] * w[c, kh, kw], axis=[kh, kw]), name="Y"
    )
    return te.create_prim_func([x, w, y])


def attention(heads: int, rows: int, width: int) -> PrimFunc:
    """softmax(Q @ K.T / sqrt(width)) @ V, head by head."""
    q, k, v = (te.placeholder((heads, rows, width), name=name) for name in "QKV")
    d, m, s, r = (te.reduce_axis((0, e), name=n) for e, n in ((width, "d"), (rows, "m"), (rows, "s"), (rows, "r")))
    scale = 1 / math.sqrt(width)
    scores = te.compute((heads, rows, rows), lambda h, i, j: te.sum(q[h, i, d] * k[h, j, d], axis=d), name="scores")
    scaled = te.compute((heads, rows, rows), lambda h, i, j: scores[h, i, j] * scale, name="scaled")
    top = te.compute((heads, rows), lambda h, i: te.max(scaled[h, i, m], axis=m), name="top")
    power = te.compute((heads, rows, rows), lambda h, i, j: te.exp(scaled[h, i, j] - top[h, i]), name="power")
    total = te.compute((heads, rows), lambda h, i: te.sum(power[h, i, s], axis=s), name="total")
    share = te.compute((heads, rows, rows), lambda h, i, j: power[h, i, j] / total[h, i], name="share")
    out = te.compute((heads, rows, width), lambda h, i, j: te.sum(share[h, i, r] * v[h, r, j], axis=r), name="out")
    return te.create_prim_func([q, k, v, out])


def feed_forward(m: int, n: int, k: int) -> PrimFunc:
    """gelu(X @ W.T + bias), by tanh."""
    x, w, b = te.placeholder((m, k), name="X"), te.placeholder((n, k), name="W"), te.placeholder((n,), name="bias")
    r = te.reduce_axis((0, k), name="r")
    c = te.compute((m, n), lambda i, j: te.sum(x[i, r] * w[j, r], axis=r), name="C")
    s = te.compute((m, n), lambda i, j: c[i, j] + b[j], name="S")

    def gelu(i: Any, j: Any) -> Any:
        y = s[i, j]
        return 0.5 * y * (1.0 + te.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))

    return te.create_prim_func([x, w, b, te.compute((m, n), gelu, name="G")])


def integer_product(m: int, n: int, k: int) -> PrimFunc:
    """C[m, n] = A[m, k] @ B[n, k].T of uint8 and int8, summed in int32."""
    a, b = te.placeholder((m, k), "uint8", name="A"), te.placeholder((n, k), "int8", name="B")
    r = te.reduce_axis((0, k), name="r")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r].astype("int32") * b[j, r].astype("int32"), axis=r), name="C")
    return te.create_prim_func([a, b, c])


TEN = (
    SearchedProgram("product 200x3000x700", lambda: product(200, 3000, 700), _twice(200 * 3000 * 700)),
    SearchedProgram("product, B.T, 512^3", lambda: product(512, 512, 512, trans_b=True), _twice(512**3)),
    SearchedProgram(
        "convolution 3x3, 28x28x96 to 160", lambda: convolution(96, 160, 28, 3, 1, 1),
        _twice(160 * 28 * 28 * 96 * 9),
    ),
    SearchedProgram(
        "convolution 3x3 by 2, 28x28x128 to 256", lambda: convolution(128, 256, 28, 3, 2, 1),
        _twice(256 * 14 * 14 * 128 * 9),
    ),
    SearchedProgram("depthwise 3x3, 56x56x96", lambda: depthwise(96, 56), _twice(96 * 56 * 56 * 9)),
    SearchedProgram("attention, 8 heads, 128x64", lambda: attention(8, 128, 64), _twice(2 * 8 * 128 * 128 * 64)),
    SearchedProgram("layer norm 512x1024", lambda: layer_norm(512, 1024, 1e-5), 0.0, 8.0 * 512 * 1024),
    SearchedProgram("softmax 1024x1024", lambda: softmax(1024, 1024), 0.0, 8.0 * 1024 * 1024),
    SearchedProgram(
        "product, bias, GELU 256x768x768", lambda: feed_forward(256, 768, 768), _twice(256 * 768 * 768)
    ),
    SearchedProgram("product of 8 bits 512^3", lambda: integer_product(512, 512, 512), _twice(512**3)),
)  # fmt: skip
