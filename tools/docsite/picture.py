"""Draw `docs/images/journey.svg`: the stages of a program, and its speed after each step of a schedule.

Takes its numbers from the ladder in `docs/performance.md`. Regenerate with `python tools/docsite/picture.py`.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "journey.svg"

WIDTH, HEIGHT = 960, 470
CARD = 206  # width of one stage
BASE, TOP = 424, 250  # y of the columns' axis at 0 and at the roof
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


def draw(page: str) -> str:
    """Return the picture as SVG."""
    others, machine = peers(page)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif"'
        f' role="img" aria-label="From source to machine code">',
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" class="paper"/>',
        *(part for number, stage in enumerate(STAGES) for part in _stage(number, *stage)),
        *_columns(stages(rungs(page)), others, machine),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _stage(number: int, title: str, note: str, code: str) -> list[str]:
    x = 24 + number * (CARD + 29)
    parts = [
        f'<rect x="{x}" y="56" width="{CARD}" height="104" rx="6" class="card rule"/>',
        label(x, 28, title, 19, weight=600),
        label(x, 48, note, 14, "soft"),
    ]
    for row, line in enumerate(code.splitlines()):
        parts.append(label(x + 10, 81 + 22 * row, line, 11.5, font="ui-monospace, Menlo, monospace"))
    if number:
        parts.append(f'<path d="M{x - 24} 108 h14 m-6 -5 l6 5 l-6 5" fill="none" class="arrow" stroke-width="2"/>')
    return parts


def _columns(groups: list[tuple[str, int, float]], others: dict[str, float], machine: str) -> list[str]:
    left, right = 34, 846
    width = (right - left) / len(groups)
    highest = max(*others.values(), *(rate for _, _, rate in groups))

    def height(rate: float) -> float:
        return (BASE - TOP) * rate / highest

    steps = sum(count for _, count, _ in groups) - 1
    title = f"A @ B.T, 1024 x 1024 x 1024, float32, one thread: GFLOP/s along the {steps} steps of the schedule"
    parts = [label(24, 200, title, 16, weight=600), label(24, 221, machine, 14, "soft")]
    for name, rate in others.items():
        y = BASE - height(rate)
        parts.append(f'<path d="M{left} {y:.1f} H{right}" class="soft-line" stroke-dasharray="4 4"/>')
        parts.append(label(right + 8, y + 5, f"{rate:.0f} {name}", 15, "soft"))
    best = max(rate for _, _, rate in groups)
    for number, (name, count, rate) in enumerate(groups):
        x, y = left + number * width, BASE - height(rate)
        color = "best" if rate == best else "bar"
        parts.append(
            f'<rect x="{x + 18:.1f}" y="{y:.1f}" width="{width - 36:.1f}" height="{BASE - y:.1f}" rx="3" '
            f'class="{color}">'
            f"<title>{escape(name)}: {rate:g} GFLOP/s</title></rect>"
        )
        inside = height(rate) > 40  # where no line of a peer crosses it
        on = ("ink", -7) if not inside else ("paper" if rate == best else "ink", 22)
        parts.append(label(x + width / 2, y + on[1], f"{rate:.0f}", 17, on[0], weight=600, anchor="middle"))
        parts.append(label(x + width / 2, BASE + 20, name, 15, anchor="middle"))
        if number:
            parts.append(label(x + width / 2, BASE + 38, f"{count} steps", 13, "soft", anchor="middle"))
    parts.append(f'<path d="M{left} {BASE} H{right}" class="ink-line"/>')
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
    PICTURE.write_text(draw(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
