"""Stages that write part of a buffer: strided bindings, guards, partial loops, single elements."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fuzzing.programs.making import Held, Made, Making

HOLDS = {"<": operator.lt, "==": operator.eq, ">=": operator.ge}


@dataclass(frozen=True)
class Part:
    """Some rows: `i * stride + start` for i in [0, extent) where the guard (comparison, number) holds."""

    extent: int | str
    stride: int = 1
    start: int = 0
    guard: tuple[str, int] | None = None

    def binding(self, loop: str) -> str:
        return loop if self.stride == 1 else f"{loop} * {self.stride} + {self.start}"

    def guards(self, loop: str) -> list[str]:
        return [f"{loop} {self.guard[0]} {self.guard[1]}"] if self.guard else []

    def rows(self, size: int) -> list[int]:
        """Return the selected rows of `size`."""
        extent = self.extent if isinstance(self.extent, int) else size
        taken = [i for i in range(extent) if self.guard is None or HOLDS[self.guard[0]](i, self.guard[1])]
        return [i * self.stride + self.start for i in taken]


class PartialStages(Making):
    """Stages that cover only part of their domain. Other elements keep the caller's or an earlier stage's values."""

    def spared(self) -> None:
        """Overwrite some rows, by a map or a sum."""
        a = self.source(self.random.choice([1, 2]))
        size = a.shape[0]
        summed = len(a.shape) == 2 and self.often(0.4)
        kept = self._kept(a.shape[:1] if summed else a.shape, a)
        part = self._part(size)
        i, j, at = f"i{self.count}", f"j{self.count}", f"{kept.name}[vi]"
        depth = self._line(1, f"for {i} in range({part.extent}):")
        axes = [("vi", "S", size, part.binding(i))]
        own = self.often(0.3)
        value, init = f"{a.name}[vi] + {at if own else self.number(1, a)}", []
        if len(a.shape) == 2:
            depth = self._line(depth, f"for {j} in range({a.shape[1]}):")
            axes.append(("vj", "R" if summed else "S", a.shape[1], j))
            at = at if summed else f"{kept.name}[vi, vj]"
            value = f"{at if summed or own else self.number(1, a)} + {a.name}[vi, vj]"
            init = [f"{at} = {self.number(2, a)}"] if summed else []
        name = f"{kept.name}_p{self.count}"
        self.block(depth, name, axes, [f"{at} = {value}"], init, part.guards(i))

        def step(held: Held) -> None:
            x, old = held[a.name], held[kept.name]
            new = x.sum(axis=1) + 2 if summed else x + (old if own else 1)
            held[kept.name] = old.copy()
            taken = part.rows(len(x))
            held[kept.name][taken] = new[taken]

        self._written(kept, step)

    def lower(self) -> None:
        """Overwrite the elements up to the diagonal, by a guard or a triangular loop."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int) or n > m:
            return
        kept = self._kept(a.shape, a)
        i, j = f"i{self.count}", f"j{self.count}"
        guarded = self.often(0.5)
        self._line(1, f"for {i} in range({n}):")
        self._line(2, f"for {j} in range({m if guarded else i + ' + 1'}):")
        axes = [("vi", "S", n, i), ("vj", "S", m, j)]
        body = [f"{kept.name}[vi, vj] = {a.name}[vi, vj] + {self.number(1, a)}"]
        self.block(3, f"{kept.name}_l{self.count}", axes, body, [], [f"{j} <= {i}"] if guarded else [])

        def step(held: Held) -> None:
            x = held[a.name]
            held[kept.name] = np.where(np.tril(np.ones_like(x)) > 0, x + 1, held[kept.name])

        self._written(kept, step)

    def evens(self) -> None:
        """Fill one buffer by two blocks, each with stride two."""
        a = self.source(1)
        size = a.shape[0]
        if not isinstance(size, int) or size < 4:  # a single iteration has no stride
            return
        made = self.target((size,), a)
        for first, name in enumerate(("even", "odd")):
            i = f"i{self.count}_{first}"
            depth = self._line(1, f"for {i} in range({(size - first + 1) // 2}):")
            binding = f"{i} * 2" + (" + 1" if first else "")
            body = [f"{made.name}[vi] = {a.name}[vi] + {self.number(first, a)}"]
            self.block(depth, f"{made.name}_{name}", [("vi", "S", size, binding)], body)
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name] + np.arange(size) % 2))

    def picked(self) -> None:
        """Copy a few isolated elements or rows."""
        a = self.source(self.random.choice([1, 2]))
        size = a.shape[0]
        if not isinstance(size, int):
            return
        start, stride, count = self.random.randrange(size), self.random.choice([1, 2, 3]), self.random.choice([1, 1, 2])
        count = min(count, (size - 1 - start) // stride + 1)
        made = self.target((count, *a.shape[1:]), a)
        row = f"vi * {stride} + {start}" if self.often(0.5) or count > 1 else f"{start}"
        rest = ", vj" if len(a.shape) == 2 else ""
        axes = [(v, "S", s) for v, s in zip(("vi", "vj"), made.shape, strict=False)]
        self.nest(made.name, axes, [f"{made.name}[vi{rest}] = {a.name}[{row}{rest}]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name][start::stride][:count]))

    def _kept(self, shape: tuple[int | str, ...], like: Made) -> Made:
        """Return a partially written buffer: an existing one that this stage does not read, or a new parameter."""
        self.count += 1
        there = [b for b in self.buffers if b is not like and (b.shape, b.dtype) == (shape, like.dtype)]
        if there and self.often(0.4):
            return self.random.choice(there)
        made = Made(f"P{len(self.params)}", shape, True, like.dtype)
        self.params.append(made)
        return made

    def _written(self, kept: Made, step: Callable[[Held], None]) -> None:
        self.steps.append(step)
        if kept not in self.buffers:
            self.buffers.append(kept)

    def _part(self, size: int | str) -> Part:
        if not isinstance(size, int) or size < 6 or self.often(0.4):  # a single iteration has no stride
            most = size if isinstance(size, int) else 4
            guards = (("<", self.random.randint(1, most)), ("==", self.random.randrange(most)))
            return Part(size, guard=self.random.choice((*guards, (">=", self.random.randrange(most)))))
        stride = self.random.choice([2, 2, 3])
        start = self.random.randrange(stride)
        count = (size - 1 - start) // stride + 1
        guard = ("<", self.random.randint(1, count)) if self.often(0.3) else None
        return Part(count, stride, start, guard)
