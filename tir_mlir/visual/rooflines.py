"""Roofline plots: measured performance under the compute and bandwidth limits of a machine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import check_type, short_repr
from tir_mlir.visual import svg
from tir_mlir.visual.svg import Picture

WIDTH, HEIGHT = 480.0, 300.0
LEFT, TOP, RIGHT, BOTTOM = 58.0, 34.0, 24.0, 46.0
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Point:
    """A measured run: `flops` operations and `bytes` of memory traffic, in `seconds`."""

    name: str
    flops: float
    bytes: float
    seconds: float

    def __post_init__(self) -> None:
        for key in ("flops", "bytes", "seconds"):
            value = getattr(self, key)
            if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
                raise ValueError(f"{self.name}: {key} must be a positive number, not {value!r}")

    @property
    def intensity(self) -> float:
        """Arithmetic intensity: operations per byte."""
        return self.flops / self.bytes

    @property
    def rate(self) -> float:
        """Operations per second."""
        return self.flops / self.seconds


def roofline(
    points: Iterable[Point | tuple[str, float, float, float]],
    peaks: Mapping[str, float],
    bandwidths: Mapping[str, float],
    title: str = "Roofline",
) -> Picture:
    """Draw measured runs under the roofline of a machine; both axes are logarithmic.

    `points`: (name, flops, bytes, seconds) of each run. `peaks`: operations per second, by name; `bandwidths`: bytes
    per second, by name. At least one of each is needed.

        roofline([("matmul", 2 * 1024**3, 12 * 1024**2, 0.02)], peaks={"fma": 177e9}, bandwidths={"DRAM": 20e9})

    Errors: ValueError for numbers that are not positive, and without a peak or a bandwidth.
    """
    wanted = "a list of (name, flops, bytes, seconds)"
    check_type(points, Iterable, "roofline", "points", wanted)
    given = list(points)
    for point in given:
        check_type(point, (Point, tuple), "roofline", "points", wanted)
        if not isinstance(point, Point) and len(point) != 4:
            raise ValueError(f"roofline: points are {wanted}, not {short_repr(point)}")
    for word, roofs in (("peaks", peaks), ("bandwidths", bandwidths)):
        check_type(roofs, Mapping, "roofline", word, "a dictionary of numbers by name")
    runs = [p if isinstance(p, Point) else Point(*p) for p in given]
    if not peaks or not bandwidths:
        raise ValueError("a roofline needs at least one peak (operations/s) and one bandwidth (bytes/s)")
    for kind, roofs in (("peak", peaks), ("bandwidth", bandwidths)):
        for name, value in roofs.items():
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"the {kind} {name} must be a positive number, not {value!r}")
    axes = _RooflineAxes.fit_runs(runs, peaks, bandwidths)
    parts = [svg.text(LEFT, 20, title, "tir-ink tir-strong"), axes.render(), _roofs(axes, peaks, bandwidths)]
    parts += _points(axes, runs, peaks)
    description = "; ".join(f"{p.name}: {_short(p.rate)}flop/s at {p.intensity:.3g} flop/byte" for p in runs)
    return Picture("".join(parts), WIDTH, HEIGHT, title, description)


@dataclass(frozen=True)
class _RooflineAxes:
    """The logarithmic axes: maps (operations per byte, operations per second) to px."""

    x: tuple[float, float]
    y: tuple[float, float]

    @staticmethod
    def fit_runs(runs: Sequence[Point], peaks: Mapping[str, float], bandwidths: Mapping[str, float]) -> _RooflineAxes:
        corners = [peak / band for peak in peaks.values() for band in bandwidths.values()]
        across = [p.intensity for p in runs] + corners
        x = math.floor(math.log10(min(across) / 2)), math.ceil(math.log10(max(across) * 2))
        up = [p.rate for p in runs] + [max(bandwidths.values()) * 10.0 ** x[0], *peaks.values()]
        return _RooflineAxes(x, (math.floor(math.log10(min(up))), math.ceil(math.log10(max(up) * 1.3))))

    def pixel_position(self, intensity: float, rate: float) -> tuple[float, float]:
        across = (math.log10(intensity) - self.x[0]) / (self.x[1] - self.x[0])
        up = (math.log10(rate) - self.y[0]) / (self.y[1] - self.y[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    def render(self) -> str:
        parts = []
        (left_edge, bottom), (right_edge, top) = (
            self.pixel_position(10.0 ** self.x[0], 10.0 ** self.y[0]),
            self.pixel_position(10.0 ** self.x[1], 10.0 ** self.y[1]),
        )
        for power in range(int(self.x[0]), int(self.x[1]) + 1):
            x, _ = self.pixel_position(10.0**power, 10.0 ** self.y[0])
            parts.append(svg.line(x, top, x, bottom))
            parts.append(svg.text(x, bottom + 15, f"{10.0**power:g}", "tir-muted tir-small", "middle"))
        for power in range(int(self.y[0]), int(self.y[1]) + 1):
            _, y = self.pixel_position(10.0 ** self.x[0], 10.0**power)
            parts.append(svg.line(left_edge, y, right_edge, y))
            parts.append(svg.text(left_edge - 6, y + 4, _short(10.0**power), "tir-muted tir-small", "end"))
        parts.append(
            svg.text((left_edge + right_edge) / 2, bottom + 34, "flop / byte", "tir-muted tir-small", "middle")
        )
        parts.append(svg.text(14, (top + bottom) / 2, "flop / s", "tir-muted tir-small", "middle", angle=-90))
        return "".join(parts)


def _roofs(axes: _RooflineAxes, peaks: Mapping[str, float], bandwidths: Mapping[str, float]) -> str:
    """A slope per bandwidth, up to the highest peak, and a horizontal line per peak, from the steepest slope on."""
    parts = []
    high, fast = max(peaks.values()), max(bandwidths.values())
    right = 10.0 ** axes.x[1]
    for name, band in bandwidths.items():
        start = max(10.0 ** axes.x[0], 10.0 ** axes.y[0] / band)
        ends = [axes.pixel_position(start, band * start), axes.pixel_position(high / band, high)]
        parts.append(svg.polyline(ends, "tir-read-line tir-roof"))
        (x1, y1), (x2, y2) = ends
        angle = math.degrees(math.atan2(y2 - y1, x2 - x1))
        words = f"{name} {_short(band)}B/s"
        along = 0.06
        parts.append(
            svg.text(
                x1 + along * (x2 - x1), y1 + along * (y2 - y1) - 6, words, "tir-read tir-small tir-halo", angle=angle
            )
        )
    for name, peak in peaks.items():
        ends = [axes.pixel_position(peak / fast, peak), axes.pixel_position(right, peak)]
        parts.append(svg.polyline(ends, "tir-write-line tir-roof"))
        base, label_x = _peak_label(axes, name, peak)
        parts.append(svg.text(label_x, base, _peak_text(name, peak), "tir-write tir-small tir-halo"))
    return "".join(parts)


def _peak_text(name: str, peak: float) -> str:
    return f"{name} {_short(peak)}flop/s"


def _peak_label(axes: _RooflineAxes, name: str, peak: float) -> tuple[float, float]:
    """The baseline and left end of the label of a peak, at the right end of its line."""
    right, y = axes.pixel_position(10.0 ** axes.x[1], peak)
    return y - 6, right - 4 - svg.width_of(_peak_text(name, peak), True)


def _points(axes: _RooflineAxes, runs: Sequence[Point], peaks: Mapping[str, float]) -> list[str]:
    """The points with their labels, moved down where they would overlap."""
    parts: list[str] = []
    placed = [(*_peak_label(axes, name, peak), WIDTH) for name, peak in peaks.items()]
    for run in sorted(runs, key=lambda r: -r.rate):
        x, y = axes.pixel_position(run.intensity, run.rate)
        words = f"{run.name} {_short(run.rate)}flop/s"
        wide = svg.width_of(words, True)
        label_x = x + 8 if x + 8 + wide < WIDTH - 4 else x - 8 - wide
        base = y + 4
        while any(
            abs(base - baseline) < 13 and label_x < end and start < label_x + wide for baseline, start, end in placed
        ):
            base += 13
        placed.append((base, label_x, label_x + wide))
        parts.append(svg.circle(x, y, 4, "tir-ink tir-point"))
        parts.append(svg.text(label_x, base, words, "tir-ink tir-small tir-halo"))
    return parts


def _short(value: float) -> str:
    """`177 G`: a value with an SI prefix, without unit."""
    for scale, letter in _UNITS:
        if value >= scale:
            return f"{value / scale:.3g} {letter}"
    return f"{value:.3g} "
