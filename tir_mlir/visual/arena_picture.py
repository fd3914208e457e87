"""Draw the arena of a model: each buffer from its first to its last call, at its offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tir_mlir.visual import svg
from tir_mlir.visual.svg import Picture

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, PAD = 420.0, 180.0, 74.0, 54.0, 34.0, 12.0
"""Sides of the arena, space on its left, above and below it, and the margin, in px."""


@dataclass(frozen=True)
class ArenaBuffer:
    """A buffer: where it lies, its bytes, and the numbers of the first and the last call that use it."""

    offset: int
    size: int
    first: int
    last: int


def draw(buffers: Sequence[ArenaBuffer], total: int, unshared: int, title: str) -> Picture:
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
