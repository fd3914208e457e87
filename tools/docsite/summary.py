"""Draw `docs/images/summary.svg`: the tables of `docs/performance.md` as one bar for each kind of work and machine.

A bar is the geometric mean of our rate over that of the best peer of its row. Regenerate with `python -m
docsite.summary` in `tools`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from math import exp, log

from docsite.picture import PAGE, ROOT, STYLE, label

PICTURE = ROOT / "docs" / "images" / "summary.svg"
KINDS = {
    "small products": ("A @ B, small",),
    "8 and 16 bits": ("A @ B, int8", "A @ B, bfloat16", "A @ B, float16"),
    "products": ("A @ B", "a @ B", "mm_relu"),
    "convolutions": ("conv2d",),
    "softmax, norms": ("softmax", "layer norm", "batch norm"),
    "attention": ("attention",),
    "elementwise": ("relu(",),
}
"""The kinds of works, and how the names of their rows begin; the first that fits."""

NO_PATH = 10.0
"""A ratio from which on no library has a fast path for the row, which is then left out."""

MODELS = "whole models"
NO_PEERS = {"What", "Size", "Threads", "ours", "constant", "tvm", "roof", "ours / roof", "unit", ""}
"""Columns that are no libraries. TVM runs our own schedules."""

WIDTH, ROW, LEFT, RIGHT = 760, 26, 190, 690


@dataclass(frozen=True)
class Bar:
    """The ratios of the rows of one kind on one machine."""

    kind: str
    machine: str
    ratios: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Their geometric mean."""
        return exp(sum(map(log, self.ratios)) / len(self.ratios))


def bars(page: str) -> list[Bar]:
    """Return the bars of the page, kinds together. Errors: ValueError if a table has no rows that are known."""
    found: dict[tuple[str, str], list[float]] = {}
    for machine, head, rows in tables(page):
        for row in rows:
            cells = dict(zip(head, row, strict=True))
            if (one := _ratio(cells)) is not None:
                found.setdefault((one[0], machine), []).append(one[1])
    kinds = [*KINDS, MODELS]
    if missing := set(kinds) - {kind for kind, _ in found}:
        raise ValueError(f"{PAGE}: no rows of {', '.join(sorted(missing))}")
    return [Bar(kind, machine, tuple(found[kind, machine])) for kind in kinds for k, machine in found if k == kind]


def tables(page: str) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """The machine that the text names last before a table, its head and its rows."""
    machine, lines = "", page.splitlines()
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            if named := re.findall(r"AMD EPYC \d+|Intel Xeon \(\w+ \w+|\bH\d00\b", line):
                machine = re.sub(r"^(AMD|Intel) ", "", named[-1]).replace(" (", ", ")
        elif number + 1 < len(lines) and lines[number + 1].startswith("|---"):
            rows = []
            for row in lines[number + 2 :]:
                if not row.startswith("|"):
                    break
                rows.append(_cells(row))
            yield machine, _cells(line), rows


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _ratio(cells: dict[str, str]) -> tuple[str, float] | None:
    """The kind of a row and our rate over that of its best peer; None for a row of another sort."""
    if "times" in cells and "Model" in cells:
        return (MODELS, float(cells["times"])) if cells["times"] else None
    if "What" not in cells:
        return None
    kind = next((kind for kind, starts in KINDS.items() if cells["What"].startswith(starts)), None)
    rates = [float(cells[name]) for name in cells if name not in NO_PEERS and cells[name]]
    if kind is None or not rates or (ratio := float(cells["ours"]) / max(rates)) > NO_PATH:
        return None
    return kind, ratio


def draw(page: str) -> str:
    """Return the picture as SVG."""
    shown = bars(page)
    height = 64 + ROW * len(shown) + 8 * len({bar.kind for bar in shown})
    scale = (RIGHT - LEFT) / max(bar.mean for bar in shown)
    title = "Our speed over that of the best library, geometric means"
    one = LEFT + scale
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        f' font-family="system-ui, sans-serif" role="img" aria-label="{title}">',
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" rx="10" class="paper"/>',
        label(20, 30, title, 16, weight=600),
        f'<path d="M{one:.1f} 44 V{height - 12}" class="ink-line" stroke-dasharray="4 4"/>',
    ]
    y, before = 48, ""
    for bar in shown:
        if bar.kind != before:
            y += 8
            parts.append(label(20, y + 17, bar.kind, 15))
        before = bar.kind
        count = f"{bar.machine}: {len(bar.ratios)} row{'s' * (len(bar.ratios) > 1)}"
        parts.append(
            f'<rect x="{LEFT}" y="{y}" width="{scale * bar.mean:.1f}" height="{ROW - 4}" rx="3" class="bar">'
            f"<title>{escape(bar.kind)}, {escape(count)}: {bar.mean:.2f}</title></rect>"
        )
        parts.append(label(LEFT + 8, y + 16, count, 13))
        parts.append(label(WIDTH - 20, y + 16, f"{bar.mean:.2f}", 15, weight=600, anchor="end"))
        y += ROW
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
