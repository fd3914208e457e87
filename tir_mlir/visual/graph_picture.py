"""Draw a graph, one row a node with an arc for each value, and the arena of a model, each buffer at its offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tir_mlir.visual import svg
from tir_mlir.visual.svg import Picture

ROW, GAP, PAD, HEAD, ARC = 24.0, 12.0, 12.0, 28.0, 9.0
"""Height of a row, space between two, margin, height of the title, and width of an arc for each row it spans, in px."""


@dataclass(frozen=True)
class NodeRow:
    """A node: its label, a note such as the type of its result, the numbers of the rows that it reads, and whether it
    is a function (framed in color) rather than an operator."""

    label: str
    note: str
    reads: tuple[int, ...] = ()
    is_function: bool = False


def draw_graph(rows: Sequence[NodeRow], title: str) -> Picture:
    """Draw rows from the top down. The description lists the labels."""
    spans = [(read, number) for number, row in enumerate(rows) for read in dict.fromkeys(row.reads)]
    longest = max((end - start for start, end in spans if end - start > 1), default=0)
    left = PAD + (min(longest, 8) * ARC if longest else 0)
    wide = max((svg.width_of(row.label) for row in rows), default=0) + 20

    def top(number: int) -> float:
        return PAD + HEAD + number * (ROW + GAP)

    parts = [svg.text(PAD, PAD + 8, title, "tir-ink tir-strong")]
    for start, end in spans:
        middle = left + wide / 2
        if end - start == 1:
            parts.append(svg.line(middle, top(start) + ROW, middle, top(end)))
        else:
            parts.append(_arc(left, top(start) + ROW / 2, top(end) + ROW / 2, min(end - start, 8) * ARC))
    for number, row in enumerate(rows):
        y = top(number)
        parts.append(svg.rectangle(left, y, wide, ROW, "tir-block" if row.is_function else "tir-loop", 4))
        style = "tir-parallel tir-strong" if row.is_function else "tir-ink"
        parts.append(svg.text(left + 10, y + 16, row.label, style))
        parts.append(svg.text(left + wide + 10, y + 16, row.note, "tir-muted tir-small"))
    noted = max((svg.width_of(row.note, small=True) for row in rows), default=0)
    width = max(left + wide + 10 + noted, PAD + svg.width_of(title)) + PAD
    description = " -> ".join(row.label for row in rows)
    return Picture("".join(parts), width, top(len(rows)) - GAP + PAD, title, description)


def _arc(x: float, y1: float, y2: float, out: float) -> str:
    """A bracket to the left of `x` from one row to another."""
    n = svg.number
    corners = f"M{n(x)} {n(y1)}C{n(x - out)} {n(y1)} {n(x - out)} {n(y2)} {n(x)} {n(y2)}"
    return f'<path d="{corners}" fill="none" class="tir-rule"/>'


WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 420.0, 180.0, 74.0, 54.0, 34.0
"""Sides of the arena, and space on its left, above and below it, in px."""


@dataclass(frozen=True)
class ArenaBuffer:
    """A buffer: where it lies, its bytes, and the numbers of the first and the last call that use it."""

    offset: int
    size: int
    first: int
    last: int


def draw_arena(buffers: Sequence[ArenaBuffer], total: int, unshared: int, title: str) -> Picture:
    """Draw calls from left to right and bytes from the bottom up. Errors: ValueError without buffers."""
    if not buffers or total <= 0:
        raise ValueError("the model has no buffers between its calls: no arena to draw")
    calls = max(b.last for b in buffers) + 1
    column, scale = WIDTH / calls, HEIGHT / total
    summary = f"{len(buffers)} buffers in {total:,} bytes; side by side {unshared:,}"
    parts = [
        svg.text(PAD, PAD + 8, title, "tir-ink tir-strong"),
        svg.text(PAD, PAD + 25, summary, "tir-muted tir-small"),
        svg.rectangle(LEFT, TOP, WIDTH, HEIGHT, "tir-block"),
    ]
    for number, buffer in enumerate(buffers):
        y = TOP + HEIGHT - scale * (buffer.offset + buffer.size)
        wide = max(2.0, column * (buffer.last - buffer.first + 1) - 1)
        style = ("tir-read", "tir-write")[number % 2] + " tir-tile"
        parts.append(svg.rectangle(LEFT + column * buffer.first, y, wide, max(1.0, scale * buffer.size - 1), style, 1))
    bottom = TOP + HEIGHT
    parts += [
        svg.text(LEFT - 6, TOP + 10, _bytes(total), "tir-muted tir-small", "end"),
        svg.text(LEFT - 6, bottom, "0", "tir-muted tir-small", "end"),
        svg.text(LEFT, bottom + 16, "call 1", "tir-muted tir-small"),
        svg.text(LEFT + WIDTH, bottom + 16, f"call {calls}", "tir-muted tir-small", "end"),
    ]
    width = max(LEFT + WIDTH, PAD + svg.width_of(summary, small=True), PAD + svg.width_of(title)) + PAD
    return Picture("".join(parts), width, bottom + BOTTOM, title, summary)


def _bytes(count: int) -> str:
    """`512 B`, `12.0 KiB`, `1.50 MiB`."""
    for unit, size in (("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"
