"""Tables of places and weights for the resizing of one axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tir_mlir.graph.fronts.emitter import Emitter

Table = tuple[np.ndarray, np.ndarray | None]
"""Places (m, taps) of an axis, and weights of the same shape; None: of one tap, 1."""


def ratio(size: int, result: int, scale: float | None, corners: bool) -> float:
    """How far apart in an axis of `size` neighbours of the result are, in float32 as torch has it."""
    if corners:
        return float(np.float32(size - 1) / np.float32(result - 1)) if result > 1 else 0.0
    if scale is not None and scale > 0:
        return float(np.float32(1.0 / scale))
    return float(np.float32(size) / np.float32(result))


def nearest(size: int, result: int, step: float, exact: bool) -> Table:
    """The nearest places: of the start of each element, exact: of its middle."""
    index = np.arange(result, dtype=np.float32) + np.float32(0.5 if exact else 0)
    places = np.floor(index * np.float32(step)).astype(np.int64)
    return np.clip(places, 0, size - 1)[:, None], None


def linear(size: int, result: int, step: float, corners: bool) -> Table:
    """Two neighbours by their distance."""
    at = _centres(result, step, corners)
    at = at if corners else np.maximum(at, 0)
    low = np.minimum(np.floor(at), size - 1)
    far = np.minimum(at - low, 1)
    places = np.stack([low, np.minimum(low + 1, size - 1)], 1).astype(np.int64)
    return places, np.stack([1 - far, far], 1)


def cubic(size: int, result: int, step: float, corners: bool, slope: float = -0.75) -> Table:
    """Four neighbours by a cubic polynomial."""
    at = _centres(result, step, corners)
    low = np.floor(at)
    places = np.clip(low[:, None] + np.arange(-1, 3), 0, size - 1).astype(np.int64)
    return places, _cubic(np.abs(at[:, None] - low[:, None] - np.arange(-1, 3)), slope)


def smooth(size: int, result: int, step: float, kind: str) -> Table:
    """All neighbours that a widened filter covers: smaller images without aliasing."""
    wide = max(step, 1.0)
    reach = {"linear": 1.0, "cubic": 2.0}[kind] * wide
    filtered: Callable[[Any], Any] = _triangle if kind == "linear" else lambda d: _cubic(d, -0.5)
    rows = []
    for i in range(result):
        centre = step * (i + 0.5)
        first = max(int(centre - reach + 0.5), 0)
        last = min(int(centre + reach + 0.5), size)
        weights = filtered(np.abs((np.arange(first, last) - centre + 0.5) / wide))
        rows.append((first, weights / weights.sum()))
    taps = max(len(weights) for _, weights in rows)
    places, weights = np.zeros((result, taps), np.int64), np.zeros((result, taps))
    for i, (first, row) in enumerate(rows):
        places[i] = np.minimum(first + np.arange(taps), size - 1)
        weights[i, : len(row)] = row
    return places, weights


def _centres(result: int, step: float, corners: bool) -> np.ndarray:
    index = np.arange(result, dtype=np.float64)
    return index * step if corners else (index + 0.5) * step - 0.5


def _triangle(d: np.ndarray) -> np.ndarray:
    return np.maximum(1 - d, 0)


def _cubic(d: np.ndarray, slope: float) -> np.ndarray:
    near = ((slope + 2) * d - (slope + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * slope - 4 * slope
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def resampled(e: Emitter, x: Any, axis: int, table: Table) -> Any:
    """x with one axis read by a table; itself if the table names each element once."""
    places, weights = table
    whole = weights is None or bool(np.all(np.isin(weights, (0, 1))))
    same = places.shape[0] == x.shape[axis] and whole
    if same and np.array_equal(_whole_places(places, weights), np.arange(places.shape[0])):
        return x
    operands = [e.constant(places, "int32")]
    if weights is not None:
        operands.append(e.constant(weights, "float64" if x.dtype == "float64" else "float32"))
    return e.op("image.resample", x, *operands, axis=axis)


def _whole_places(places: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Where each element is read, if it is one."""
    return places[:, 0] if weights is None else np.take_along_axis(places, weights.argmax(1)[:, None], 1)[:, 0]
