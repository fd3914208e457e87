"""Tensors of numbers that no operand gives: constants, ranges, random bits, and masks of triangles."""

from __future__ import annotations

from tir_mlir import te
from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.te.statements import T
from tir_mlir.topi.operands import (
    DTYPES,
    Elements,
    Number,
    axis_of,
    constant,
    describe_tensor,
    extent,
    integer,
    is_float,
    one_of,
    ranked_tensor,
    refuse,
    shape_of,
    tensor,
)
from tir_mlir.topi.sizes import ceil_quotient, simple

_HIGH, _LOW = 0xCD9E8D57, 0xD2511F53
_KEYS = 0x9E3779B9, 0xBB67AE85
__all__ = [
    "arange", "eye", "full", "full_like", "one_hot", "ones", "ones_like", "philox", "tril", "triu", "zeros",
    "zeros_like",
]  # fmt: skip


def full(shape: te.Shape, dtype: str, fill_value: Number) -> te.Tensor:
    """A tensor of one number.

    shape: numbers or sizes; dtype: any type; fill_value: a number -> a tensor of that shape and type.
    """
    one_of("full", "dtype", dtype, DTYPES)
    return te.compute(shape_of("full", shape), lambda *i: constant(fill_value, dtype), name="T_full")


def zeros(shape: te.Shape, dtype: str = "float32") -> te.Tensor:
    """A tensor of zeros.

    shape: numbers or sizes; dtype: any type -> a tensor of that shape and type.
    """
    return full(shape, dtype, 0)


def ones(shape: te.Shape, dtype: str = "float32") -> te.Tensor:
    """A tensor of ones.

    shape: numbers or sizes; dtype: any type -> a tensor of that shape and type.
    """
    return full(shape, dtype, 1)


def full_like(x: te.Tensor, fill_value: Number) -> te.Tensor:
    """A tensor of one number with the shape and type of another.

    x: any shape and type; fill_value: a number -> the same shape and type. The elements of x are not read.
    """
    operand = tensor("full_like", "x", x)
    return full(operand.shape, operand.dtype, fill_value)


def zeros_like(x: te.Tensor) -> te.Tensor:
    """Zeros with the shape and type of a tensor.

    x: any shape and type -> the same. The elements of x are not read.
    """
    return full_like(x, 0)


def ones_like(x: te.Tensor) -> te.Tensor:
    """Ones with the shape and type of a tensor.

    x: any shape and type -> the same. The elements of x are not read.
    """
    return full_like(x, 1)


