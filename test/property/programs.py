"""Random tensor programs as TVMScript text: chains of stages over small buffers, every one with its NumPy meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import numpy as np

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9)
LONG = (1, 15, 16, 17)


@dataclass
class Made:
    """A buffer that earlier stages filled: its shape (`n`: the size variable) and whether it is a parameter."""

    name: str
    shape: tuple[int | str, ...]
    param: bool = False


@dataclass
class Sample:
    """A program: its text, the parameters in order, and what it leaves in them by NumPy; `size` is the value of `n`."""

    text: str
    params: list[Made]
    dtype: str
    size: int
    meaning: Callable[[dict[str, np.ndarray]], None]

    def arrays(self, seed: int = 0) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        shapes = [[self.size if s == "n" else s for s in p.shape] for p in self.params]
        return [rng.integers(-3, 4, shape).astype(self.dtype) for shape in shapes]

    def expected(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        exact = np.float64 if self.dtype[0] == "f" else np.int64
        held = {p.name: a.astype(exact) for p, a in zip(self.params, arrays, strict=True)}
        self.meaning(held)
        return [held[p.name] for p in self.params]


@dataclass
class Maker:
    """Builds one program; every choice comes from `random`, so that hypothesis can make them smaller."""

    random: Random
    dtype: str = "float32"
    symbolic: bool = False
    buffers: list[Made] = field(default_factory=list)
    params: list[Made] = field(default_factory=list)
    allocs: list[Made] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    steps: list[Callable[[dict[str, np.ndarray]], None]] = field(default_factory=list)
    count: int = 0

    # --- buffers ------------------------------------------------------------------------------------------------------

    def size(self) -> int:
        return self.random.choice(LONG) if self.random.random() < 0.15 else self.random.choice(SIZES)

    def given(self, shape: tuple[int | str, ...]) -> Made:
        """A buffer of a shape to read: one that is there, or a new parameter."""
        there = [b for b in self.buffers if b.shape == shape]
        if there and self.random.random() < 0.8:
            return self.random.choice(there)
        return self.param(shape)

    def param(self, shape: tuple[int | str, ...]) -> Made:
        made = Made(f"P{len(self.params)}", shape, True)
        self.params.append(made)
        self.buffers.append(made)
        return made

    def source(self, rank: int) -> Made:
        """A buffer of a rank to read, the newest first."""
        there = [b for b in self.buffers if len(b.shape) == rank]
        if there and self.random.random() < 0.85:
            return there[-1] if self.random.random() < 0.7 else self.random.choice(there)
        first: int | str = "n" if self.symbolic and self.random.random() < 0.6 else self.size()
        return self.param((first, *[self.size() for _ in range(rank - 1)]))

    def target(self, shape: tuple[int | str, ...]) -> Made:
        self.count += 1
        made = Made(f"T{self.count}", shape)
        self.allocs.append(made)
        return made

    # --- text ---------------------------------------------------------------------------------------------------------

    def nest(
        self,
        name: str,
        axes: list[tuple[str, str, int | str]],
        body: list[str],
        init: list[str] | None = None,
        free: bool = True,
    ) -> None:
        """Loops around a block; axes are (iter, kind, extent). When `free` they come in any order, some tiled."""
        order = list(axes)
        if free and self.random.random() < 0.3:
            self.random.shuffle(order)
        depth, guards, bound = 1, [], {}
        for iter_, _, extent in order:
            loop = f"{iter_[1:]}{self.count}"
            if free and isinstance(extent, int) and extent > 2 and self.random.random() < 0.12:
                tile = self.random.choice([2, 3, 4])
                depth = self._line(depth, f"for {loop}_0, {loop}_1 in T.grid({-(-extent // tile)}, {tile}):")
                bound[iter_] = f"{loop}_0 * {tile} + {loop}_1"
                if extent % tile:
                    guards.append(f"{bound[iter_]} < {extent}")
            else:
                depth = self._line(depth, f"for {loop} in range({extent}):")
                bound[iter_] = loop
        depth = self._line(depth, f'with T.block("{name}"):')
        for iter_, kind, extent in axes:
            word = {"S": "spatial", "R": "reduce", "O": "opaque"}[kind]
            self._line(depth, f"{iter_} = T.axis.{word}({extent}, {bound[iter_]})")
        if guards:
            self._line(depth, f"T.where({' and '.join(guards)})")
        if init is not None:
            self._line(depth, "with T.init():")
            for line in init:
                self._line(depth + 1, line)
        for line in body:
            self._line(depth, line)

    def _line(self, depth: int, text: str) -> int:
        self.lines.append("    " * depth + text)
        return depth + 1

    def number(self, value: int) -> str:
        return f"T.{self.dtype}({value})"

    def done(self, made: Made, step: Callable[[dict[str, np.ndarray]], None]) -> None:
        self.buffers.append(made)
        self.steps.append(step)

    # --- stages -------------------------------------------------------------------------------------------------------

    def elementwise(self) -> None:
        rank = self.random.choice([1, 2, 2, 2])
        a = self.source(rank)
        b = self.given(a.shape) if self.random.random() < 0.4 else None
        made = self.target(a.shape)
        names = ["vi", "vj"][:rank]
        at = ", ".join(names)
        op = self.random.choice("+-*") if b else "+"
        other = f"{b.name}[{at}]" if b else self.number(self.random.choice([1, 2]))
        axes = [(n, "S", s) for n, s in zip(names, a.shape, strict=True)]
        if op == "*" and b:
            self.nest(made.name, axes, [f"{made.name}[{at}] = T.max({a.name}[{at}], {other})"])
        else:
            self.nest(made.name, axes, [f"{made.name}[{at}] = {a.name}[{at}] {op} {other}"])

        def step(held: dict[str, np.ndarray]) -> None:
            right = held[b.name] if b else int(other.split("(")[1][:-1])
            left = held[a.name]
            held[made.name] = {"+": np.add, "-": np.subtract, "*": np.maximum}[op](left, right)

        self.done(made, step)

    def transpose(self) -> None:
        a = self.source(2)
        made = self.target(a.shape[::-1])
        axes = [("vi", "S", made.shape[0]), ("vj", "S", made.shape[1])]
        self.nest(made.name, axes, [f"{made.name}[vi, vj] = {a.name}[vj, vi]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name].T))

    def flip(self) -> None:
        a = self.source(1)
        size = a.shape[0]
        made = self.target(a.shape)
        self.nest(made.name, [("vi", "S", size)], [f"{made.name}[vi] = {a.name}[{size} - 1 - vi]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name][::-1]))

    def stride(self) -> None:
        a = self.source(1)
        if not isinstance(a.shape[0], int) or a.shape[0] < 2:
            return
        made = self.target((a.shape[0] // 2,))
        self.nest(made.name, [("vi", "S", made.shape[0])], [f"{made.name}[vi] = {a.name}[vi * 2 + 1]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name][1::2]))

    def stencil(self) -> None:
        """Reads neighbours along the last axis, of a buffer that is larger by the reach."""
        rank = self.random.choice([1, 2])
        a = self.source(rank)
        size, reach = a.shape[-1], self.random.choice([1, 2])
        if not isinstance(size, int) or size <= reach:
            return
        made = self.target((*a.shape[:-1], size - reach))
        names = ["vi", "vj"][-rank:]
        lead = "vi, " if rank == 2 else ""
        terms = [f"{a.name}[{lead}vj + {d}]" for d in range(reach + 1)]
        axes = [(n, "S", s) for n, s in zip(names, made.shape, strict=True)]
        self.nest(made.name, axes, [f"{made.name}[{', '.join(names)}] = {' + '.join(terms)}"])

        def step(held: dict[str, np.ndarray]) -> None:
            held[made.name] = sum(held[a.name][..., d : d + size - reach] for d in range(reach + 1))  # type: ignore[operator]

        self.done(made, step)

    def padded(self) -> None:
        """A stencil on the padded input: what lies outside counts as 0."""
        a = self.source(2)
        size = a.shape[1]
        made = self.target(a.shape)
        zero = self.number(0)
        left = f"T.if_then_else(vj >= 1, {a.name}[vi, vj - 1], {zero})"
        right = f"T.if_then_else(vj < {size} - 1, {a.name}[vi, vj + 1], {zero})"
        self.nest(
            made.name,
            [("vi", "S", a.shape[0]), ("vj", "S", size)],
            [f"{made.name}[vi, vj] = {left} + {a.name}[vi, vj] + {right}"],
        )

        def step(held: dict[str, np.ndarray]) -> None:
            x = held[a.name]
            wide = np.pad(x, ((0, 0), (1, 1)))
            held[made.name] = wide[:, :-2] + x + wide[:, 2:]

        self.done(made, step)

    def reduce(self) -> None:
        """Sum or maximum over one axis, sum over both, or a running product that depends on the order."""
        a = self.source(2)
        n, m = a.shape
        how = self.random.choice(["sum", "sum", "max", "both", "first", "horner"])
        name = f"T{self.count + 1}"
        if how == "both":
            made = self.target((1,))
            axes = [("vo", "S", 1), ("vi", "R", n), ("vk", "R", m)]
            at, element = f"{name}[vo]", f"{a.name}[vi, vk]"
        elif how == "first":
            made = self.target((m,))
            axes = [("vj", "S", m), ("vk", "R", n)]
            at, element = f"{name}[vj]", f"{a.name}[vk, vj]"
        else:
            made = self.target((n,))
            axes = [("vi", "S", n), ("vk", "R", m)]
            at, element = f"{name}[vi]", f"{a.name}[vi, vk]"
        if how == "max":
            body, start = f"{at} = T.max({at}, {element})", self.number(-5)
        elif how == "horner":
            body, start = f"{at} = {self.number(3)} - {at} + {element}", self.number(1)
        else:
            body, start = f"{at} = {at} + {element}", self.number(0)
        self.nest(made.name, axes, [body], [f"{at} = {start}"], free=how != "horner")

        def step(held: dict[str, np.ndarray]) -> None:
            x = held[a.name]
            if how == "max":
                held[name] = np.maximum(x.max(axis=1, initial=-5), -5)
            elif how == "horner":
                total = np.ones(x.shape[0], x.dtype)
                for k in range(x.shape[1]):
                    total = 3 - total + x[:, k]
                held[name] = total
            else:
                held[name] = x.sum(axis=0) if how == "first" else x.sum().reshape(1) if how == "both" else x.sum(axis=1)

        self.done(made, step)

    def matmul(self) -> None:
        a = self.source(2)
        n, k = a.shape
        turned = self.random.random() < 0.5
        if not isinstance(k, int):
            return
        m = self.random.choice(SIZES)
        b = self.given((m, k) if turned else (k, m))
        made = self.target((n, m))
        element = f"{b.name}[vj, vk]" if turned else f"{b.name}[vk, vj]"
        at = f"{made.name}[vi, vj]"
        axes = [("vi", "S", n), ("vj", "S", m), ("vk", "R", k)]
        self.nest(made.name, axes, [f"{at} = {at} + {a.name}[vi, vk] * {element}"], [f"{at} = {self.number(0)}"])

        def step(held: dict[str, np.ndarray]) -> None:
            held[made.name] = held[a.name] @ (held[b.name].T if turned else held[b.name])

        self.done(made, step)

    def conv(self) -> None:
        a = self.source(1)
        size, taps = a.shape[0], self.random.choice([2, 3])
        if not isinstance(size, int) or size < taps:
            return
        w = self.given((taps,))
        made = self.target((size - taps + 1,))
        at = f"{made.name}[vi]"
        axes = [("vi", "S", made.shape[0]), ("vr", "R", taps)]
        self.nest(made.name, axes, [f"{at} = {at} + {a.name}[vi + vr] * {w.name}[vr]"], [f"{at} = {self.number(0)}"])

        def step(held: dict[str, np.ndarray]) -> None:
            x, f = held[a.name], held[w.name]
            held[made.name] = sum(x[r : r + len(x) - taps + 1] * f[r] for r in range(taps))  # type: ignore[operator]

        self.done(made, step)

    def broadcast(self) -> None:
        a = self.source(2)
        along = self.random.choice([0, 1])
        b = self.given((a.shape[along],))
        made = self.target(a.shape)
        index = ("vi", "vj")[along]
        axes = [("vi", "S", a.shape[0]), ("vj", "S", a.shape[1])]
        self.nest(made.name, axes, [f"{made.name}[vi, vj] = {a.name}[vi, vj] + {b.name}[{index}]"])

        def step(held: dict[str, np.ndarray]) -> None:
            held[made.name] = held[a.name] + (held[b.name][:, None] if along == 0 else held[b.name][None, :])

        self.done(made, step)

    def flatten(self) -> None:
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int) or n * m > 40:
            return
        made = self.target((n * m,))
        self.nest(made.name, [("vi", "S", n * m)], [f"{made.name}[vi] = {a.name}[vi // {m}, vi % {m}]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name].reshape(-1)))

    def fold(self) -> None:
        a = self.source(1)
        size = a.shape[0]
        wide = self.random.choice([2, 3, 4])
        if not isinstance(size, int) or size % wide:
            return
        made = self.target((size // wide, wide))
        axes = [("vi", "S", size // wide), ("vj", "S", wide)]
        self.nest(made.name, axes, [f"{made.name}[vi, vj] = {a.name}[vi * {wide} + vj]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name].reshape(-1, wide)))

    def update(self) -> None:
        """A second block that changes a buffer in place."""
        there = [b for b in self.buffers if b.shape and all(isinstance(s, int) for s in b.shape)]
        if not there:
            return
        a = self.random.choice(there)
        names = ["vi", "vj"][: len(a.shape)]
        at = ", ".join(names)
        self.count += 1
        axes = [(n, "S", s) for n, s in zip(names, a.shape, strict=True)]
        self.nest(f"{a.name}_u{self.count}", axes, [f"{a.name}[{at}] = {a.name}[{at}] + {self.number(1)}"])
        self.steps.append(lambda held: held.__setitem__(a.name, held[a.name] + 1))

    def overwrite(self) -> None:
        """Another buffer's values replace those of a buffer that others have read."""
        there = [(a, b) for a in self.buffers for b in self.buffers if a != b and a.shape == b.shape]
        if not there:
            return
        a, b = self.random.choice(there)
        names = ["vi", "vj"][: len(a.shape)]
        at = ", ".join(names)
        self.count += 1
        axes = [(n, "S", s) for n, s in zip(names, a.shape, strict=True)]
        self.nest(f"{a.name}_o{self.count}", axes, [f"{a.name}[{at}] = {b.name}[{at}] - {self.number(1)}"])
        self.steps.append(lambda held: held.__setitem__(a.name, held[b.name] - 1))

    def halves(self) -> None:
        """Two blocks that fill one buffer together."""
        a = self.source(1)
        size = a.shape[0]
        if not isinstance(size, int) or size < 2:
            return
        made = self.target((size,))
        cut = self.random.randrange(1, size)
        self.nest(f"{made.name}_a", [("vi", "S", cut)], [f"{made.name}[vi] = {a.name}[vi]"])
        second = f"{made.name}[vi + {cut}] = {a.name}[vi + {cut}] + {self.number(1)}"
        self.nest(f"{made.name}_b", [("vi", "S", size - cut)], [second])

        def step(held: dict[str, np.ndarray]) -> None:
            held[made.name] = held[a.name] + (np.arange(size) >= cut).astype(held[a.name].dtype)

        self.done(made, step)

    def scan(self) -> None:
        """Prefix sums: the order of the iterations is the program."""
        a = self.source(1)
        size = a.shape[0]
        if not isinstance(size, int):
            return
        made = self.target((size + 1,))
        self.nest(f"{made.name}_0", [("vo", "S", 1)], [f"{made.name}[vo] = {self.number(0)}"])
        self.nest(made.name, [("vi", "O", size)], [f"{made.name}[vi + 1] = {made.name}[vi] + {a.name}[vi]"], free=False)

        def step(held: dict[str, np.ndarray]) -> None:
            held[made.name] = np.concatenate([[0], np.cumsum(held[a.name])])

        self.done(made, step)

    def scratch(self) -> None:
        """A row at a time through a buffer of one row, which all rows share."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(m, int):
            return
        row, made = self.target((m,)), self.target(a.shape)
        kind = self.random.choice(["reduce", "opaque"])
        other = self.random.choice(["spatial", "spatial", "opaque"])
        i, j = f"i{self.count}", f"j{self.count}"
        for depth, text in (
            (1, f"for {i} in range({n}):"),
            (2, f"for {j} in range({m}):"),
            (3, f'with T.block("{row.name}"):'),
            (4, f"vi = T.axis.{kind}({n}, {i})"),
            (4, f"vj = T.axis.spatial({m}, {j})"),
            (4, f"{row.name}[vj] = {a.name}[vi, vj] + {self.number(1)}"),
            (2, f"for {j} in range({m}):"),
            (3, f'with T.block("{made.name}"):'),
            (4, f"vi = T.axis.{other}({n}, {i})"),
            (4, f"vj = T.axis.spatial({m}, {j})"),
            (4, f"{made.name}[vi, vj] = {row.name}[{m} - 1 - vj] + {row.name}[vj]"),
        ):
            self._line(depth, text)

        def step(held: dict[str, np.ndarray]) -> None:
            x = held[a.name] + 1
            held[made.name] = x + x[:, ::-1]
            if len(x):
                held[row.name] = x[-1]

        self.done(made, step)

    def together(self) -> None:
        """Two stages under common loops, as if computed at one another already."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int):
            return
        one, made = self.target(a.shape), self.target((n, m))
        i, j = f"i{self.count}", f"j{self.count}"
        deep = self.random.random() < 0.5
        self._line(1, f"for {i} in range({n}):")
        depth = 2
        if deep:
            depth = self._line(2, f"for {j} in range({m}):")
        for number, (target, value) in enumerate(
            ((one, f"{a.name}[vi, vj] + {self.number(1)}"), (made, f"{one.name}[vi, vj] + {one.name}[vi, vj]"))
        ):
            inner, var = depth, j
            if not deep:
                var = f"{j}_{number}"
                inner = self._line(depth, f"for {var} in range({m}):")
            inner = self._line(inner, f'with T.block("{target.name}"):')
            self._line(inner, f'vi, vj = T.axis.remap("SS", [{i}, {var}])')
            self._line(inner, f"{target.name}[vi, vj] = {value}")

        def step(held: dict[str, np.ndarray]) -> None:
            held[one.name] = held[a.name] + 1
            held[made.name] = 2 * held[one.name]

        self.buffers.append(one)
        self.done(made, step)

    # --- the whole ----------------------------------------------------------------------------------------------------

    STAGES = (
        "elementwise", "elementwise", "elementwise", "transpose", "flip", "stride", "stencil", "stencil", "padded",
        "reduce", "reduce", "reduce", "matmul", "matmul", "conv", "broadcast", "flatten", "fold", "update", "overwrite",
        "halves", "scan", "scratch", "together",
    )  # fmt: skip

    def sample(self, stages: int) -> Sample:
        while not self.allocs or stages > 0:
            getattr(self, self.random.choice(self.STAGES))()
            stages -= 1
        read = " ".join(self.lines)
        outputs = [b for b in self.allocs if read.count(f"{b.name}[") == 1] or self.allocs[-1:]
        if self.allocs[-1] not in outputs:
            outputs.append(self.allocs[-1])
        if self.random.random() < 0.2:
            outputs.append(self.random.choice(self.allocs))
        outputs = list(dict.fromkeys(o.name for o in outputs))
        params = [*self.params, *[b for b in self.allocs if b.name in outputs]]
        return self._finished(params, [b for b in self.allocs if b.name not in outputs])

    def _finished(self, params: list[Made], allocs: list[Made]) -> Sample:
        def shape(made: Made) -> str:
            return "(" + "".join(f"{s}, " for s in made.shape) + ")"

        # a sum over nothing runs no init: not a meaning to keep
        summed = any(".reduce(n," in line for line in self.lines)
        size = self.random.choice([0, 1, 2, 3, 5, 8][summed:]) if self.symbolic else 0
        head = ["@T.prim_func"]
        if self.symbolic and any("n" in p.shape for p in params):
            head.append(f"def main({', '.join(f'h_{p.name}: T.handle' for p in params)}):")
            head.append("    n = T.int32()")
            head += [f'    {p.name} = T.match_buffer(h_{p.name}, {shape(p)}, "{self.dtype}")' for p in params]
        else:
            given = [f'{p.name}: T.Buffer({shape(p)}, "{self.dtype}")' for p in params]
            head.append(f"def main({', '.join(given)}):")
        head += [f'    {b.name} = T.alloc_buffer({shape(b)}, "{self.dtype}")' for b in allocs]
        text = "\n".join([*head, *self.lines])
        steps = self.steps

        def meaning(held: dict[str, np.ndarray]) -> None:
            for step in steps:
                step(held)

        return Sample(text, params, self.dtype, size, meaning)


def program(random: Random, most: int = 4) -> Sample:
    """One random program of one to `most` stages."""
    maker = Maker(random, random.choice(["float32", "float32", "int32"]), random.random() < 0.25)
    return maker.sample(random.choice([1, *range(2, most + 1), *range(2, most + 1)]))
