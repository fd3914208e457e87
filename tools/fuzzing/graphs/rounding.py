"""Numbers of each type, held as float64, integers or bools, and their arrays for a call."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

FLOATS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""The bits of a significand."""
INTEGERS = ("int8", "int32", "int64", "uint8")
DTYPES = (*FLOATS, *INTEGERS, "bool")


def rounded(array: np.ndarray, dtype: str) -> np.ndarray:
    """An array in a type: floats rounded to nearest even, but held as float64."""
    if dtype not in FLOATS:
        return array.astype(dtype)
    if dtype != "bfloat16":
        return array.astype(dtype).astype("float64")
    bits = array.astype("float32").view("uint32").astype("uint64")
    nearest = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype("uint32").view("float32")
    return np.where(np.isnan(array), np.nan, nearest).astype("float64")


def passed(array: np.ndarray, dtype: str) -> np.ndarray:
    """The array that a model takes: bfloat16 as its bits."""
    if dtype != "bfloat16":
        return np.ascontiguousarray(array.astype(dtype))
    return (array.astype("float32").view("uint32") >> 16).astype("uint16")


def returned(array: np.ndarray, dtype: str) -> np.ndarray:
    """A result of a model, held as this file does."""
    if dtype == "bfloat16":
        return (array.astype("uint32") << 16).view("float32").astype("float64")
    return array.astype("float64") if dtype in FLOATS else array


def drawn(random: Random, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Random elements of a type, small; of floats some are infinite or NaN in one of eight arrays."""
    rng = np.random.default_rng(random.randrange(1 << 30))
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype not in FLOATS:
        return rng.integers(0 if dtype.startswith("u") else -9, 10, shape).astype(dtype)
    array = rng.standard_normal(shape) * 2
    if random.random() < 0.125 and array.size:
        array.flat[rng.integers(array.size)] = rng.choice([np.inf, -np.inf, np.nan])
    return rounded(array, dtype)


def shaken_bits(array: np.ndarray, bits: int, rng: np.random.Generator) -> np.ndarray:
    """Floats with their last bit changed at random."""
    if array.dtype.kind != "f":
        return array
    return array * (1 + rng.integers(-1, 2, array.shape) * 2.0**-bits)


def differs(ours: np.ndarray, exact: np.ndarray, others: Sequence[np.ndarray], dtype: str) -> np.ndarray:
    """Where a result is further from the exact one than other last bits on the way may move it."""
    if dtype not in FLOATS:
        moved = np.any([o != exact for o in others], axis=0)
        return (ours != exact) & ~moved
    with np.errstate(all="ignore"):
        spread = np.max([np.abs(o - exact) for o in others], axis=0)
        unsure = np.any([np.isfinite(o) != np.isfinite(exact) for o in others], axis=0) | (np.isnan(spread))
        near = np.abs(ours - exact) <= 4 * spread + 2.0 ** (3 - FLOATS[dtype]) * np.abs(exact) + 1e-7
    same = (ours == exact) | (np.isnan(ours) & np.isnan(exact))
    tiny = 2.0**-13 if dtype == "float16" else 1e-30
    near |= np.isfinite(ours) & (np.abs(ours - exact) <= tiny)
    return ~(near | same | (unsure & np.isfinite(exact)))
