"""Products with weights of 4 and 8 bits and scales by group, and arrays for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tir_mlir import te
from tir_mlir.script import tir as T

FORMS = ("halves", "pairs", "bytes")


@dataclass(frozen=True)
class Weights:
    """An n x k matrix, one scale for `group` values of a row. The form: which values share a byte ("halves": value j of
    a group and value j + group / 2; "pairs": adjacent ones; "bytes": none). `turned`: stored as k x n."""

    n: int
    k: int
    group: int = 32
    form: str = "halves"
    turned: bool = False


def dequantized_product(m: int, weights: Weights, blocks: int = 1):
    """C[m, n] = A[m, k] @ W[n, k].T with W[i, r] = (q - 8) * scale, in one block or two."""
    n, k, group, turned = weights.n, weights.k, weights.group, weights.turned
    shape = lambda columns: (columns, n) if turned else (n, columns)  # noqa: E731
    at = lambda x, i, r: x[r, i] if turned else x[i, r]  # noqa: E731
    q = te.placeholder(shape(k if weights.form == "bytes" else k // 2), "uint8", name="Q")
    s, a = te.placeholder(shape(k // group), name="S"), te.placeholder((m, k), name="A")
    stored = lambda i, r: _stored(weights, lambda j: at(q, i, j), r)  # noqa: E731
    if blocks == 2:
        u = te.compute(shape(k), lambda x, y: stored(y, x) if turned else stored(x, y), name="U")
        stored = lambda i, r: at(u, i, r)  # noqa: E731
    value = lambda i, r: (stored(i, r) - 8).astype("float32") * at(s, i, r // group)  # noqa: E731
    w = te.compute(shape(k), lambda x, y: value(y, x) if turned else value(x, y), name="W")
    r = te.reduce_axis((0, k), name="k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * at(w, j, r), axis=r), name="C")
    return te.create_prim_func([q, s, a, c])


def integer_product(m: int, n: int, k: int, turned: bool):
    """C[m, n] = A[m, k] @ W[n, k].T of int8 in int32; W has values of 4 bits less 8, adjacent ones in a byte."""
    q = te.placeholder((k // 2, n) if turned else (n, k // 2), "uint8", name="Q")
    a = te.placeholder((m, k), "int8", name="A")
    byte = lambda i, r: q[r // 2, i] if turned else q[i, r // 2]  # noqa: E731
    value = lambda i, r: ((byte(i, r).astype("int32") >> (r % 2 * 4)) & 15).astype("int8") - T.int8(8)  # noqa: E731
    w = te.compute((k, n) if turned else (n, k), lambda x, y: value(y, x) if turned else value(x, y), name="W")
    r = te.reduce_axis((0, k), name="k")
    term = lambda i, j: a[i, r].astype("int32") * (w[r, j] if turned else w[j, r]).astype("int32")  # noqa: E731
    return te.create_prim_func([q, a, te.compute((m, n), lambda i, j: te.sum(term(i, j), axis=r), name="C")])


def integer_rows(m: int, weights: Weights):
    """C[m, n] = A[m, k] @ W[n, k].T of int8 in int32, with W[i, r] = q - 8 in int8."""
    n, k, turned = weights.n, weights.k, weights.turned
    q = te.placeholder((k // 2, n) if turned else (n, k // 2), "uint8", name="Q")
    a, r = te.placeholder((m, k), "int8", name="A"), te.reduce_axis((0, k), name="k")
    byte = lambda i, j: q[j, i] if turned else q[i, j]  # noqa: E731
    w = te.compute((n, k), lambda i, r: (_stored(weights, lambda j: byte(i, j), r) - 8).astype("int8"), name="W")
    term = lambda i, j: a[i, r].astype("int32") * w[j, r].astype("int32")  # noqa: E731
    return te.create_prim_func([q, a, te.compute((m, n), lambda i, j: te.sum(term(i, j), axis=r), name="C")])


def _stored(weights: Weights, byte, r):
    if weights.form == "bytes":
        return byte(r).astype("int32")
    if weights.form == "pairs":
        return (byte(r // 2).astype("int32") >> (r % 2 * 4)) & 15
    group, half = weights.group, weights.group // 2
    return (byte(r // group * half + r % half).astype("int32") >> (r % group // half * 4)) & 15


def packed_weights(weights: Weights, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random stored values and scales (small integers: sums are exact), and the matrix that they stand for."""
    n, k, group = weights.n, weights.k, weights.group
    values = rng.integers(0, 16, (n, k)).astype("uint8")
    scales = rng.integers(-2, 3, (n, k // group)).astype("float32")
    matrix = ((values.astype("float32") - 8).reshape(n, -1, group) * scales[:, :, None]).reshape(n, k)
    halves = values.reshape(n, -1, 2, group // 2)
    stored = {
        "bytes": lambda: values,
        "pairs": lambda: values[:, ::2] | values[:, 1::2] << 4,
        "halves": lambda: (halves[:, :, 0] | halves[:, :, 1] << 4).reshape(n, -1),
    }[weights.form]()
    return tuple(
        np.ascontiguousarray(x.T) if weights.turned and x is not matrix else x for x in (stored, scales, matrix)
    )
