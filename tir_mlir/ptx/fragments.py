"""Which element of a matrix each lane holds in each register, by the PTX manual."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from tir_mlir.ptx import floats

_LANE = np.arange(32)
_GROUP, _IN_GROUP = _LANE >> 2, _LANE & 3


@dataclass(frozen=True)
class Fragment:
    """`row[lane, i]`, `column[lane, i]` of the i-th element of a lane; `registers` hold `elements` of them each."""

    row: np.ndarray
    column: np.ndarray
    registers: int
    elements: int


def shape_of(parts: tuple[str, ...]) -> tuple[int, int, int]:
    """`m16n8k16` -> (16, 8, 16)."""
    for part in parts:
        match = re.match(r"m(\d+)n(\d+)k(\d+)$", part)
        if match:
            m, n, k = (int(g) for g in match.groups())
            return m, n, k
    raise ValueError(parts)


def element_bytes(type_: str) -> int:
    """The bytes of an element of an operand."""
    return {"f16": 2, "bf16": 2, "tf32": 4, "s8": 1, "u8": 1, "e4m3": 1, "e5m2": 1, "f64": 8, "f32": 4, "s32": 4}[type_]


@cache
def operand_a(m: int, k: int, size: int) -> Fragment:
    """The m x k operand: pairs of rows g, g + 8 first, then the upper half of the columns."""
    if size == 8:
        return Fragment(_GROUP[:, None], _IN_GROUP[:, None], 1, 1)
    per = 4 // size
    count = m * k // 32 // per
    r, e = (x.ravel() for x in np.meshgrid(np.arange(count), np.arange(per), indexing="ij"))
    row = _GROUP[:, None] + 8 * (r & 1)
    column = _IN_GROUP[:, None] * per + e + 4 * per * (r >> 1)
    return Fragment(row, column, count, per)


@cache
def operand_b(n: int, k: int, size: int) -> Fragment:
    """The k x n operand: `row` is along k."""
    if size == 8:
        return Fragment(_IN_GROUP[:, None], _GROUP[:, None], 1, 1)
    per = 4 // size
    count = n * k // 32 // per
    r, e = (x.ravel() for x in np.meshgrid(np.arange(count), np.arange(per), indexing="ij"))
    row = _IN_GROUP[:, None] * per + e + 4 * per * r
    return Fragment(row, np.broadcast_to(_GROUP[:, None], row.shape), count, per)


@cache
def accumulator(m: int, n: int, size: int) -> Fragment:
    """The m x n sums: two neighbouring columns, then row g + 8."""
    i = np.arange(m * n // 32)
    row = _GROUP[:, None] + 8 * (i >> 1)
    column = _IN_GROUP[:, None] * 2 + (i & 1)
    per = 2 if size == 2 else 1
    return Fragment(row, np.broadcast_to(column, row.shape), len(i) // per, per)


def _small_float(bits: np.ndarray, exponent: int) -> np.ndarray:
    """8-bit floats: e4m3 (no infinities) and e5m2."""
    mantissa = 7 - exponent
    bias = (1 << (exponent - 1)) - 1
    e = (bits >> mantissa) & ((1 << exponent) - 1)
    m = (bits & ((1 << mantissa) - 1)).astype(np.float64)
    scale = np.exp2(np.maximum(e.astype(np.float64), 1) - bias)
    value = (np.where(e > 0, 1.0, 0.0) + m / (1 << mantissa)) * scale
    if exponent == 4:
        value = np.where((bits & 127) == 127, np.nan, value)
    else:
        value = np.where(e == 31, np.where(m == 0, np.inf, np.nan), value)
    return np.where(bits & 128, -value, value)


def numbers(bits: np.ndarray, type_: str) -> np.ndarray:
    """Unsigned bits of elements -> f64 (integers are exact in it)."""
    if type_ == "f16":
        return bits.view(np.float16).astype(np.float64)
    if type_ == "bf16":
        return floats.from_bf16(bits).astype(np.float64)
    if type_ == "tf32":
        return (bits & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    if type_ in ("e4m3", "e5m2"):
        return _small_float(bits, 4 if type_ == "e4m3" else 5)
    view = {"s8": np.int8, "u8": np.uint8, "f64": np.float64, "f32": np.float32, "s32": np.int32}[type_]
    return bits.view(view).astype(np.float64)


def rounded_sum(values: np.ndarray, type_: str) -> np.ndarray:
    """f64 sums -> the type of the accumulator; integers wrap."""
    if type_ == "s32":
        return values.astype(np.int64).astype(np.int32)
    return values.astype({"f32": np.float32, "f16": np.float16, "f64": np.float64}[type_])
