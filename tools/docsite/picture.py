"""Draw `docs/images/journey.svg` and, for phones, `journey-narrow.svg`: the stages of a program, and its speed after
each stage of a schedule.

Takes its numbers from the ladder in `docs/performance.md`. Regenerate with `python tools/docsite/picture.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
IMAGES = ROOT / "docs" / "images"


@dataclass(frozen=True)
class Layout:
    """Where things are: stages are cards in rows, the columns of the chart are below them."""

    width: int
    height: int
    cards: int  # in a row
    card: int  # the width of one
    margin: int
    gap: int
    title: tuple[str, ...]  # the lines of the chart's title, with {steps}
    top: int  # y of the columns' axis at the roof
    base: int  # and at 0
    right: int  # x where the columns end
    text: float  # the size of text below columns
    code: float  # and in cards


TITLE = "A @ B.T, 1024 x 1024 x 1024, float32, one thread:", "GFLOP/s along the {steps} steps of the schedule"
PICTURES = {
    "journey.svg": Layout(960, 470, 4, 206, 24, 29, (" ".join(TITLE),), 250, 424, 846, 15, 11.2),
    "journey-narrow.svg": Layout(420, 660, 2, 189, 10, 22, TITLE, 432, 606, 328, 12.5, 10.2),
}
CARD_ROW = 164  # height of a row of cards
STYLE = """
.ink{fill:#1f2430}.soft{fill:#6b7280}.rule{stroke:#d1d5db}.soft-line{stroke:#6b7280}.ink-line{stroke:#1f2430}
.paper{fill:#ffffff}.card{fill:#f8f9fc}.bar{fill:#c5cae9}.best{fill:#3f51b5}.arrow{stroke:#3f51b5}
@media (prefers-color-scheme: dark){
.ink{fill:#e5e7eb}.soft{fill:#9ca3af}.rule{stroke:#3b4252}.soft-line{stroke:#9ca3af}.ink-line{stroke:#e5e7eb}
.paper{fill:#1b1f2a}.card{fill:#242a38}.bar{fill:#4a5488}.best{fill:#8c9eff}.arrow{stroke:#8c9eff}}"""

STAGES = (
    (
        "TVMScript",
        "your program",
        """for i, j, k in T.grid(...):
  with T.block("C"):
    C[vi, vj] += (
      A[vi, vk] * B[vj, vk])""",
    ),
    (
        "Schedule",
        "each step proved",
        """sch.split(j, [None, 64])
sch.cache_read(C, "B", ...)
sch.unroll(i_2)
sch.vectorize(j_1)""",
    ),
    (
        "MLIR",
        "upstream at every step",
        """affine.for %k = 0 to 256 {
  affine.load
  vector.broadcast
  arith.mulf, arith.addf""",
    ),
    (
        "Machine code",
        "on NumPy arrays",
        """vfmadd231ps %zmm12, ...
vfmadd231ps %zmm14, ...
vfmadd231ps %zmm13, ...
vfmadd231ps %zmm15, ...""",
    ),
)
GROUPS = (
    ("as written", "as written"),
    ("tiles", "cache_write("),
    ("B packed", "cache_read("),
    ("vectors", "unroll(loop=k_1)"),
    ("last steps", "decompose_reduction"),
)
"""The stages of the ladder, and the step that each begins with."""


def rungs(page: str) -> list[tuple[str, float]]:
    """Return the steps of the ladder with their GFLOP/s. Errors: ValueError if the page has no ladder."""
    start = page.find("| Step | GFLOP/s |")
    if start < 0:
        raise ValueError(f"{PAGE}: no table with the columns Step and GFLOP/s")
    return [(step, float(rate)) for step, rate in re.findall(r"^\| `(.+)` \| ([\d.]+) \|$", page[start:], re.M)]


def stages(steps: list[tuple[str, float]]) -> list[tuple[str, int, float]]:
    """Return the name, the number of steps and the last rate of each group. Errors: ValueError if one has no start."""
    starts = []
    for name, first in GROUPS:
        found = [number for number, (step, _) in enumerate(steps) if step.startswith(first)]
        if not found:
            raise ValueError(f"{PAGE}: no step of the ladder begins with {first}, where the stage {name!r} starts")
        starts.append(found[0])
    ends = [*starts[1:], len(steps)]
    return [(name, end - at, steps[end - 1][1]) for (name, _), at, end in zip(GROUPS, starts, ends, strict=True)]


def peers(page: str) -> tuple[dict[str, float], str]:
    """Return the rates of NumPy and of the roof in the run of the ladder, and its machine."""
    found = re.search(r"In this run, on\s+an? (.+?), NumPy reaches ([\d.]+) and the\s+peak is ([\d.]+)", page, re.S)
    if found is None:
        raise ValueError(f"{PAGE}: the ladder does not say what NumPy reaches and what the peak is")
    return {"NumPy": float(found[2]), "peak": float(found[3])}, " ".join(found[1].split())


def draw(page: str, layout: Layout) -> str:
    """Return the picture as SVG."""
    others, machine = peers(page)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {layout.width} {layout.height}" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="From source to machine code">',
        f"<style>{STYLE}</style>",
        f'<rect width="{layout.width}" height="{layout.height}" rx="10" class="paper"/>',
        *(part for number, stage in enumerate(STAGES) for part in _stage(layout, number, *stage)),
        *_chart(layout, stages(rungs(page)), others, machine),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _stage(layout: Layout, number: int, title: str, note: str, code: str) -> list[str]:
    row, column = divmod(number, layout.cards)
    x, y = layout.margin + column * (layout.card + layout.gap), row * CARD_ROW
    parts = [
        f'<rect x="{x}" y="{y + 56}" width="{layout.card}" height="104" rx="6" class="card rule"/>',
        label(x, y + 28, title, 19, weight=600),
        label(x, y + 48, note, 14, "soft"),
    ]
    for line_number, line in enumerate(code.splitlines()):
        parts.append(label(x + 10, y + 81 + 22 * line_number, line, layout.code, font="ui-monospace, Menlo, monospace"))
    if column:
        tip = f"M{x - (layout.gap + 14) // 2} {y + 108} h14 m-6 -5 l6 5 l-6 5"
        parts.append(f'<path d="{tip}" fill="none" class="arrow" stroke-width="2"/>')
    return parts


def _chart(layout: Layout, groups: list[tuple[str, int, float]], others: dict[str, float], machine: str) -> list[str]:
    left, right, base = layout.margin + 10, layout.right, layout.base
    highest = max(*others.values(), *(rate for _, _, rate in groups))
    scale = (base - layout.top) / highest
    steps = sum(count for _, count, _ in groups) - 1
    y = len(STAGES) // layout.cards * CARD_ROW + 36
    parts = [
        label(layout.margin, y + 20 * row, line.format(steps=steps), 16 if len(layout.title) == 1 else 14, weight=600)
        for row, line in enumerate(layout.title)
    ]
    parts.append(label(layout.margin, y + 20 * len(layout.title) + 1, machine, 14, "soft"))
    for name, rate in others.items():
        y = base - rate * scale
        parts.append(f'<path d="M{left} {y:.1f} H{right}" class="soft-line" stroke-dasharray="4 4"/>')
        parts.append(label(right + 8, y + 5, f"{rate:.0f} {name}", min(layout.text + 1, 15), "soft"))
    width = (right - left) / len(groups)
    for number, group in enumerate(groups):
        parts += _column(layout, left + number * width, width, scale, group, group[2] == max(g[2] for g in groups))
    parts.append(f'<path d="M{left} {base} H{right}" class="ink-line"/>')
    return parts


def _column(
    layout: Layout, x: float, width: float, scale: float, group: tuple[str, int, float], best: bool
) -> list[str]:
    name, count, rate = group
    base, middle, y, border = layout.base, x + width / 2, layout.base - rate * scale, width * 0.11
    color = "best" if best else "bar"
    inside = rate * scale > 40  # where no line of a peer crosses it
    ink, below = ("ink", -7) if not inside else ("paper" if best else "ink", 22)
    parts = [
        f'<rect x="{x + border:.1f}" y="{y:.1f}" width="{width - 2 * border:.1f}" height="{base - y:.1f}" rx="3" '
        f'class="{color}"><title>{escape(name)}: {rate:g} GFLOP/s</title></rect>',
        label(middle, y + below, f"{rate:.0f}", 17, ink, weight=600, anchor="middle"),
        label(middle, base + 20, name, layout.text, anchor="middle"),
    ]
    if name != GROUPS[0][0]:
        parts.append(label(middle, base + 38, f"{count} steps", min(layout.text, 13), "soft", anchor="middle"))
    return parts


def label(
    x: float, y: float, text: str, size: float, color: str = "ink", weight: int = 400, anchor: str = "start",
    font: str = "",
) -> str:  # fmt: skip
    family = f' font-family="{font}"' if font else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" class="{color}" font-weight="{weight}" '
        f'text-anchor="{anchor}"{family} xml:space="preserve">{escape(text)}</text>'
    )


if __name__ == "__main__":
    for name, layout in PICTURES.items():
        (IMAGES / name).write_text(draw(PAGE.read_text(encoding="utf-8"), layout), encoding="utf-8")