def arange(
    start: te.Expr | float, stop: te.Expr | float | None = None, step: te.Expr | float = 1, dtype: str = "float32"
) -> te.Tensor:
    """start, start + step, ... below stop; arange(stop) starts from 0. Sizes may be symbolic, if step is positive."""
    one_of("arange", "dtype", dtype, DTYPES)
    first, last = (0, start) if stop is None else (start, stop)
    if not isinstance(step, (int, float)) or step == 0:
        raise refuse("arange", f"step={short_repr(step)}", "pass a number other than 0")
    if isinstance(first, (int, float)) and isinstance(last, (int, float)):
        count: te.Size = max(0, -int(-(last - first) // step))
    else:
        count = ceil_quotient(extent("arange", last) - extent("arange", first), integer("arange", "step", step, 1))
    integral = all(not isinstance(v, float) for v in (first, step))

    def value(i: te.Expr) -> te.Expr:
        if integral or not is_float(dtype):
            return constant(i * step + first, dtype)
        return constant(i, dtype) * constant(step, dtype) + constant(first, dtype)

    return te.compute((simple(count),), value, name="T_arange")


def eye(n: te.Size, m: te.Size | None = None, k: int = 0, dtype: str = "float32") -> te.Tensor:
    """A matrix with ones on a diagonal, zeros elsewhere.

    n, m: rows and columns, m default n; k: how far the diagonal is above the main one, negative below -> (n, m).
    """
    one_of("eye", "dtype", dtype, DTYPES)
    unit, zero = constant(1, dtype), constant(0, dtype)
    shape = shape_of("eye", (n, n if m is None else m))
    return te.compute(shape, lambda i, j: te.Select(te.all(i + k >= j, i + k <= j), unit, zero), name="T_eye")


def tril(x: te.Tensor, k: int = 0) -> te.Tensor:
    """The last two axes on and below a diagonal, zero above it.

    x: (.., n, m) -> the same shape and type; k: how far the diagonal is above the main one, negative below.
    """
    return _triangle("tril", x, k, lambda i, j: j <= i)


def triu(x: te.Tensor, k: int = 0) -> te.Tensor:
    """The last two axes on and above a diagonal, zero below it.

    x: (.., n, m) -> the same shape and type; k: how far the diagonal is above the main one, negative below.
    """
    return _triangle("triu", x, k, lambda i, j: j >= i)


def _triangle(name: str, x: te.Tensor, k: int, keeps: Elements) -> te.Tensor:
    matrix, k = ranked_tensor(name, "x", x, 2, 99), integer(name, "k", k)
    zero = constant(0, matrix.dtype)
    return te.compute(matrix.shape, lambda *i: te.Select(keeps(i[-2] + k, i[-1]), matrix(*i), zero), name=f"T_{name}")


def one_hot(
    indices: te.Tensor,
    on_value: Number = 1,
    off_value: Number = 0,
    depth: te.Size = 0,
    axis: int = -1,
    dtype: str = "float32",
) -> te.Tensor:
    """A new axis of `depth` elements: on_value where its index is the element of `indices`, else off_value."""
    hot = tensor("one_hot", "indices", indices)
    if is_float(hot.dtype):
        raise refuse("one_hot", f"indices are of {hot.dtype}", 'cast them: astype(indices, "int32")')
    dim, depth = axis_of("one_hot", axis, hot.ndim + 1), extent("one_hot", depth)
    on, off = constant(on_value, one_of("one_hot", "dtype", dtype, DTYPES)), constant(off_value, dtype)

    def element(*i: te.Expr) -> te.Expr:
        index = hot(*i[:dim], *i[dim + 1 :])
        return te.Select(te.all(index >= constant(i[dim], hot.dtype), index <= constant(i[dim], hot.dtype)), on, off)

    return te.compute((*hot.shape[:dim], depth, *hot.shape[dim:]), element, name="T_one_hot")


def philox(state: te.Tensor, count: te.Size, words: int = 4, draw: int = 0) -> te.Tensor:
    """The first words of `count` blocks of random numbers, uint32 (count, words): Philox 4x32-10 (Salmon et al.,
    "Parallel random numbers", 2011).

    state: int64 (2,), a seed and an offset. Block i is that of the key (seed, seed >> 32) and the counter
    (offset // 4 + draw, its upper half, i, 0). words: 1 to 4.
    """
    op = "philox"
    x = tensor(op, "state", state)
    if x.dtype != "int64" or x.ndim != 1:
        raise refuse(op, describe_tensor("state", x), "pass int64 (2,): a seed and an offset")
    low, high, key_0, key_1, mask = _LOW, _HIGH, *_KEYS, 0xFFFFFFFF

    def block(i, S, W):
        T.reads(S[0:2])
        T.writes(W[i, 0:words])
        c = T.alloc_buffer((4,), "uint64")
        k = T.alloc_buffer((2,), "uint64")
        counter = T.cast((S[1] >> T.cast(2, "int64")) + T.cast(draw, "int64"), "uint64")
        seed = T.cast(S[0], "uint64")
        c[0] = counter & T.cast(mask, "uint64")
        c[1] = counter >> T.cast(32, "uint64")
        c[2] = T.cast(i, "uint64")
        c[3] = T.cast(0, "uint64")
        k[0] = seed & T.cast(mask, "uint64")
        k[1] = seed >> T.cast(32, "uint64")
        for _r in T.serial(10):
            a = c[0] * T.cast(low, "uint64")
            b = c[2] * T.cast(high, "uint64")
            c[0] = (b >> T.cast(32, "uint64")) ^ c[1] ^ k[0]
            c[1] = b & T.cast(mask, "uint64")
            c[2] = (a >> T.cast(32, "uint64")) ^ c[3] ^ k[1]
            c[3] = a & T.cast(mask, "uint64")
            k[0] = (k[0] + T.cast(key_0, "uint64")) & T.cast(mask, "uint64")
            k[1] = (k[1] + T.cast(key_1, "uint64")) & T.cast(mask, "uint64")
        for n in T.serial(words):
            W[i, n] = T.cast(c[n], "uint32")

    return te.statements((count,), [x], [((count, words), "uint32")], block, name="T_philox")
