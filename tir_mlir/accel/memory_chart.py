"""The memories of a machine in a program: rows by time, as text and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.visual import palette, svg
from tir_mlir.visual.svg import Picture

if TYPE_CHECKING:
    from tir_mlir.accel.operands import MemorySpace
    from tir_mlir.accel.program import MachineBuffer

WIDTH, HEIGHT, PAD, HEAD = 360.0, 200.0, 12.0, 30.0
"""Of the picture of a memory, and its margin and title, in px."""
COLUMNS = 32
"""Characters for the whole time."""


@dataclass(frozen=True)
class MemoryChart:
    """Which rows of each memory a buffer has, and between which statements of the program's text it is alive."""

    placed: PlacedProgram

    def _buffers(self, memory: MemorySpace) -> list[MachineBuffer]:
        return sorted((b for b in self.placed.rows if b.memory == memory), key=lambda b: self.placed.rows[b])

    def most_rows(self, memory: MemorySpace) -> int:
        """The rows that are in use at once at most."""
        lives = [(self.placed.lives[b], b.rows) for b in self._buffers(memory)]
        return max((sum(r for (f, e), r in lives if f <= first <= e) for (first, _), _ in lives), default=0)

    @property
    def end(self) -> int:
        """Statements in the text."""
        return 1 + max((last for _, last in self.placed.lives.values()), default=0)

    def __str__(self) -> str:
        lines: list[str] = []
        for memory in self.placed.program.machine.spaces.values():
            buffers = self._buffers(memory)
            lines.append(f"{memory.name}: {self.most_rows(memory)} of {memory.rows} rows at once")
            longest = max((len(b.name) for b in buffers), default=0)
            for buffer in buffers:
                first, last = self.placed.lives[buffer]
                start = first * COLUMNS // self.end
                length = max(1, (last + 1) * COLUMNS // self.end - start)
                bar = " " * start + "#" * length
                rows = f"{self.placed.rows[buffer]:6} .. {self.placed.rows[buffer] + buffer.rows - 1:<6}"
                lines.append(f"  {rows} {buffer.name:{longest}} |{bar:{COLUMNS}}|")
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self) -> Picture:
        """Draw the memories: rows up, time to the right."""
        program = self.placed.program
        memories = [m for m in program.machine.spaces.values() if self._buffers(m)]
        pictures = [self._draw(memory) for memory in memories]
        return svg.combine_pictures(pictures, f"memories of {program.machine.name} in {program.name}")

    def _draw(self, memory: MemorySpace) -> Picture:
        buffers = self._buffers(memory)
        top = max(self.placed.rows[b] + b.rows for b in buffers)
        title = f"{memory.name}: {self.most_rows(memory)} of {memory.rows} rows at once"
        parts = [svg.text(PAD, PAD + 8, title, "tir-ink tir-strong")]
        base = PAD + HEAD + HEIGHT
        for number, buffer in enumerate(buffers):
            row, (first, last) = self.placed.rows[buffer], self.placed.lives[buffer]
            x, width = PAD + WIDTH * first / self.end, WIDTH * (last + 1 - first) / self.end
            height = HEIGHT * buffer.rows / top
            y = base - HEIGHT * row / top - height
            box = svg.rectangle(x, y, width, height, f"{palette.series_of(number)} tir-tile")
            name = svg.text(x + 4, y + height / 2 + 4, buffer.name, "tir-ink tir-small")
            text = f"{buffer.name}: rows {row} to {row + buffer.rows - 1}, statements {first} to {last}"
            parts.append(svg.titled_group(box + name, text, {}))
        parts.append(svg.line(PAD, base, PAD + WIDTH, base))
        parts.append(
            svg.text(PAD, base + 14, f"rows 0 to {top - 1} up, statements to the right", "tir-muted tir-small")
        )
        longest = max(svg.width_of(title), *(svg.width_of(b.name, small=True) for b in buffers), WIDTH)
        return Picture("".join(parts), longest + 2 * PAD, base + 14 + PAD, title)
