"""Charts: curves over numbered points, stacked columns, and bars next to names. Drawn for a given width, in px."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tir_mlir.visual import palette, svg
from tir_mlir.visual.svg import Picture

PAD, LINE, TICK = 8.0, 16.0, 15.0
PLOT = 190.0
"""The height of the plotted part."""
_COLUMN = 0.72
"""The part of its width that a column takes."""

MOST_TITLES = 300
"""Marks that show a text below the mouse."""

Format = Callable[[float], str]


@dataclass(frozen=True)
class Series:
    """Values by point, None where there is none; drawn as "marks", as a "line", or as both."""

    name: str
    values: Sequence[float | None]
    shape: Literal["both", "marks", "line"] = "both"


@dataclass(frozen=True)
class ChartAxis:
    """What is counted: its title, how a value is written, whether the axis is logarithmic."""

    title: str
    format: Format
    logarithmic: bool = False


@dataclass(frozen=True)
class ChartPoints:
    """The points of the horizontal axis: their numbers, and a text for each.

    key: the attribute of a mark that has its index, for the script of a page.
    """

    title: str
    numbers: Sequence[str]
    texts: Sequence[str]
    key: str = "data-point"


def curves(title: str, series: Sequence[Series], points: ChartPoints, axis: ChartAxis, width: float) -> Picture:
    """A curve for each series; values of a logarithmic axis have to be positive."""
    values = [v for s in series for v in s.values if v is not None]
    frame = _ChartFrame.fit_values(values, points, axis, width, len(series))
    parts = [frame.render(points, axis), _legend([s.name for s in series], width)]
    for number, line in enumerate(series):
        points_of_line = [(n, v) for n, v in enumerate(line.values) if v is not None]
        if line.shape != "marks":
            parts.append(
                svg.polyline(
                    [frame.pixel_position(n, v) for n, v in points_of_line], f"{palette.line_of(number)} tir-roof"
                )
            )
        for n, value in points_of_line if line.shape != "line" else ():
            if len(points_of_line) > MOST_TITLES:
                parts.append(svg.circle(*frame.pixel_position(n, value), 2, palette.series_of(number)))
                continue
            words = f"{points.texts[n]}: {line.name} {axis.format(value)}".replace(":  ", ": ")
            mark = svg.circle(*frame.pixel_position(n, value), 3, palette.series_of(number))
            parts.append(svg.titled_group(mark, words, {points.key: str(n), "class": "tir-mark"}))
    return Picture("".join(parts), width, frame.height, title, _description(series, points, axis))


def columns(title: str, series: Sequence[Series], points: ChartPoints, axis: ChartAxis, width: float) -> Picture:
    """A column for each point: the values of the series on top of each other."""
    sums = [sum(s.values[n] or 0.0 for s in series) for n in range(len(points.numbers))]
    frame = _ChartFrame.fit_values([0.0, *sums], points, axis, width, len(series))
    parts = [frame.render(points, axis), _legend([s.name for s in series], width)]
    wide = max(1.0, frame.step * _COLUMN)
    for n, text in enumerate(points.texts):
        below, pieces = 0.0, []
        for number, line in enumerate(series):
            value = line.values[n] or 0.0
            (x, top), (_, bottom) = frame.pixel_position(n, below + value), frame.pixel_position(n, below)
            if value:
                pieces.append(svg.rectangle(x - wide / 2, top, wide, bottom - top, palette.series_of(number)))
            below += value
        parts.append(svg.titled_group("".join(pieces), f"{text}: {axis.format(below)}", {points.key: str(n)}))
    return Picture("".join(parts), width, frame.height, title, _description(series, points, axis))


def bars(title: str, rows: Sequence[tuple[str, float]], format_value: Format, width: float) -> Picture:
    """A bar for each named value, from above in the order given."""
    largest = max((value for _, value in rows), default=0.0) or 1.0
    names = [_cut(name, width * 0.45) for name, _ in rows]
    left = PAD + max((svg.width_of(name, True) for name in names), default=0.0) + 8
    right = max((svg.width_of(format_value(value), True) for _, value in rows), default=0.0) + PAD + 6
    parts, y = [], PAD
    for name, (whole, value) in zip(names, rows, strict=True):
        length = max(1.0, (width - left - right) * value / largest)
        bar = svg.rectangle(left, y, length, LINE - 4, palette.series_of(0), 2)
        parts.append(svg.text(left - 8, y + 10, name, "tir-ink tir-small", "end"))
        parts.append(svg.titled_group(bar, f"{whole}: {format_value(value)}", {}))
        parts.append(svg.text(left + length + 6, y + 10, format_value(value), "tir-muted tir-small"))
        y += LINE + 4
    described = "; ".join(f"{name}: {format_value(value)}" for name, value in rows)
    return Picture("".join(parts), width, y + PAD, title, described)


def _cut(name: str, room: float) -> str:
    most = max(4, int(room / (svg.CHARACTER * svg.SMALL)))
    return name if len(name) <= most else f"{name[: most - 1]}…"


# --- the frame around curves and columns ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ChartFrame:
    """The plotted part of a chart: maps (index of a point, value) to px."""

    left: float
    right: float
    top: float
    low: float
    high: float
    logarithmic: bool
    count: int
    ticks: tuple[float, ...]

    @staticmethod
    def fit_values(
        values: Sequence[float], points: ChartPoints, axis: ChartAxis, width: float, series: int
    ) -> _ChartFrame:
        ticks = _logarithmic_ticks(values) if axis.logarithmic else _linear_ticks(values)
        left = PAD + max(svg.width_of(axis.format(t), True) for t in ticks) + 8
        top = PAD + LINE * (1 + (series if series > 1 else 0)) + 10
        return _ChartFrame(
            left, width - PAD - 6, top, ticks[0], ticks[-1], axis.logarithmic, len(points.numbers), ticks
        )

    @property
    def height(self) -> float:
        return self.top + PLOT + 2 * TICK + PAD

    @property
    def step(self) -> float:
        return (self.right - self.left) / max(1, self.count)

    def pixel_position(self, index: float, value: float) -> tuple[float, float]:
        x = self.left + (index + 0.5) * self.step
        low, high, at = (math.log10(v) if self.logarithmic else v for v in (self.low, self.high, value))
        return x, self.top + PLOT * (1 - (at - low) / ((high - low) or 1.0))

    def render(self, points: ChartPoints, axis: ChartAxis) -> str:
        parts = [svg.text(PAD, PAD + 10, axis.title, "tir-muted tir-small")]
        for tick in self.ticks:
            _, y = self.pixel_position(0, tick)
            parts.append(svg.line(self.left, y, self.right, y))
            parts.append(svg.text(self.left - 6, y + 4, axis.format(tick), "tir-muted tir-small", "end"))
        wide = max((svg.width_of(number, True) for number in points.numbers), default=0.0) + 8
        every = max(1, math.ceil(wide / max(self.step, 1e-9)))
        bottom = self.top + PLOT + TICK
        for n in range(0, self.count, every):
            if points.numbers[n]:
                parts.append(
                    svg.text(
                        self.pixel_position(n, self.low)[0], bottom, points.numbers[n], "tir-muted tir-small", "middle"
                    )
                )
        middle = (self.left + self.right) / 2
        parts.append(svg.text(middle, bottom + TICK, points.title, "tir-muted tir-small", "middle"))
        return "".join(parts)


def _logarithmic_ticks(values: Sequence[float]) -> tuple[float, ...]:
    """Powers of ten around positive values, also numbers between these if they are few."""
    low = math.floor(math.log10(min(values, default=1.0)))
    high = math.ceil(math.log10(max(values, default=1.0)))
    high = max(high, low + 1)
    every = max(1, math.ceil((high - low) / 6))
    if high - low > 2:
        return tuple(10.0**n for n in range(low, high + every, every))
    for parts in ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        fine = [*sorted(m * 10.0**n for n in range(low, high) for m in parts), 10.0**high]
        first = max((n for n, t in enumerate(fine) if t <= min(values, default=1.0)), default=0)
        last = min((n for n, t in enumerate(fine) if t >= max(values, default=1.0)), default=len(fine) - 1)
        ticks = tuple(fine[first : max(last, first + 1) + 1])
        if len(ticks) > 3:
            break
    return ticks


def _linear_ticks(values: Sequence[float]) -> tuple[float, ...]:
    """Round numbers from 0 on, to at least the largest value."""
    largest = max(values, default=1.0) or 1.0
    power = 10.0 ** math.floor(math.log10(largest))
    step = next(s * power for s in (0.2, 0.5, 1.0, 2.0) if largest <= 5 * s * power)
    return tuple(step * n for n in range(math.ceil(largest / step - 1e-9) + 1))


def _legend(names: Sequence[str], width: float) -> str:
    """A line for each series, if there are several."""
    parts = []
    for number, name in enumerate(names if len(names) > 1 else ()):
        y = PAD + LINE * (number + 1)
        parts.append(svg.rectangle(PAD, y + 2, 10, 10, palette.series_of(number), 2))
        parts.append(svg.text(PAD + 16, y + 11, _cut(name, width - PAD - 24), "tir-ink tir-small"))
    return "".join(parts)


def _description(series: Sequence[Series], points: ChartPoints, axis: ChartAxis) -> str:
    """The values as text, for screen readers."""
    parts = []
    for line in series:
        figures = [f"{points.numbers[n]} {axis.format(v)}" for n, v in enumerate(line.values) if v is not None]
        parts.append(f"{line.name}: {', '.join(figures)}")
    return f"{axis.title} by {points.title}. {'; '.join(parts)}"
