"""Tables of positions and weights for the resizing of one axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir import te
from tir_mlir.graph.importers.emitter import OperatorEmitter

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value
    from tir_mlir.graph.size_code import Size

Table = tuple[np.ndarray, np.ndarray | None]
"""Positions (m, taps) of an axis, and weights of the same shape; None: of one tap, 1."""


def ratio(size: int, result: int, scale: float | None, corners: bool) -> float:
    """How far apart in an axis of `size` neighbours of the result are, in float32 as torch has it."""
    if corners:
        return float(np.float32(size - 1) / np.float32(result - 1)) if result > 1 else 0.0
    if scale is not None and scale > 0:
        return float(np.float32(1.0 / scale))
    return float(np.float32(size) / np.float32(result))


def nearest(size: int, result: int, step: float, exact: bool) -> Table:
    """The nearest positions: of the start of each element, exact: of its middle."""
    index = np.arange(result, dtype=np.float32) + np.float32(0.5 if exact else 0)
    positions = np.floor(index * np.float32(step)).astype(np.int64)
    return np.clip(positions, 0, size - 1)[:, None], None


def linear(size: int, result: int, step: float, corners: bool) -> Table:
    """Two neighbours by their distance."""
    at = _centres(result, step, corners)
    at = at if corners else np.maximum(at, 0)
    low = np.minimum(np.floor(at), size - 1)
    far = np.minimum(at - low, 1)
    positions = np.stack([low, np.minimum(low + 1, size - 1)], 1).astype(np.int64)
    return positions, np.stack([1 - far, far], 1)


def cubic(size: int, result: int, step: float, corners: bool, slope: float = -0.75) -> Table:
    """Four neighbours by a cubic polynomial."""
    at = _centres(result, step, corners)
    low = np.floor(at)
    positions = np.clip(low[:, None] + np.arange(-1, 3), 0, size - 1).astype(np.int64)
    return positions, _cubic(np.abs(at[:, None] - low[:, None] - np.arange(-1, 3)), slope)


def antialiased_table(size: int, result: int, step: float, kind: str) -> Table:
    """All neighbours that a widened filter covers: smaller images without aliasing."""
    wide = max(step, 1.0)
    reach = {"linear": 1.0, "cubic": 2.0}[kind] * wide
    filtered: Callable[[np.ndarray], np.ndarray] = _triangle if kind == "linear" else lambda d: _cubic(d, -0.5)
    rows = []
    for i in range(result):
        centre = step * (i + 0.5)
        first = max(int(centre - reach + 0.5), 0)
        last = min(int(centre + reach + 0.5), size)
        weights = filtered(np.abs((np.arange(first, last) - centre + 0.5) / wide))
        rows.append((first, weights / weights.sum()))
    taps = max(len(weights) for _, weights in rows)
    positions, weights = np.zeros((result, taps), np.int64), np.zeros((result, taps))
    for i, (first, row) in enumerate(rows):
        positions[i] = np.minimum(first + np.arange(taps), size - 1)
        weights[i, : len(row)] = row
    return positions, weights


def resample_symbolic_axis(
    e: OperatorEmitter, x: Value, axis: int, result: Size, method: str, scale: float | None, corners: bool
) -> Value:
    """x with one axis in another size, of which one is known only when the model runs: the table is computed then.

    method: "nearest", "nearest_exact", "linear" or "cubic". A size that is whole times as large, "nearest": each
    element is repeated."""
    size = x.shape[axis]
    sizes = [e.builder.sizes.expression(n) for n in (size, result)]
    made = _SizedTable(sizes[0], sizes[1], scale, corners)
    operands = e.carriers([str(n) for n in (size, result) if isinstance(n, str)])
    positions, weights = getattr(made, method.split("_")[0])(exact=method == "nearest_exact")
    tables = [e.builder.call_te(lambda *_, table=table: table, operands) for table in (positions, weights) if table]
    return e.op("image.resample", x, *tables, axis=axis)


class _SizedTable:
    """The tables of `nearest`, `linear` and `cubic` for sizes that are expressions, as te tensors."""

    def __init__(self, size: te.Expr | int, result: te.Expr | int, scale: float | None, corners: bool):
        self.size, self.result, self.scale, self.corners = size, result, scale, corners

    def _step(self) -> te.Expr:
        """See `ratio`."""
        size, result = (_float(n, "float32") for n in (self.size, self.result))
        if self.corners:
            return (size - 1.0) / te.max(result - 1.0, 1.0)
        return size / result if self.scale is None or self.scale <= 0 else te.cast(1.0 / self.scale, "float32")

    def _centre(self, i: te.Var) -> te.Expr:
        index, step = te.cast(i, "float64"), te.cast(self._step(), "float64")
        return index * step if self.corners else (index + 0.5) * step - 0.5

    def _clamp_index(self, position: te.Expr) -> te.Expr:
        return te.max(te.min(te.cast(position, "int32"), self.size - 1), 0)

    def nearest(self, exact: bool) -> tuple[te.Tensor, None]:
        shift = te.cast(0.5 if exact else 0.0, "float32")
        position = lambda i, _: self._clamp_index(te.floor((te.cast(i, "float32") + shift) * self._step()))  # noqa: E731
        return te.compute((self.result, 1), position, name="positions"), None

    def linear(self, exact: bool) -> tuple[te.Tensor, te.Tensor]:
        del exact

        def low(i: te.Var) -> te.Expr:
            at = self._centre(i)
            return at if self.corners else te.max(at, te.cast(0.0, "float64"))

        def weight(i: te.Var, t: te.Var) -> te.Expr:
            first = te.min(te.floor(low(i)), _float(self.size, "float64") - 1.0)
            far = te.min(low(i) - first, te.cast(1.0, "float64"))
            return te.cast(te.Select(t < 1, 1.0 - far, far), "float32")

        position = lambda i, t: self._clamp_index(te.cast(te.floor(low(i)), "int32") + t)  # noqa: E731
        shape = (self.result, 2)
        return te.compute(shape, position, name="positions"), te.compute(shape, weight, name="weights")

    def cubic(self, exact: bool) -> tuple[te.Tensor, te.Tensor]:
        del exact

        def weight(i: te.Var, t: te.Var) -> te.Expr:
            at = self._centre(i)
            d = te.abs(at - te.floor(at) - te.cast(t - 1, "float64"))
            near = (1.25 * d - 2.25) * d * d + 1.0
            far = ((d - 5.0) * d + 8.0) * d * -0.75 + 3.0
            beyond = te.Select(d < 2.0, far, te.cast(0.0, "float64"))
            return te.cast(te.Select(d <= 1.0, near, beyond), "float32")

        position = lambda i, t: self._clamp_index(te.cast(te.floor(self._centre(i)), "int32") + t - 1)  # noqa: E731
        shape = (self.result, 4)
        return te.compute(shape, position, name="positions"), te.compute(shape, weight, name="weights")


def _float(size: te.Expr | int, dtype: str) -> te.Expr:
    """A size as a float."""
    return te.cast(float(size) if isinstance(size, int) else size, dtype)


def _centres(result: int, step: float, corners: bool) -> np.ndarray:
    index = np.arange(result, dtype=np.float64)
    return index * step if corners else (index + 0.5) * step - 0.5


def _triangle(d: np.ndarray) -> np.ndarray:
    return np.maximum(1 - d, 0)


def _cubic(d: np.ndarray, slope: float) -> np.ndarray:
    near = ((slope + 2) * d - (slope + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * slope - 4 * slope
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def resample_axis(e: OperatorEmitter, x: Value, axis: int, table: Table) -> Value:
    """x with one axis read by a table; itself if the table names each element once."""
    positions, weights = table
    whole = weights is None or bool(np.all(np.isin(weights, (0, 1))))
    same = positions.shape[0] == x.shape[axis] and whole
    if same and np.array_equal(_single_positions(positions, weights), np.arange(positions.shape[0])):
        return x
    operands = [e.constant(positions, "int32")]
    if weights is not None:
        operands.append(e.constant(weights, "float64" if x.dtype == "float64" else "float32"))
    return e.op("image.resample", x, *operands, axis=axis)


def _single_positions(positions: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The one position that each element is read at: the one with the greatest weight."""
    return positions[:, 0] if weights is None else np.take_along_axis(positions, weights.argmax(1)[:, None], 1)[:, 0]
