"""The plot: each contestant's share of the roof, a bar for each work."""

from __future__ import annotations

from collections.abc import Sequence

from contest import OURS
from report import PEERS
from rows import Row
from tir_mlir.visual import svg
from tir_mlir.visual.svg import Picture

STYLES = {OURS: "tir-gone-text", **PEERS}
"""The style of each contestant's bars."""
WIDTH, BAR, GAP, TOP, MARGIN = 420.0, 9.0, 10.0, 40.0, 16.0  # px; WIDTH is that of the roof's share 1


def picture(rows: Sequence[Row]) -> Picture:
    """Draw a bar per contestant and row, as a share of the row's roof; a group is drawn as its mean only."""
    shown = [row for row in rows if row.peak and (row.ours or row.peers) and not row.group]
    names = [name for name in STYLES if any(_rate(row, name) for row in shown)]
    labels = [f"{row.work} {row.shape} [{row.threads}]" for row in shown]
    start = MARGIN + max((svg.width_of(label, small=True) for label in labels), default=0.0) + 8
    height = len(names) * BAR + GAP
    parts = [_legend(names)]
    for number, (row, label) in enumerate(zip(shown, labels, strict=True)):
        y = TOP + number * height
        parts.append(svg.text(start - 8, y + (height - GAP) / 2 + 4, label, "tir-ink tir-small", "end"))
        parts += [_bar(start, y + place * BAR, row, name) for place, name in enumerate(names)]
    bottom = TOP + len(shown) * height
    parts.append(svg.line(start + WIDTH, TOP - 6, start + WIDTH, bottom))
    roof = "roof: min(peak, intensity x bandwidth)"
    parts.append(svg.text(start + WIDTH, bottom + 14, roof, "tir-muted tir-small", "end"))
    right = max([1.0, *(_share(row, name) for row in shown for name in names)])
    return Picture("".join(parts), start + right * WIDTH + MARGIN, bottom + 28, "shares of the roof", "; ".join(labels))


def _legend(names: Sequence[str]) -> str:
    x, parts = MARGIN, []
    for name in names:
        parts.append(svg.rectangle(x, 12, 10, 10, STYLES[name]))
        parts.append(svg.text(x + 14, 21, name, "tir-ink tir-small"))
        x += 30 + svg.width_of(name, small=True)
    return "".join(parts)


def _bar(x: float, y: float, row: Row, name: str) -> str:
    return svg.rectangle(x, y, _share(row, name) * WIDTH, BAR - 1, STYLES[name]) if _rate(row, name) else ""


def _share(row: Row, name: str) -> float:
    return (_rate(row, name) or 0.0) / (row.peak or 1.0)


def _rate(row: Row, name: str) -> float | None:
    return row.ours if name == OURS else row.peers.get(name)
