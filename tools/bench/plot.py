"""The plot: the roofline with all works, and each contestant's share of the roof."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contest import OURS
from report import PEERS
from rows import Row

COLORS = {OURS: "#c0392b", "numpy": "#2980b9", "mkl": "#16a085", "torch": "#e67e22", "tvm": "#8e44ad"}


def missing() -> str | None:
    return None if importlib.util.find_spec("matplotlib") else "no plot: pip install matplotlib"


def write(path: Path, rows: Sequence[Row]) -> None:
    """Draw a bar per contestant and row, as a share of the row's roof; a group is drawn as its mean only."""
    importlib.import_module("matplotlib").use("svg")
    pyplot = importlib.import_module("matplotlib.pyplot")

    shown = [row for row in rows if row.peak and (row.ours or row.peers) and not row.group]
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.55 * len(shown)))
    _bars(axes, shown)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def _bars(axes: Any, rows: Sequence[Row]) -> None:
    names = [name for name in (OURS, *PEERS) if any(name == OURS or name in row.peers for row in rows)]
    height = 0.8 / len(names)
    for place, name in enumerate(names):
        at = [number + place * height for number in range(len(rows))]
        figures = [row.ours if name == OURS else row.peers.get(name) for row in rows]
        shares = [(figure or 0.0) / (row.peak or 1.0) for figure, row in zip(figures, rows)]
        axes.barh(at, shares, height, label=name, color=COLORS[name])
    axes.set_yticks([number + 0.4 - height / 2 for number in range(len(rows))])
    axes.set_yticklabels([f"{row.work} {row.shape} [{row.threads}]" for row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.set_ylim(len(rows), -0.3)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xlabel("share of the roof: min(peak, intensity x bandwidth); [threads]")
    axes.legend(loc="lower right")
