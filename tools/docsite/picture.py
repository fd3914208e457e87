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

WIDTH, HEIGHT = 960, 456
CARD = 206  # width of one stage
BASE, TOP = 420, 250  # y of the columns' axis at 0 and at the roof
INK, SOFT, ACCENT, PALE, LINE = "#1f2430", "#6b7280", "#3f51b5", "#c5cae9", "#d1d5db"

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
        """sch.split(j, [None, 64, 16])
sch.compute_at(packed, k_0)
sch.unroll(i_2)
sch.vectorize(j_2)""",
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
        """vfmadd231ps %ymm12, ...
vfmadd231ps %ymm14, ...
vfmadd231ps %ymm13, ...
vfmadd231ps %ymm15, ...""",
    ),
)
NOTED = {"as written": "as written", "vectorize(loop=j_2)": "vectorize", "annotate": "prefetch", "cache_read": "pack"}


def rungs(page: str) -> list[tuple[str, float]]:
    """Return the steps of the ladder with their GFLOP/s. Errors: ValueError if the page has no ladder."""
    start = page.find("| Step | GFLOP/s |")
    if start < 0:
        raise ValueError(f"{PAGE}: no table with the columns Step and GFLOP/s")
    return [(step, float(rate)) for step, rate in re.findall(r"^\| `(.+)` \| ([\d.]+) \|$", page[start:], re.M)]


def peers(page: str) -> dict[str, float]:
    """Return the rates of NumPy and of the roof for the same product on one thread."""
    row = next(line for line in page.splitlines() if line.startswith("| A @ B.T | 1024 x 1024 x 1024 | 1 |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    return {"NumPy": float(cells[4]), "peak": float(cells[8])}


def draw(page: str) -> str:
    """Return the picture as SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif"'
        f' role="img" aria-label="From source to machine code">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#ffffff"/>',
        *(part for number, stage in enumerate(STAGES) for part in _stage(number, *stage)),
        *_columns(rungs(page), peers(page)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _stage(number: int, title: str, note: str, code: str) -> list[str]:
    x = 24 + number * (CARD + 29)
    parts = [
        f'<rect x="{x}" y="52" width="{CARD}" height="104" rx="6" fill="#f8f9fc" stroke="{LINE}"/>',
        _text(x, 28, title, 17, INK, weight=600),
        _text(x, 44, note, 12, SOFT),
    ]
    for row, line in enumerate(code.splitlines()):
        parts.append(_text(x + 10, 77 + 22 * row, line, 11.5, INK, font="ui-monospace, Menlo, monospace"))
    if number:
        parts.append(f'<path d="M{x - 24} 104 h14 m-6 -5 l6 5 l-6 5" fill="none" stroke="{ACCENT}" stroke-width="2"/>')
    return parts


def _columns(steps: list[tuple[str, float]], others: dict[str, float]) -> list[str]:
    left, right = 34, 866
    roof = others["peak"]
    width = (right - left) / len(steps)

    def height(rate: float) -> float:
        return (BASE - TOP) * rate / roof

    title = "1024 x 1024 x 1024, float32, one thread of an AMD EPYC 7003: GFLOP/s after each step of the schedule"
    parts = [_text(24, 196, title, 13, INK, weight=600)]
    for name, rate in others.items():
        y = BASE - height(rate)
        parts.append(f'<path d="M{left} {y:.1f} H{right}" stroke="{SOFT}" stroke-dasharray="4 4"/>')
        parts.append(_text(right + 8, y + 4, f"{rate:g} {name}", 12, SOFT))
    for number, (step, rate) in enumerate(steps):
        x, y = left + number * width, BASE - height(rate)
        fill = ACCENT if rate > others["NumPy"] else "#7986cb" if rate > 50 else PALE
        parts.append(
            f'<rect x="{x + 2:.1f}" y="{y:.1f}" width="{width - 4:.1f}" height="{BASE - y:.1f}" rx="2" fill="{fill}">'
            f"<title>{escape(step)}: {rate:g} GFLOP/s</title></rect>"
        )
        parts.append(_text(x + width / 2, y - 6, f"{rate:.0f}", 10.5, INK, anchor="middle"))
    parts.append(f'<path d="M{left} {BASE} H{right}" stroke="{INK}"/>')
    valley = left + 14 * width
    note = "tiles and packed copies are put in place for the last steps"
    parts.append(_text(valley, BASE - 30, note, 12, SOFT, anchor="middle"))
    for number, (step, _) in enumerate(steps):
        name = next((short for start, short in NOTED.items() if step.startswith(start)), "")
        if name and not any(s.startswith(step.split("(")[0] + "(") and name == "pack" for s, _ in steps[:number]):
            x = left + (number + 0.5) * width
            parts.append(f'<path d="M{x:.1f} {BASE + 2} v6" stroke="{SOFT}"/>')
            parts.append(_text(x, BASE + 22, name, 12, INK, anchor="middle"))
    return parts


def _text(
    x: float, y: float, text: str, size: float, fill: str, weight: int = 400, anchor: str = "start", font: str = ""
) -> str:
    family = f' font-family="{font}"' if font else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" font-weight="{weight}" text-anchor="{anchor}"'
        f'{family} xml:space="preserve">{escape(text)}</text>'
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
