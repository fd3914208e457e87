"""Floating point as PTX defines it: one rounding in a fused product and sum, rounding modes, flushing, 16-bit types."""

from __future__ import annotations

import numpy as np

from tir_mlir.ptx.types import UNSIGNED

_HALF_F32 = np.uint64(1 << 28)
_TAIL_F32 = np.uint64((1 << 29) - 1)
_TINY_F32 = np.float32(np.finfo(np.float32).tiny)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """bf16 bits -> f32."""
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_bf16(values: np.ndarray) -> np.ndarray:
    """f32 -> bf16 bits, to nearest even; a NaN becomes 0x7fff."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    up = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = ((bits + np.uint32(0x7FFF) + up) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FFF), rounded)


def odd_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b in f64, rounded to odd: rounding it again to a narrower type gives what one rounding would."""
    total = a + b
    back = total - a
    error = (a - (total - back)) + (b - back)
    even = (total.view(np.uint64) & np.uint64(1)) == 0
    inexact = (error != 0) & even & np.isfinite(total)
    if inexact.any():
        toward = np.where(error > 0, np.inf, -np.inf)
        total = np.where(inexact, np.nextafter(total, toward), total)
    return total


def _round_to_odd(value: np.ndarray, error: np.ndarray) -> np.ndarray:
    """A rounded value whose true one is larger (error > 0) or smaller, rounded to odd instead."""
    even = (value.view(np.uint64) & np.uint64(1)) == 0
    inexact = (error != 0) & even & np.isfinite(value) & np.isfinite(error)
    return np.where(inexact, np.nextafter(value, np.where(error > 0, np.inf, -np.inf)), value)


def odd_quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b in f64, rounded to odd."""
    quotient = a / b
    high, low = _product(quotient, b)
    return _round_to_odd(quotient, ((a - high) - low) * np.sign(b))


def odd_root(a: np.ndarray) -> np.ndarray:
    """The square root in f64, rounded to odd."""
    root = np.sqrt(a)
    high, low = _product(root, root)
    return _round_to_odd(root, (a - high) - low)


_CANONICAL = {
    np.dtype(np.float32): np.uint32(0x7FFFFFFF).view(np.float32),
    np.dtype(np.float16): np.uint16(0x7FFF).view(np.float16),
}


def canonical(result: np.ndarray) -> np.ndarray:
    """The one NaN that arithmetic of f32 and f16 has, instead of any; f64 keeps its own (PTX ISA, Floating-Point
    Comparisons and NaNs; seen on an H200)."""
    nan = np.isnan(result)
    return np.where(nan, _CANONICAL[result.dtype], result) if result.dtype in _CANONICAL and nan.any() else result


def fma_f32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c of f32 with one rounding. The product is exact in f64; a sum in f64 that ends half-way between two
    f32 or below the normal ones may have been rounded there, and is made again."""
    product = a.astype(np.float64) * b
    total = product + c
    result = total.astype(np.float32)
    doubtful = (total.view(np.uint64) & _TAIL_F32) == _HALF_F32
    doubtful |= np.abs(result) < _TINY_F32
    if doubtful.any():
        exact = odd_sum(product[doubtful], np.broadcast_to(c, product.shape)[doubtful].astype(np.float64))
        result[doubtful] = exact.astype(np.float32)
    return canonical(result)


def fma_f64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c of f64 with one rounding, by error-free products and sums (Boldo and Melquiond)."""
    high, low = _product(a, b)
    sum_high, sum_low = _two_sum(c, low)
    top, low_rest = _two_sum(high, sum_high)
    result = top + odd_sum(low_rest, sum_low)
    plain = a * b + c
    return np.where(np.isfinite(result), result, plain)


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a * b as the sum of two f64."""
    product = a * b
    split = 134217729.0
    ah = a * split - (a * split - a)
    bh = b * split - (b * split - b)
    al, bl = a - ah, b - bh
    return product, ((ah * bh - product) + ah * bl + al * bh) + al * bl


def round_to_type(values: np.ndarray, dtype: np.dtype, mode: str) -> np.ndarray:
    """f64 values -> a narrower type: "rn", "rz", "rm" (down), "rp" (up), "odd"."""
    near = values.astype(dtype)
    if mode == "rn":
        return near
    wide = near.astype(np.float64)
    down = np.nextafter(near, dtype.type(-np.inf))
    up = np.nextafter(near, dtype.type(np.inf))
    if mode in ("rz", "odd"):
        near = np.where(np.abs(wide) > np.abs(values), np.where(values > 0, down, up), near)
        if mode == "odd":
            bits = near.view(UNSIGNED[dtype.itemsize])
            near = np.where(near.astype(np.float64) != values, bits | bits.dtype.type(1), bits).view(dtype)
        return near
    if mode == "rm":
        return np.where(wide > values, down, near)
    return np.where(wide < values, up, near)


def flush_subnormals(values: np.ndarray) -> np.ndarray:
    """Subnormal f32 become zeros of their sign."""
    return np.where(np.abs(values) < _TINY_F32, np.copysign(np.float32(0), values), values)


def saturate(values: np.ndarray) -> np.ndarray:
    """Clamped to 0 .. 1; a NaN becomes 0."""
    unit = values.dtype.type(1)
    return np.where(np.isnan(values), values.dtype.type(0), np.clip(values, values.dtype.type(0), unit))


def round_integral(values: np.ndarray, mode: str) -> np.ndarray:
    """To integers: "rni" (even), "rzi", "rmi", "rpi"."""
    return {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode](values)
