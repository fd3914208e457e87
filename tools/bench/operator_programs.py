"""The operators between the products of a model as unscheduled programs; the last block is "out"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tir_mlir import te
from tir_mlir.script import PrimFunc

EPSILON = 1e-5


def transpose(rows: int, columns: int) -> PrimFunc:
    x = _input((rows, columns), name="X")
    return te.create_prim_func([x, _compute((columns, rows), lambda i, j: x[j, i], name="out")])


def reduced(rows: int, columns: int, axis: int | None, combine: Callable[..., Any] = te.sum) -> PrimFunc:
    """The sum, or another reduction, of a matrix over one axis, or over both."""
    size = (rows, columns)
    x, axes = _input(size, name="X"), [te.reduce_axis((0, n), name=name) for n, name in zip(size, "kl", strict=True)]
    if axis is None:
        return te.create_prim_func([x, _compute((1,), lambda _: combine(x[axes[0], axes[1]], axis=axes), name="out")])
    k = axes[axis]
    out = _compute((size[1 - axis],), lambda i: combine(x[i, k] if axis else x[k, i], axis=k), name="out")
    return te.create_prim_func([x, out])


def rms_norm(rows: int, columns: int) -> PrimFunc:
    x, w = _input((rows, columns), name="X"), _input((columns,), name="W")
    k = te.reduce_axis((0, columns), name="k")
    s = _compute((rows,), lambda i: te.sum(x[i, k] * x[i, k], axis=k), name="S")
    out = _compute((rows, columns), lambda i, j: x[i, j] / te.sqrt(s[i] / float(columns) + EPSILON) * w[j], name="out")
    return te.create_prim_func([x, w, out])


def batch_norm(rows: int, columns: int) -> PrimFunc:
    """As at inference: means and variances are given."""
    x = _input((rows, columns), name="X")
    m, s, g, h = (_input((columns,), name=name) for name in ("mean", "spread", "scale", "shift"))
    out = _compute((rows, columns), lambda i, j: (x[i, j] - m[j]) / te.sqrt(s[j] + EPSILON) * g[j] + h[j], name="out")
    return te.create_prim_func([x, m, s, g, h, out])


def gelu(rows: int, columns: int) -> PrimFunc:
    """The form with tanh."""
    x, c = _input((rows, columns), name="X"), math.sqrt(2 / math.pi)
    cubic = _compute((rows, columns), lambda i, j: x[i, j] + x[i, j] * x[i, j] * x[i, j] * 0.044715, name="cubic")
    out = _compute((rows, columns), lambda i, j: x[i, j] * 0.5 * (te.tanh(cubic[i, j] * c) + 1.0), name="out")
    return te.create_prim_func([x, out])


def gelu_erf(rows: int, columns: int) -> PrimFunc:
    """The form with the error function."""
    x = _input((rows, columns), name="X")
    out = _compute((rows, columns), lambda i, j: x[i, j] * 0.5 * (te.erf(x[i, j] * math.sqrt(0.5)) + 1.0), name="out")
    return te.create_prim_func([x, out])


def quantize(rows: int, columns: int, scale: float) -> PrimFunc:
    """float32 to int8: rounded to the nearest multiple of the scale, halves to even."""
    x = _input((rows, columns), name="X")

    def byte(i, j):
        return te.max(te.min(te.nearbyint(x[i, j] * (1 / scale)), 127.0), -128.0).astype("int8")

    return te.create_prim_func([x, _compute((rows, columns), byte, name="out")])


def dequantize(rows: int, columns: int) -> PrimFunc:
    """int8 to float32, with a scale for each column."""
    q, s = _input((rows, columns), "int8", name="Q"), _input((columns,), name="S")
    out = _compute((rows, columns), lambda i, j: q[i, j].astype("float32") * s[j], name="out")
    return te.create_prim_func([q, s, out])


def embedding(rows: int, columns: int) -> PrimFunc:
    """Rows of a table by their numbers."""
    ids, table = _input((rows,), "int32", name="ids"), _input((rows, columns), name="table")
    return te.create_prim_func([ids, table, _compute((rows, columns), lambda i, j: table[ids[i], j], name="out")])


def attention(heads: int, keys: int, width: int, causal: bool) -> PrimFunc:
    """As many queries as keys; the weights are divided after the second product."""
    q, k, v = (_input((heads, keys, width), name=name) for name in "QKV")
    d = te.reduce_axis((0, width), name="d")
    k_max, k_sum, k_out = (te.reduce_axis((0, keys), name="k") for _ in range(3))
    scale, square, row = 1 / math.sqrt(width), (heads, keys, keys), (heads, keys)
    s = _compute(square, lambda h, i, j: te.sum(q[h, i, d] * k[h, j, d], axis=d), name="S")

    def seen(i, j, value, hidden):
        return te.if_then_else(j <= i, value, hidden) if causal else value

    least = te.min_value("float32")
    x = _compute(square, lambda h, i, j: seen(i, j, s[h, i, j] * scale, least), name="X")
    m = _compute(row, lambda h, i: te.max(x[h, i, k_max], axis=k_max), name="M")
    e = _compute(square, lambda h, i, j: seen(i, j, te.exp(x[h, i, j] - m[h, i]), 0.0), name="E")
    z = _compute(row, lambda h, i: te.sum(e[h, i, k_sum], axis=k_sum), name="Z")
    p = _compute((heads, keys, width), lambda h, i, c: te.sum(e[h, i, k_out] * v[h, k_out, c], axis=k_out), name="P")
    return te.create_prim_func(
        [q, k, v, _compute((heads, keys, width), lambda h, i, c: p[h, i, c] / z[h, i], name="out")]
    )


def _input(shape: tuple[int, ...], dtype: str = "float32", *, name: str) -> Any:
    """A parameter; indexed fully, it is an expression."""
    return te.placeholder(shape, dtype, name=name)


def _compute(shape: tuple[int, ...], value: Callable[..., Any], name: str) -> Any:
    return te.compute(shape, value, name=name)
