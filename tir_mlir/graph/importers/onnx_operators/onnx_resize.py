"""Images in another size, by tables of the elements that each new one is made of."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.emitter import FLOATS, OnnxValue, Operand, axis_in, same_shape, static_size
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, onnx_op
from tir_mlir.graph.importers.onnx_operators.onnx_tensors import check_bytes
from tir_mlir.graph.importers.sized_resize import SizedTable
from tir_mlir.topi.image.resize import MODES

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value

MAX_SUMMED_TAPS = 8
"""Elements for a new one that are taken and added one by one; more are a product with a matrix."""


@dataclass(frozen=True)
class _ResizedAxis:
    """An axis of `old` elements that gets `new`, and how."""

    old: int | str  # a number, or text of named sizes; the same of `new`
    new: int | str
    scale: float | None  # a number; None: new / old, of named sizes
    begin: float = 0.0  # of a region, as a part of the axis
    end: float = 1.0

    @property
    def is_named(self) -> bool:
        """Whether a size is known only when the model runs."""
        return isinstance(self.old, str) or isinstance(self.new, str)

    @property
    def numbers(self) -> tuple[int, int]:
        """Both sizes. Errors: GraphError for named ones."""
        return static_size(self.old, _IMAGE), static_size(self.new, _IMAGE)

    @property
    def factor(self) -> float:
        """The scale as a number. Errors: GraphError for named sizes."""
        old, new = self.numbers
        return new / max(old, 1) if self.scale is None else self.scale

    def source_positions(self, mode: str) -> np.ndarray:
        """Where each new element lies among the old ones, in float32: rounded in the middle as by ONNX Runtime."""
        old, new = self.numbers
        check_bytes((new,), "float64")
        x, scale, half = np.arange(new, dtype="float32"), np.float32(self.factor), np.float32(0.5)
        halves = (x + half) / scale - half
        if mode == "half_pixel" or (mode == "pytorch_half_pixel" and new > 1):
            return halves
        if mode == "pytorch_half_pixel":
            return np.zeros(new, "float32")
        if mode == "half_pixel_symmetric":
            offset = half * old * (1 - new / (scale * np.float32(old)))
            return (offset + (x + half) / scale) - half
        if mode == "align_corners":
            return x * np.float32(old - 1) / np.float32(max(new - 1, 1))
        if mode == "asymmetric":
            return x / scale
        if mode == "tf_half_pixel_for_nn":
            return (x + half) / scale
        if mode == "tf_crop_and_resize":
            if new == 1:
                return np.full(1, 0.5 * (self.begin + self.end) * (old - 1))
            return (self.begin + x * (self.end - self.begin) / (new - 1)) * (old - 1)
        raise GraphError(f"coordinate_transformation_mode={mode}\n  fix: one that ONNX defines")


def _nearest(positions: np.ndarray, mode: str) -> np.ndarray:
    rules = {
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    if mode not in rules:
        raise GraphError(f"nearest_mode={mode}\n  fix: one of {', '.join(rules)}")
    return rules[mode](positions).astype("int64")[:, None]


def _kernel(distance: np.ndarray, mode: str, a: float) -> np.ndarray:
    """The weight of an element at a distance, for "linear" and "cubic"."""
    d = np.abs(distance)
    if mode == "linear":
        return np.clip(1 - d, 0, None)
    near, far = ((a + 2) * d - (a + 3)) * d * d + 1, ((d - 5) * d + 8) * d * a - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _taps(
    axis: _ResizedAxis, positions: np.ndarray, mode: str, a: float, antialias: bool, inside_only: bool
) -> tuple[np.ndarray, np.ndarray]:
    """For each new element the old ones that it is made of, and their weights, (new, taps) each."""
    narrow = min(axis.factor, 1.0) if antialias else 1.0
    reach = math.ceil((1 if mode == "linear" else 2) / narrow)
    indices = np.floor(positions).astype("int64")[:, None] + np.arange(1 - reach, reach + 1)
    weights = _kernel((indices - positions[:, None]) * narrow, mode, a)
    if inside_only:
        weights = np.where((indices >= 0) & (indices < axis.numbers[0]), weights, 0)
    if antialias or inside_only:
        weights = weights / weights.sum(axis=1, keepdims=True)
    return indices, weights


def _apply_taps(e: OnnxEmitter, x: Value, dim: int, indices: np.ndarray, weights: np.ndarray | None) -> Value:
    """Along an axis, the sums of the elements at indices (new, taps), limited to the axis, times weights."""
    size = static_size(x.shape[dim], _IMAGE)
    indices = np.clip(indices, 0, size - 1)
    if weights is None:
        return e.op("take", x, indices[:, 0], axis=dim)
    rank = len(x.shape)
    if indices.shape[1] > MAX_SUMMED_TAPS:
        matrix = np.zeros((len(indices), size))
        np.add.at(matrix, (np.arange(len(indices))[:, None], indices), weights)
        order = [*(a for a in range(rank) if a != dim), dim]
        y = e.op("matmul", e.permute(x, order), e.constant(matrix.T, x.dtype))
        return e.permute(y, [order.index(a) for a in range(rank)])

    def part(tap: int) -> Value:
        by = e.constant(weights[:, tap].reshape([-1, *[1] * (rank - dim - 1)]), x.dtype)
        return e.op("multiply", e.op("take", x, indices[:, tap], axis=dim), by)

    return functools.reduce(e.add, (part(tap) for tap in range(indices.shape[1]) if weights[:, tap].any()))


def _sizes(
    e: OnnxEmitter, old: Sequence[int | str], scales: Input, sizes: Input, axes: list[int], policy: str
) -> list[_ResizedAxis]:
    """What happens to each of the axes. old: the sizes of all axes."""
    if sizes is not None:
        new = e.texts(e.known_elements(sizes, "the sizes of a Resize"))
        pairs = [(old[a], n) for a, n in zip(axes, new, strict=True)]
        if policy == "stretch":
            return [_ResizedAxis(o, n, _ratio(o, n)) for o, n in pairs]
        numbers = [(static_size(o, _IMAGE), static_size(n, _IMAGE)) for o, n in pairs]
        factors = [n / max(o, 1) for o, n in numbers]
        factor = min(factors) if policy == "not_larger" else max(factors)
        return [_ResizedAxis(o, math.floor(factor * o + 0.5), factor) for o, _ in numbers]
    if scales is None:
        raise GraphError("a Resize without scales and sizes\n  fix: one of them")
    factors = [float(f) for f in e.known_numbers(scales, "the scales of a Resize")]
    if wrong := [f for f in factors if not 0 < f < 2**31]:
        raise GraphError(f"the scale {wrong[0]} of a Resize\n  fix: a number above 0 and below 2**31")
    return [_ResizedAxis(old[a], _scale_size(e, old[a], f), f) for a, f in zip(axes, factors, strict=True)]


_IMAGE = "the size of an image that is resized"


def _ratio(old: int | str, new: int | str) -> float | None:
    """new / old; None of named sizes that are not the same."""
    if isinstance(old, int) and isinstance(new, int):
        return new / max(old, 1)
    return 1.0 if same_shape([old], [new]) else None


def _scale_size(e: OnnxEmitter, old: int | str, factor: float) -> int | str:
    """floor(old * factor). Errors: GraphError for a named size and a factor that is not a fraction of few digits."""
    if isinstance(old, int):
        return math.floor(np.float32(old) * np.float32(factor))
    parts, whole = float(np.float32(factor)).as_integer_ratio()
    if whole > 64:
        raise GraphError(
            f"the scale {factor} of an axis of {old} elements, which is known only when the model runs\n"
            "  fix: a whole scale, or a multiple of 1/64"
        )
    return e.texts([e.sizes([old])[0] * parts // whole if whole > 1 else e.sizes([old])[0] * parts])[0]


def _plans(
    e: OnnxEmitter, x: Value, axes: list[int], roi: Input, scales: Input, sizes: Input, positions: str, policy: str
) -> dict[int, _ResizedAxis]:
    """What happens to the axes that change, by their numbers; of a cut image to all that are given."""
    scales, sizes = (None if isinstance(v, np.ndarray) and not v.size else v for v in (scales, sizes))
    plans = dict(zip(axes, _sizes(e, x.shape, scales, sizes, axes, policy), strict=True))
    if positions == "tf_crop_and_resize":
        part = e.known_numbers(roi, "the region of a Resize")
        bounds = zip(plans.items(), part[: len(axes)], part[len(axes) :], strict=True)
        return {a: _ResizedAxis(p.old, p.new, p.scale, low, high) for (a, p), low, high in bounds}
    return {a: p for a, p in plans.items() if p.scale != 1 or not same_shape([p.old], [p.new])}


@onnx_op("Resize")
def resize(
    e: OnnxEmitter,
    x: OnnxValue,
    roi: Input = None,
    scales: Input = None,
    sizes: Input = None,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    antialias: int = 0,
    axes: Sequence[int] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
) -> Value:
    """Each axis by itself. Opset 10 has scales as the second input, and positions x / scale, rounded up where an axis
    gets smaller, as by ONNX Runtime."""
    if e.opset < 11:
        scales, roi, coordinate_transformation_mode, nearest_mode = roi, None, "asymmetric", "floor"
    x, rank = e.value(x), len(x.shape)
    chosen = [axis_in(a, rank) for a in (axes or range(rank))]
    plans = _plans(e, x, chosen, roi, scales, sizes, coordinate_transformation_mode, keep_aspect_ratio_policy)
    named = [p for p in plans.values() if p.is_named]
    if named and (antialias or exclude_outside or coordinate_transformation_mode == "tf_crop_and_resize"):
        static_size(next(size for p in named for size in (p.old, p.new) if isinstance(size, str)), _IMAGE)
    smaller = {a for a, p in plans.items() if e.opset < 11 and p.scale is not None and p.scale < 1}
    if (
        not smaller
        and not named
        and _is_plain(x, plans, mode, coordinate_transformation_mode, antialias, exclude_outside)
    ):
        size = [plans[a].new if a in plans else x.shape[a] for a in (2, 3)]
        return _by_fractions(e, x, size, mode, coordinate_transformation_mode, nearest_mode)
    if mode not in ("nearest", "linear", "cubic"):
        raise GraphError(f"a Resize of mode {mode}\n  fix: nearest, linear or cubic")
    y, outside = (x if mode == "nearest" or x.dtype in ("float32", "float64") else e.cast(x, "float32")), None
    for dim, plan in reversed(plans.items()):
        if plan.is_named:
            rounds = "ceil" if dim in smaller else nearest_mode
            y = _by_sizes(e, y, dim, plan, mode, coordinate_transformation_mode, rounds, cubic_coeff_a)
            continue
        positions = plan.source_positions(coordinate_transformation_mode)
        if coordinate_transformation_mode == "tf_crop_and_resize":
            beyond = ((positions < 0) | (positions > plan.numbers[0] - 1)).reshape([-1, *[1] * (rank - dim - 1)])
            outside = beyond if outside is None else outside | beyond
        if mode == "nearest":
            y = _apply_taps(e, y, dim, _nearest(positions, "ceil" if dim in smaller else nearest_mode), None)
        else:
            taps = _taps(plan, positions, mode, cubic_coeff_a, bool(antialias), bool(exclude_outside))
            y = _apply_taps(e, y, dim, *taps)
            y = _round_and_clip(e, y, x.dtype, nearest=True) if antialias else y
    if outside is not None and outside.any():
        y = e.op("where", e.constant(outside, "bool"), e.constant(extrapolation_value, y.dtype), y)
    return e.cast(_round_and_clip(e, y, x.dtype, nearest=bool(antialias)), x.dtype)


def _by_sizes(
    e: OnnxEmitter, x: Operand, dim: int, plan: _ResizedAxis, mode: str, positions: str, rounds: str, a: float
) -> Value:
    """x with an axis in a size of which one is known only when the model runs: the positions are computed then."""
    if (
        mode == "nearest"
        and plan.scale is not None
        and plan.scale == int(plan.scale)
        and (positions, rounds) in _REPEATS
    ):
        return e.op("repeat", x, repeats=int(plan.scale), axis=dim)
    made = SizedTable(e.builder.sizes.expression(plan.old), e.builder.sizes.expression(plan.new), plan.scale)
    operands = e.carriers([size for size in (plan.old, plan.new) if isinstance(size, str)])
    tables = made.nearest(positions, rounds) if mode == "nearest" else made.weighted_taps(positions, mode, a)
    return e.op("image.resample", x, *(e.builder.call_te(lambda *_, t=t: t, operands) for t in tables), axis=dim)


_REPEATS = {
    ("asymmetric", "floor"),
    *product(("half_pixel", "half_pixel_symmetric"), ("round_prefer_floor", "round_prefer_ceil")),
}
"""Positions and how they are rounded, by which an image that is whole times as large has each element repeated."""


def _by_fractions(
    e: OnnxEmitter, x: Operand, size: Sequence[int | str], mode: str, positions: str, nearest: str
) -> Value:
    modes = {
        "method": "nearest_neighbor" if mode == "nearest" else "linear",
        "coordinate_transformation_mode": positions,
    }
    return e.op("image.resize2d", x, size=size, layout="NCHW", **modes, rounding_method=nearest)


def _round_and_clip(e: OnnxEmitter, y: Value, dtype: str, nearest: bool) -> Value:
    """Sums of elements that become integers, in the range of their type. As by ONNX Runtime: they are cut after all
    axes, but rounded after each axis where they are antialiased."""
    if y.dtype == dtype or dtype in FLOATS:
        return y
    limits = np.iinfo(dtype)
    if nearest:  # halves away from 0
        y = e.op("multiply", e.op("floor", e.add(e.op("abs", y), 0.5)), e.op("sign", y))
    y = e.op("trunc", y)
    return e.clip(y, float(limits.min), float(limits.max))


def _is_plain(
    x: Value, plans: dict[int, _ResizedAxis], mode: str, positions: str, antialias: int, inside_only: int
) -> bool:
    """Whether the operator `image.resize2d` computes it, by exact fractions."""
    fits = len(x.shape) == 4 and set(plans) <= {2, 3} and all(isinstance(s, int) for s in x.shape[2:])
    whole = all(abs(p.numbers[0] * p.factor - p.numbers[1]) < 1e-6 for p in plans.values())
    kinds = mode == "nearest" or (mode == "linear" and x.dtype[:5] == "float")
    return bool(plans) and fits and whole and kinds and positions in MODES and not antialias and not inside_only


@onnx_op("Upsample")
def upsample(
    e: OnnxEmitter,
    x: OnnxValue,
    scales_input: Input = None,
    mode: str = "nearest",
    scales: Sequence[float] | None = None,
) -> Value:
    """The scales are an attribute before opset 9."""
    factors = np.asarray(scales, "float32") if scales_input is None else scales_input
    kind, opset = "linear" if mode in ("linear", "bilinear") else mode, e.opset
    try:
        e.opset = max(opset, 13)
        modes = kind, "asymmetric", "floor"
        return resize(e, x, None, factors, None, *modes)
    finally:
        e.opset = opset


@onnx_op("AffineGrid")
def affine_grid(e: OnnxEmitter, theta: OnnxValue, size: OnnxValue, align_corners: int = 0) -> Value:
    """(n, 2, 3) or (n, 3, 4) -> (n, h, w, 2) or (n, d, h, w, 3): places of -1..1 under an affine map, x first."""
    _, _, *shape = e.known_integers(size, "the size of an AffineGrid")
    corners = [np.linspace(-1, 1, n) if n > 1 else np.full(1, -1.0) for n in shape]
    spans = corners if align_corners else [(np.arange(n) * 2 + 1) / n - 1 for n in shape]
    points = np.stack([*np.meshgrid(*spans, indexing="ij")[::-1], np.ones(shape)], axis=-1)
    theta = e.value(theta)
    flat = e.constant(points.reshape(-1, len(shape) + 1), theta.dtype)
    grid = e.op("matmul", flat, e.permute(theta, [0, 2, 1]))
    return e.reshape(grid, (theta.shape[0], *shape, len(shape)))
