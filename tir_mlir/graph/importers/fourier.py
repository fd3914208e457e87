"""Fourier transforms by factors of 2, 3 and 5, where a size has no others and 4 is one of them; else as products with
small matrices: of n = n1 * n2 elements n * (n1 + n2) products, not n * n."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tir_mlir.graph.importers.emitter import OperatorEmitter, static_size
from tir_mlir.topi.fourier import fft_factors, fft_roots, irfft_roots, rfft_roots

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value

MAX_DENSE_SIZE = 32
"""The most elements that are transformed by one matrix, unless their number is prime."""

FFT_TYPES = ("float32", "float64")
"""The types of transforms by factors."""
Parts: TypeAlias = "tuple[Value, ...]"
"""The real and the imaginary part of complex numbers; of real ones the first only."""


def transform(e: OperatorEmitter, x: Parts, axes: Sequence[int], forward: bool, scale: float) -> Parts:
    """The transform of complex numbers over axes, each a number; times a scale."""
    for axis in axes:
        x = _apply_along_axis(e, x, axis, lambda parts: _transform_last_axis(e, parts, forward))
    return x if scale == 1 else tuple(e.multiply(p, scale) for p in x)


def half_of_real(e: OperatorEmitter, x: Value, axis: int) -> Parts:
    """The first size // 2 + 1 elements of the transform of real numbers over an axis."""
    roots = _roots_of_half(e, x, axis)
    return _apply_along_axis(
        e, (x,), axis, lambda parts: _half(e, parts[0]) if roots is None else e.op_results("rfft", parts[0], roots)
    )


def joined_half_of_real(e: OperatorEmitter, x: Value) -> Value | None:
    """The same over the last axis, (.., size // 2 + 1, 2); None where only parts can be computed."""
    roots = _roots_of_half(e, x, len(x.shape) - 1)
    return None if roots is None else e.op("rfft", x, roots, layout="joined")


