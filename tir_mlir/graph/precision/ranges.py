"""Ranges of activations: what numbers of 8 bits stand for, from the numbers that layers see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError, short_repr

METHODS = ("min-max", "percentile", "entropy")
BINS = 2048
"""The bins of a histogram."""
SHARES = np.linspace(1.0, 0.2, 65)
"""Of the whole range: the parts that the entropy is computed of."""


@dataclass(frozen=True)
class QuantizationParameters:
    """What an integer q stands for: (q - zero) * scale."""

    scale: float
    zero: int


@dataclass(frozen=True)
class Codes:
    """The integers that activations are rounded to. symmetric: as many of both signs, and 0 stands for 0."""

    dtype: str = "uint8"
    symmetric: bool = False

    @property
    def min_code(self) -> int:
        return 0 if self.dtype == "uint8" else -127 if self.symmetric else -128

    @property
    def max_code(self) -> int:
        return 255 if self.dtype == "uint8" else 127

    def steps(self, low: float, high: float) -> QuantizationParameters:
        """The steps of a range, which has 0 in it."""
        low, high = min(low, 0.0), max(high, 0.0)
        if self.symmetric:
            return QuantizationParameters(float(np.float32(max(-low, high) / self.max_code)) or 1.0, 0)
        scale = float(np.float32((high - low) / (self.max_code - self.min_code))) or 1.0
        return QuantizationParameters(
            scale, int(np.clip(np.rint(self.min_code - low / scale), self.min_code, self.max_code))
        )


class ActivationRange:
    """The numbers of one activation so far: the least, the greatest, and a histogram between them."""

    def __init__(self) -> None:
        self.low, self.high = 0.0, 0.0
        self.counts = np.zeros(BINS, np.int64)

    def widen(self, numbers: np.ndarray, name: str) -> None:
        """Take numbers in. Errors: GraphError for one that is not finite."""
        low, high = float(numbers.min(initial=0)), float(numbers.max(initial=0))
        if not np.isfinite([low, high]).all():
            raise GraphError(f"calibrate: {name} multiplies numbers that are not finite; fix: pass other batches")
        self.low, self.high = min(self.low, low), max(self.high, high)

    def count(self, numbers: np.ndarray) -> None:
        """Count numbers, once the range is known."""
        if self.high > self.low:
            self.counts += np.histogram(numbers, BINS, (self.low, self.high))[0]

    def steps(self, method: str, percentile: float, codes: Codes) -> QuantizationParameters:
        """The steps by a method of `METHODS`."""
        if method == "min-max" or self.high == self.low:
            return codes.steps(self.low, self.high)
        edges = np.linspace(self.low, self.high, BINS + 1)
        is_percentile = method == "percentile"
        return codes.steps(*(_percentile(self.counts, edges, percentile) if is_percentile else self._entropy(codes)))

    def _entropy(self, codes: Codes) -> tuple[float, float]:
        """The part of the range whose rounded numbers tell the most of the numbers."""
        counts = self.counts.copy()
        counts[min(BINS - 1, int(-self.low / (self.high - self.low) * BINS))] = 0  # 0 is exact in every range
        divergences = [_divergence(counts, self.low, self.high, share, codes) for share in SHARES]
        share = float(SHARES[int(np.argmin(divergences))])
        return self.low * share, self.high * share


def method_of(method: object, percentile: object) -> tuple[str, float]:
    """A method, and the percentage of numbers within. Errors: GraphError."""
    if not isinstance(method, str) or method not in METHODS:
        raise GraphError(f"calibrate: no method {short_repr(method)}; fix: one of {', '.join(METHODS)}")
    if isinstance(percentile, bool) or not isinstance(percentile, (int, float)) or not 50 < percentile <= 100:
        raise GraphError(f"calibrate: percentile={short_repr(percentile)}; fix: a number above 50, up to 100")
    return method, float(percentile)


def codes_of(activations: object, symmetric: object) -> Codes:
    """The integers of activations. Errors: GraphError."""
    if not isinstance(activations, str) or activations not in ("uint8", "int8"):
        raise GraphError(f"calibrate: activations={short_repr(activations)}; fix: uint8 or int8")
    if symmetric and activations == "uint8":
        raise GraphError('calibrate: symmetric steps of uint8, which has no negative numbers; fix: activations="int8"')
    return Codes(activations, bool(symmetric))


def _percentile(counts: np.ndarray, edges: np.ndarray, percentile: float) -> tuple[float, float]:
    """The range without so many of the numbers on either side, half of the rest each."""
    share = np.cumsum(counts) / max(1, counts.sum())
    outside = (100 - percentile) / 200
    first, last = np.searchsorted(share, outside, "right"), np.searchsorted(share, 1 - outside)
    return float(edges[first]), float(edges[min(int(last) + 1, BINS)])


def _divergence(counts: np.ndarray, low: float, high: float, share: float, codes: Codes) -> float:
    """The divergence (Kullback, Leibler 1951) of numbers that are rounded within a part of their range, from all."""
    centers = (np.arange(BINS) + 0.5) * ((high - low) / BINS) + low
    steps, levels = codes.steps(low * share, high * share), codes.max_code - codes.min_code
    rounded = np.clip(np.rint(centers / steps.scale) + steps.zero - codes.min_code, 0, levels).astype(int)
    total = np.bincount(rounded, counts, levels + 1)
    inside = (centers >= low * share) & (centers <= high * share) & (counts > 0)
    shared = np.bincount(rounded[inside], minlength=levels + 1)
    spread = np.where(inside, total[rounded] / np.maximum(shared[rounded], 1), 0.0)
    p, q = counts / max(1, counts.sum()), spread / max(1.0, spread.sum())
    seen = p > 0
    return float((p[seen] * np.log(p[seen] / np.maximum(q[seen], 1e-9))).sum())
