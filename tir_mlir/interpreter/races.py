"""Race detection between iterations of concurrent loops."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import RaceError
from tir_mlir.interpreter.arena_memory import TypedMemory
from tir_mlir.interpreter.memory import Memory


class Watch:
    """The accesses of the active concurrent loops: {(memory, offset): [iteration, written, reduction]} per loop."""

    def __init__(self) -> None:
        self.frames: list[tuple[str, tuple[int, ...], str, dict[Any, list[Any]]]] = []
        self.now: list[Any] = []

    def enter(self, name: str, private: tuple[Any, ...], together: str) -> None:
        """Enter a loop. `private`: buffers used only inside it; an iteration that writes an element first may use it.
        `together`: "threads" of one block, or "lanes", may reduce into one element; lanes also into a reduction
        initialized outside (a negative number: see `memory_ops.reduction`)."""
        self.frames.append((name, tuple([view.memory.number for view in private]), together, {}))
        self.now.append(-1)

    def leave(self) -> None:
        self.frames.pop()
        self.now.pop()

    def touch(self, memory: Memory, offset: int, write: bool, reduction: int) -> None:
        """Record an access. Raises RaceError on a conflict with another iteration."""
        if isinstance(memory, TypedMemory):
            for byte in range(memory.start + offset * memory.width, memory.start + (offset + 1) * memory.width):
                self.touch(memory.arena, byte, write, reduction)
            return
        number = memory.number
        for (name, private, together, seen), iteration in zip(self.frames, self.now, strict=True):
            entry = seen.get((number, offset))
            if entry is None:
                seen[number, offset] = [iteration, write, reduction]
            elif entry[0] == iteration:
                entry[1] = entry[1] or write
                entry[2] = entry[2] if entry[2] == reduction else 0
            elif together and entry[2] == reduction and (reduction > 0 or (reduction and together == "lanes")):
                entry[0], entry[1] = iteration, entry[1] or write
            elif not write and not entry[1]:
                entry[0] = None  # read in several iterations
            elif number in private and write:
                seen[number, offset] = [iteration, True, reduction]
            else:
                raise IterationConflict(memory, offset, write, name, iteration, entry[0])


class IterationConflict(RaceError):
    """A conflict between two iterations; gets its message once the location is known."""

    def __init__(self, memory: Memory, offset: int, write: bool, loop: str, iteration: Any, earlier: Any):
        self.at = offset
        self.what = ("written" if write else "read", loop, iteration, earlier)
        super().__init__("", memory.name)
        self.reason = self.text(f"{memory.name}[{offset}]")

    def text(self, element: str) -> str:
        verb, loop, step, earlier = self.what
        touched = "several" if earlier is None else f"iteration {earlier}"
        return f"{element} is {verb} in iteration {step} of the concurrent loop {loop}, and accessed in {touched} of it"
