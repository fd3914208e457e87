"""Base of the program generators: buffers, loop nests around a block, and the NumPy reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9)
LONG = (1, 15, 16, 17, 32, 127)
MOST = 1 << 11
"""Maximum elements of a buffer, and multiplications of a product."""

LARGEST = 127
"""Maximum value of a size variable."""

Held = dict[str, np.ndarray]
Axis = tuple[str, str, int | str]
"""An iter, its kind (S, R, O), its extent."""


class Unfit(Exception):
    """A stage that its type cannot compute, because it has negative numbers."""


@dataclass
class Made:
    """A buffer: its shape (`n`: the size variable), whether it is a parameter, its values if it is an input.

    `inner`: never a result, because more than one block fills it. `full`: has values up to the largest of its type.
    `table`: indices, bounds or masks, which nothing writes; `ascending`: sorted. Values are `origin` plus multiples of
    `unit`.
    """

    name: str
    shape: tuple[int | str, ...]
    param: bool = False
    dtype: str = "float32"
    span: tuple[int, int] = (-3, 4)
    inner: bool = False
    full: bool = False
    table: bool = False
    ascending: bool = False
    unit: float = 1
    origin: int = 0


@dataclass
class Making:
    """Builds one program; every choice is drawn from `random`, so that a tape can shrink it."""

    random: Random
    dtype: str = "float32"
    symbolic: bool = False
    buffers: list[Made] = field(default_factory=list)
    params: list[Made] = field(default_factory=list)
    allocs: list[Made] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    steps: list[Callable[[Held], None]] = field(default_factory=list)
    count: int = 0

    def often(self, odds: float) -> bool:
        return self.random.random() < odds

    # --- buffers ------------------------------------------------------------------------------------------------------

    def size(self, others: int = 1) -> int:
        """Return an extent for a buffer whose other dimensions have `others` elements."""
        found = self.random.choice(LONG) if self.often(0.15) else self.random.choice(SIZES)
        return found if found * others <= MOST else self.random.choice(SIZES)

    def given(self, shape: tuple[int | str, ...], like: Made) -> Made:
        """Return an input buffer of this shape: an existing one, or a new parameter."""
        there = [b for b in self.buffers if b.shape == shape and b.dtype == like.dtype]
        if there and self.often(0.8):
            return self.random.choice(there)
        return self.param(shape, like.dtype)

    def param(self, shape: tuple[int | str, ...], dtype: str = "") -> Made:
        made = Made(f"P{len(self.params)}", shape, True, dtype or self.dtype)
        self.params.append(made)
        self.buffers.append(made)
        return made

    def source(self, rank: int) -> Made:
        """Return an existing buffer of this rank, preferring recent ones."""
        there = [b for b in self.buffers if len(b.shape) == rank]
        if there and self.often(0.85):
            return there[-1] if self.often(0.7) else self.random.choice(there)
        shape: list[int | str] = ["n" if self.symbolic and self.often(0.6) else self.size()]
        for _ in range(rank - 1):
            shape.append(self.size(math.prod(LARGEST if isinstance(s, str) else s for s in shape)))
        return self.param(tuple(shape))

    def table(self, shape: tuple[int | str, ...], size: int, ascending: bool = False) -> Made:
        """Return a parameter of integers below `size`, which nothing writes."""
        made = Made(f"P{len(self.params)}", shape, True, "int32", (0, size), table=True, ascending=ascending)
        self.params.append(made)
        return made

    def target(self, shape: tuple[int | str, ...], like: Made, dtype: str = "") -> Made:
        self.count += 1
        made = Made(f"T{self.count}", shape, dtype=dtype or like.dtype)
        self.allocs.append(made)
        return made

    # --- text ---------------------------------------------------------------------------------------------------------

    def nest(
        self, name: str, axes: Sequence[Axis], body: Sequence[str], init: Sequence[str] = (), free: bool = True
    ) -> None:
        """Emit loops around a block; axes are (iter, kind, extent). If `free`, loops are in random order, some
        tiled."""
        order = list(axes)
        if free and self.often(0.3):
            self.random.shuffle(order)
        depth, guards, bound = 1, [], {}
        for iter_, kind, extent in order:
            loop = f"{iter_[1:]}{self.count}"
            if free and isinstance(extent, int) and extent > 2 and self.often(0.12):
                tile = self.random.choice([2, 3, 4])
                depth = self._line(depth, f"for {loop}_0, {loop}_1 in T.grid({-(-extent // tile)}, {tile}):")
                bound[iter_] = f"{loop}_0 * {tile} + {loop}_1"
                if extent % tile:
                    guards.append(f"{bound[iter_]} < {extent}")
            else:
                depth = self._line(depth, f"for {loop} in {self._range(kind, extent, free)}:")
                bound[iter_] = loop
        self.block(depth, name, [(*a, bound[a[0]]) for a in axes], body, init, guards)

    def _range(self, kind: str, extent: int | str, free: bool) -> str:
        """Return the loop header; occasionally unrolled, annotated or otherwise special."""
        if not free or self.often(0.93):
            return f"range({extent})"
        words = [f"T.unroll({extent})", f'T.serial({extent}, annotations={{"k": 1}})']
        if kind == "S":
            words += [f"T.parallel({extent})", f'T.thread_binding({extent}, thread="blockIdx.x")']
            words += [f"T.vectorized({extent})"] if isinstance(extent, int) else []
        return self.random.choice(words)

    def block(
        self,
        depth: int,
        name: str,
        axes: Sequence[tuple[str, str, int | str, str]],
        body: Sequence[str],
        init: Sequence[str] = (),
        guards: Sequence[str] = (),
    ) -> None:
        """Emit a block; its axes are (iter, kind, extent, binding)."""
        depth = self._line(depth, f'with T.block("{name}"):')
        for iter_, kind, extent, binding in axes:
            word = {"S": "spatial", "R": "reduce", "O": "opaque"}[kind]
            self._line(depth, f"{iter_} = T.axis.{word}({extent}, {binding})")
        if guards:
            self._line(depth, f"T.where({' and '.join(guards)})")
        if init:
            self._line(depth, "with T.init():")
            for line in init:
                self._line(depth + 1, line)
        for line in body:
            self._line(depth, line)

    def _line(self, depth: int, text: str) -> int:
        self.lines.append("    " * depth + text)
        return depth + 1

    def number(self, value: int, like: Made) -> str:
        if value < 0 and like.dtype.startswith("uint"):
            raise Unfit(value)
        return f"T.{like.dtype}({value})"

    def done(self, made: Made, step: Callable[[Held], None]) -> None:
        self.buffers.append(made)
        self.steps.append(step)