def _roots_of_half(e: OperatorEmitter, x: Value, axis: int) -> Value | None:
    size = static_size(x.shape[axis], "the size of a Fourier transform")
    known = size % 2 == 0 and fft_factors(size // 2) and x.dtype in FFT_TYPES
    return e.table(rfft_roots(size), x.dtype) if known else None


def real_part_of_inverse(e: OperatorEmitter, x: Parts, axis: int, size: int) -> Value:
    """The real numbers whose one-sided transform is x, without a scale: (.., size // 2 + 1) -> (.., size)."""
    count = size // 2 + 1
    if size % 2 == 0 and fft_factors(size // 2) and x[0].dtype in FFT_TYPES:
        roots = e.table(irfft_roots(size), x[0].dtype)
        return _apply_along_axis(e, x, axis, lambda parts: (_real_numbers(e, parts, roots, count),))[0]
    angles = 2 * np.pi * np.outer(np.arange(count), np.arange(size)) / size
    twice = np.full((count, 1), 2.0)
    twice[0] = 1
    if size % 2 == 0:
        twice[-1] = 1
    table = np.concatenate([np.cos(angles) * twice, -np.sin(angles) * twice])

    def inverse(parts: Parts) -> Parts:
        joined = e.concat([e.slice(p, len(p.shape) - 1, 0, count) for p in parts], len(parts[0].shape) - 1)
        return (e.op("matmul", joined, e.table(table, parts[0].dtype)),)

    return _apply_along_axis(e, x, axis, inverse)[0]


def _real_numbers(e: OperatorEmitter, x: Parts, roots: Value, count: int) -> Value:
    last = len(x[0].shape) - 1
    pairs = e.op("irfft", *(e.slice(p, last, 0, count) for p in x), roots)
    return e.reshape(pairs, [*pairs.shape[:-2], 2 * (count - 1)])


def _apply_along_axis(e: OperatorEmitter, x: Parts, axis: int, function: Callable[[Parts], Parts]) -> Parts:
    """A function of the last axis, of another one."""
    rank = len(x[0].shape)
    order = [a for a in range(rank) if a != axis] + [axis]
    back = [order.index(a) for a in range(rank)]
    return tuple(e.permute(p, back) for p in function(tuple(e.permute(p, order) for p in x)))


def _factor(size: int) -> int:
    """The greatest divisor up to the square root."""
    return max(d for d in range(1, math.isqrt(size) + 1) if size % d == 0)


def _transform_last_axis(e: OperatorEmitter, x: Parts, forward: bool) -> Parts:
    """The transform of the last axis."""
    size = static_size(x[0].shape[-1], "the size of a Fourier transform")
    if len(x) == 2 and fft_factors(size) and x[0].dtype in FFT_TYPES:
        done = e.op_results("fft", *(x if forward else x[::-1]), e.table(fft_roots(size), x[0].dtype))
        return done if forward else done[::-1]
    first = _factor(size) if size > MAX_DENSE_SIZE else 1
    if first == 1:
        return _dense(e, x, size, forward)
    second, rank = size // first, len(x[0].shape)
    outer = list(x[0].shape[:-1])
    swap = [*range(rank - 1), rank, rank - 1]

    def transpose_last_axes(parts: Parts, shape: Sequence[int]) -> Parts:
        return tuple(e.permute(e.reshape(p, [*outer, *shape]), swap) for p in parts)

    rows = _transform_last_axis(e, transpose_last_axes(x, (first, second)), forward)
    turned = _apply_twiddles(e, rows, first, second, forward)
    columns = _transform_last_axis(e, transpose_last_axes(turned, (second, first)), forward)
    return tuple(e.reshape(p, [*outer, size]) for p in transpose_last_axes(columns, (first, second)))


def _half(e: OperatorEmitter, x: Value) -> Parts:
    """As `_last`, of real numbers: of the first of two steps half is computed, as the rest are conjugates of it."""
    size, axis = static_size(x.shape[-1], "the size of a Fourier transform"), len(x.shape) - 1
    first = _factor(size) if size > MAX_DENSE_SIZE else 1
    if first == 1:
        return _dense(e, (x,), size, True, size // 2 + 1)
    second, half, outer = size // first, first // 2 + 1, list(x.shape[:-1])
    swap = [*range(axis), axis + 1, axis]
    rows = _half(e, e.permute(e.reshape(x, [*outer, first, second]), swap))
    turned = _apply_twiddles(e, rows, first, second, True, half)
    columns = _transform_last_axis(e, (e.permute(turned[0], swap), e.permute(turned[1], swap)), True)
    results = []
    for part, sign in zip(columns, (1, -1), strict=True):
        known = e.permute(part, swap)  # (.., second, half): element k1 + first * k2 at (k2, k1)
        if half < first:
            rest = e.slice(known, axis + 1, 1, first - half + 1)
            rest = e.op("flip", e.op("flip", rest, axis=axis), axis=axis + 1)
            known = e.concat([known, rest if sign == 1 else e.op("negative", rest)], axis + 1)
        results.append(e.slice(e.reshape(known, [*outer, size]), axis, 0, size // 2 + 1))
    return results[0], results[1]


def _dense(e: OperatorEmitter, x: Parts, size: int, forward: bool, count: int | None = None) -> Parts:
    """The first `count` elements (default: all): the real and the imaginary part side by side, times one matrix."""
    sign, count = -1 if forward else 1, count or size
    angles = 2 * np.pi * (np.outer(np.arange(size), np.arange(count)) % size) / size
    cosines, sines = np.cos(angles), sign * np.sin(angles)
    real, *imaginary = x
    table, axis = np.concatenate([cosines, sines], 1), len(real.shape) - 1
    if imaginary:
        table = np.concatenate([table, np.concatenate([-sines, cosines], 1)])
    both = e.op("matmul", e.concat(x, axis), e.table(table, real.dtype))
    return e.slice(both, axis, 0, count), e.slice(both, axis, count, 2 * count)


def _apply_twiddles(
    e: OperatorEmitter, x: Parts, first: int, second: int, forward: bool, count: int | None = None
) -> Parts:
    """(.., second, count) times the roots of unity to the power of the product of both indices; count: or first."""
    angles = 2 * np.pi * np.outer(np.arange(second), np.arange(count or first)) / (first * second)
    cosines, sines = (e.table(t, x[0].dtype) for t in (np.cos(angles), (-1 if forward else 1) * np.sin(angles)))
    return product(e, x, (cosines, sines))


def product(e: OperatorEmitter, a: Parts, b: Parts) -> Parts:
    """(a + bi)(c + di)."""
    real = e.op("subtract", e.op("multiply", a[0], b[0]), e.op("multiply", a[1], b[1]))
    imaginary = e.op("add", e.op("multiply", a[0], b[1]), e.op("multiply", a[1], b[0]))
    return real, imaginary
