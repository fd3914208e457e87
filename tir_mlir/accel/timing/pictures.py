"""The timeline of a program as a picture and as text: a lane for each unit, time to the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.timing.clocks import WAITS, Times, UnitClocks
from tir_mlir.accel.timing.stream import CPU
from tir_mlir.visual import palette, svg
from tir_mlir.visual.svg import Picture

if TYPE_CHECKING:
    from tir_mlir.accel.timing.stream import Integers

LANE, GAP, PAD, HEAD = 18.0, 6.0, 12.0, 30.0
"""Height of a lane, space between two, margin, and height of the title, in px."""
EXACT = 2000
"""Up to so many instructions each is a rectangle of its own."""
_SHADES = " .:=#"


@dataclass(frozen=True)
class _Bar:
    """Cycles in which a lane executes instructions of a name."""

    lane: int
    name: str
    start: float
    end: float
    text: str


def draw_timeline(clocks: UnitClocks, times: Times, first: int, end: int, width: float) -> Picture:
    """Draw the cycles from `first` to before `end`."""
    lanes = [n for n, lane in enumerate(clocks.lanes) if lane.unit != CPU]
    names = list(dict.fromkeys(t.issue.instruction.name for t in clocks.stream.tables if t.statements is None))
    left = PAD + max(svg.width_of(clocks.lanes[n].name) for n in lanes) + 10
    scale = width / max(1, end - first)
    title = f"{clocks.stream.program.name} on {clocks.machine.name}: cycles {first} to {end}"
    parts = [svg.text(PAD, PAD + 8, title, "tir-ink tir-strong")]
    for row, lane in enumerate(lanes):
        y = PAD + HEAD + row * (LANE + GAP)
        parts.append(svg.text(left - 10, y + LANE - 5, clocks.lanes[lane].name, "tir-ink", "end"))
        parts.append(svg.line(left, y + LANE, left + width, y + LANE))
    for bar in _bars(clocks, times, first, end, width):
        y = PAD + HEAD + lanes.index(bar.lane) * (LANE + GAP)
        style = palette.series_of(names.index(bar.name))
        box = svg.rectangle(left + (bar.start - first) * scale, y, max(0.3, (bar.end - bar.start) * scale), LANE, style)
        parts.append(svg.titled_group(box, bar.text, {}))
    y, x = PAD + HEAD + len(lanes) * (LANE + GAP) + 8, left
    for number, name in enumerate(names):
        parts.append(svg.rectangle(x, y, 10, 10, palette.series_of(number)))
        parts.append(svg.text(x + 14, y + 9, name, "tir-muted tir-small"))
        x += 14 + svg.width_of(name, small=True) + 14
    whole = max(left + width, x, PAD + svg.width_of(title)) + PAD
    return Picture("".join(parts), whole, y + 10 + PAD, title)


def _bars(clocks: UnitClocks, times: Times, first: int, end: int, width: float) -> Iterator[_Bar]:
    """The instructions between two cycles; of many, those of a name that are less than a pixel apart together."""
    stop = times.start + times.busy
    shown = np.flatnonzero((clocks.arrays["kind"] != WAITS) & (times.start < end) & (stop > first) & (times.busy > 0))
    gap = 0.0 if len(shown) <= EXACT else (end - first) / width
    names = np.array([clocks.stream.tables[t].issue.instruction.name for t in clocks.stream.table[shown]])
    for lane in np.unique(clocks.arrays["lane"][shown]).tolist():
        of_lane = clocks.arrays["lane"][shown] == lane
        for name in np.unique(names[of_lane]).tolist():
            places = shown[of_lane & (names == name)]
            places = places[np.argsort(times.start[places], kind="stable")]
            for group in _group_intervals(times.start[places], stop[places], gap):
                start, last = int(times.start[places[group[0]]]), int(stop[places[group[1] - 1]])
                count = group[1] - group[0]
                what = clocks.stream.describe(int(places[group[0]])) if count == 1 else f"{count} {name}"
                yield _Bar(lane, name, max(start, first), min(last, end), f"{what}: cycles {start} to {last}")


def _group_intervals(starts: Integers, ends: Integers, gap: float) -> Iterator[tuple[int, int]]:
    """The intervals in groups that are less than a gap apart: the first of each, and the one behind it."""
    apart = np.flatnonzero(starts[1:] - ends[:-1] >= gap) + 1 if gap else np.arange(1, len(starts))
    edges = [0, *apart.tolist(), len(starts)]
    yield from pairwise(edges)


def timeline_text(clocks: UnitClocks, times: Times, first: int, end: int, width: int) -> str:
    """A line for each unit, whose characters say how busy it is in an equal share of the cycles."""
    edges = np.linspace(first, end, width + 1)
    lines = [f"cycles {first} to {end}, {(end - first) / width:.0f} a character: {_legend()}"]
    names = [lane.name for lane in clocks.lanes]
    for number, lane in enumerate(clocks.lanes):
        if lane.unit == CPU:
            continue
        own = (clocks.arrays["lane"] == number) & (clocks.arrays["kind"] != WAITS)
        starts, stops = times.start[own], times.start[own] + times.busy[own]
        done = _busy_before(edges, starts, stops)
        share = np.diff(done) / np.maximum(np.diff(edges), 1e-9)
        marks = "".join(_SHADES[min(len(_SHADES) - 1, int(np.ceil(s * (len(_SHADES) - 1) - 1e-9)))] for s in share)
        lines.append(f"  {lane.name:{max(map(len, names))}} |{marks}|")
    return "\n".join(lines)


def _legend() -> str:
    step = 100 // (len(_SHADES) - 1)
    return ", ".join(f"{mark} up to {step * (n + 1)} %" for n, mark in enumerate(_SHADES[1:]))


def _busy_before(edges: Sequence[float] | np.ndarray, starts: Integers, stops: Integers) -> np.ndarray:
    """The busy cycles before each edge."""
    total = np.concatenate([[0], np.cumsum(stops - starts)])
    before = np.searchsorted(stops, edges, side="right")
    current = np.minimum(before, max(0, len(starts) - 1))
    inside = np.clip(edges - starts[current], 0, None) if len(starts) else np.zeros(len(edges))
    return total[before] + np.where(before < len(starts), inside, 0)
