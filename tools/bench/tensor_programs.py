"""The workloads as unscheduled loop nests with static shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tir_mlir import te, topi
from tir_mlir.script import PrimFunc

SUMS = {"int8": "int32", "float16": "float32", "bfloat16": "float32"}
"""Accumulator types of the narrow types."""

GROUP = 32
"""The number of values of 4 bits with one scale."""


def product(m: int, n: int, k: int, dtype: str = "float32", trans_b: bool = False, relu: bool = False) -> PrimFunc:
    """C[m, n] = A[m, k] @ B[k, n], or @ B[n, k].T; narrow types are summed in wide ones. `relu`: return max(C, 0)."""
    sums = SUMS.get(dtype, dtype)
    a = _input((m, k), dtype, name="A")
    b = _input((n, k) if trans_b else (k, n), dtype, name="B")
    r = te.reduce_axis((0, k), name="k")

    def term(i, j):
        x, y = a[i, r], b[j, r] if trans_b else b[r, j]
        return x * y if sums == dtype else x.astype(sums) * y.astype(sums)

    c = _compute((m, n), lambda i, j: te.sum(term(i, j), axis=r), name="C")
    if not relu:
        return te.create_prim_func([a, b, c])
    d = _compute((m, n), lambda i, j: te.max(c[i, j], 0.0), name="D")
    return te.create_prim_func([a, b, d])


def any_product() -> PrimFunc:
    """C[m, n] = A[m, k] @ B[k, n] of any sizes, in float32."""
    m, n, k = te.var("m"), te.var("n"), te.var("k")
    a, b, r = _input((m, k), name="A"), _input((k, n), name="B"), te.reduce_axis((0, k), name="r")
    return te.create_prim_func([a, b, _compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")])


def by_group(m: int, n: int, k: int) -> PrimFunc:
    """Y[m, n] = X[m, k] @ W[n, k].T for X of int8: as `dequantized`, with sums of int32 in a group."""
    x, q = _input((m, k), "int8", name="X"), _input((n, k // 2), "uint8", name="Q")
    s = _input((n, k // GROUP), name="S")
    return te.create_prim_func([x, q, s, topi.dense_groups(x, q, s, group_size=GROUP)])


def dequantized(m: int, n: int, k: int, integers: bool = False) -> PrimFunc:
    """C[m, n] = A[m, k] @ W[n, k].T; a value q of W, 4 bits in groups of GROUP, stands for (q - 8) * scale.

    `integers`: there are no scales, A is int8 and the sums are int32.
    """
    half = GROUP // 2
    q, s = _input((n, k // 2), "uint8", name="Q"), _input((n, k // GROUP), name="S")
    a = _input((m, k), "int8" if integers else "float32", name="A")
    r = te.reduce_axis((0, k), name="k")

    def weight(i, r):
        byte = q[i, r // GROUP * half + r % half].astype("int32")
        value = ((byte >> (r % GROUP // half * 4)) & 15) - 8
        return value.astype("int8") if integers else value.astype("float32") * s[i, r // GROUP]

    w = _compute((n, k), weight, name="W")
    sums = "int32" if integers else "float32"
    c = _compute((m, n), lambda i, j: te.sum(a[i, r].astype(sums) * w[j, r].astype(sums), axis=r), name="C")
    return te.create_prim_func([q, a, c] if integers else [q, s, a, c])


def convolution(ci: int, co: int, size: int, kernel: int, stride: int, pad: int) -> PrimFunc:
    """One image in NCHW, weights in OIHW, zero padding."""
    out = (size + 2 * pad - kernel) // stride + 1
    x = _input((1, ci, size, size), name="X")
    w = _input((co, ci, kernel, kernel), name="W")
    source = x
    if pad:
        source = _compute(
            (1, ci, size + 2 * pad, size + 2 * pad),
            lambda n, c, h, v: te.if_then_else(
                te.all(h >= pad, h < size + pad, v >= pad, v < size + pad), x[n, c, h - pad, v - pad], 0.0
            ),
            name="P",
        )
    c, kh, kw = (te.reduce_axis((0, e), name=e_name) for e, e_name in ((ci, "c"), (kernel, "kh"), (kernel, "kw")))
    y = _compute(
        (1, co, out, out),
        lambda n, o, h, v: te.sum(source[n, c, h * stride + kh, v * stride + kw] * w[o, c, kh, kw], axis=[c, kh, kw]),
        name="Y",
    )
    return te.create_prim_func([x, w, y])


def softmax(rows: int, columns: int) -> PrimFunc:
    x = _input((rows, columns), name="X")
    k, m = te.reduce_axis((0, columns), name="k"), te.reduce_axis((0, columns), name="m")
    top = _compute((rows,), lambda i: te.max(x[i, k], axis=k), name="top")
    power = _compute((rows, columns), lambda i, j: te.exp(x[i, j] - top[i]), name="power")
    total = _compute((rows,), lambda i: te.sum(power[i, m], axis=m), name="total")
    out = _compute((rows, columns), lambda i, j: power[i, j] / total[i], name="out")
    return te.create_prim_func([x, out])


def layer_norm(rows: int, columns: int, epsilon: float) -> PrimFunc:
    x = _input((rows, columns), name="X")
    scale, shift = _input((columns,), name="scale"), _input((columns,), name="shift")
    k, m = te.reduce_axis((0, columns), name="k"), te.reduce_axis((0, columns), name="m")
    total = _compute((rows,), lambda i: te.sum(x[i, k], axis=k), name="total")
    spread = _compute(
        (rows,),
        lambda i: te.sum((x[i, m] - total[i] / float(columns)) * (x[i, m] - total[i] / float(columns)), axis=m),
        name="spread",
    )
    out = _compute(
        (rows, columns),
        lambda i, j: (
            (x[i, j] - total[i] / float(columns)) / te.sqrt(spread[i] / float(columns) + epsilon) * scale[j] + shift[j]
        ),
        name="out",
    )
    return te.create_prim_func([x, scale, shift, out])


def chain(rows: int, columns: int) -> PrimFunc:
    """relu(x * y + z) * x - y, one block per operator."""
    shape = (rows, columns)
    x, y, z = (_input(shape, name=name) for name in "XYZ")
    times = _compute(shape, lambda i, j: x[i, j] * y[i, j], name="times")
    plus = _compute(shape, lambda i, j: times[i, j] + z[i, j], name="plus")
    relu = _compute(shape, lambda i, j: te.max(plus[i, j], 0.0), name="relu")
    again = _compute(shape, lambda i, j: relu[i, j] * x[i, j], name="again")
    out = _compute(shape, lambda i, j: again[i, j] - y[i, j], name="out")
    return te.create_prim_func([x, y, z, out])


def _input(shape: tuple[Any, ...], dtype: str = "float32", *, name: str) -> Any:
    """A parameter; indexed fully, it is an expression."""
    return te.placeholder(shape, dtype, name=name)


def _compute(shape: tuple[Any, ...], value: Callable[..., Any], name: str) -> Any:
    return te.compute(shape, value, name=name)
