"""Whether results are those of the unscheduled program: floats up to rounding, everything else exactly."""

from __future__ import annotations

import re
from math import sqrt

import numpy as np

from tir_mlir.equivalence.random_arguments import as_float

EPSILON = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
_NARROW = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}
_SLACK = 8
"""Rounding errors of a sum of n positive terms are about sqrt(n) units; this many times as much is allowed."""
_MOST = 0.1
"""No difference above this, relative, is rounding."""
_ROUNDED = 0.01
"""The share of integers that may differ by one where they are rounded from floats."""
_TRUNCATED = re.compile(r"arith\.truncf .* to (?:vector<[^>]*x)?(f32|f16|bf16)\b")
_CAST = re.compile(r"arith\.fpto[su]i")


def relative_tolerance(dtype: str, text: str, length: int) -> float:
    """The largest relative difference that the order of sums explains; 0.0 for results that must be equal.

    text: the unscheduled program, whose narrowest rounding counts. length: the terms of a result.
    """
    if dtype not in EPSILON:
        return 0.0
    kinds = {dtype, *(_NARROW[kind] for kind in _TRUNCATED.findall(text))}
    return min(_MOST, _SLACK * max(EPSILON[kind] for kind in kinds) * sqrt(length))


def rounds_to_integers(text: str) -> bool:
    """Whether a program casts floats to integers, which rounding may move by one."""
    return _CAST.search(text) is not None


def first_difference(
    want: np.ndarray, got: np.ndarray, dtype: str, tolerance: float, rounded: bool = False
) -> tuple[tuple[int, ...], int] | None:
    """The first index at which two results differ, and how many do; None if there is none."""
    if want.shape != got.shape:
        return (0,) * got.ndim, max(want.size, got.size)
    wrong = want != got
    if not wrong.any():
        return None
    if dtype in EPSILON:
        if dtype in ("float32", "float64") and _all_near(want, got, tolerance):
            return None
        wrong = _exceeds_tolerance(as_float(want, dtype), as_float(got, dtype), tolerance)
    elif rounded and dtype != "bool":
        near = np.abs(want.astype(np.float64) - got.astype(np.float64)) <= 1
        if near.all() and wrong.mean() <= _ROUNDED:
            return None
    if not wrong.any():
        return None
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape)), int(wrong.sum())


def _all_near(want: np.ndarray, got: np.ndarray, tolerance: float) -> bool:
    """Whether all is well, without copies in a wider type. False may be wrong."""
    size = np.abs(want)
    scale = float(size.mean(dtype=np.float64))
    if not np.isfinite(scale):
        return False
    size += size.dtype.type(scale)
    size *= size.dtype.type(tolerance)
    return bool((np.abs(want - got) <= size).all())


def _exceeds_tolerance(want: np.ndarray, got: np.ndarray, tolerance: float) -> np.ndarray:
    """Where floats differ by more than the tolerance, relative to the element and to the size of them all."""
    finite = np.isfinite(want)
    scale = float(np.abs(want[finite]).mean()) if finite.any() else 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(want - got) <= tolerance * (np.abs(want) + scale)
    same = (want == got) | (np.isnan(want) & np.isnan(got))
    return ~((near & finite) | same)
