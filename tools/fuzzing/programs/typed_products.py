"""Stages that sum terms of two operands of any types: products of mixed types, distances, counts of matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fuzzing.programs.making import Axis, Held, Made, Making
from fuzzing.programs.typed_terms import FLOATS, Term, cast, exact, term

EXTENTS = (1, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 64)
MOST = 1 << 12
"""The maximum number of terms."""
NARROWER = {"float32": "float16", "float64": "float32", "int16": "int8", "int32": "int16", "int64": "int32"}
NARROWER |= {"uint16": "uint8", "uint32": "uint16", "uint64": "uint32"}


class TypedOperands(Making):
    """Operands of random types, and results, which no other stage reads."""

    def extents(self, count: int) -> list[int]:
        """Return random extents with at most `MOST` points."""
        while True:
            drawn = [self.random.choice(EXTENTS) for _ in range(count)]
            if np.prod(drawn) <= MOST:
                return drawn

    def operand(self, what: Term, dtype: str, shape: Sequence[int]) -> Made:
        """Return a parameter, or what a block computes from one of a narrower type."""
        narrow = NARROWER.get(dtype, "") if not what.far and self.often(0.2) else ""
        kind = narrow or dtype
        span = (0, 2) if dtype == "bool" else (0 if what.nonnegative else -what.most, what.most + 1)
        unit = what.fraction if kind in FLOATS else 1
        source = Made(f"P{len(self.params)}", tuple(shape), True, kind, span, unit=unit, origin=what.origin(dtype))
        source.full = what.far
        self.params.append(source)
        if not narrow:
            return source
        wide = self.result(shape, dtype, unit)
        wide.inner = True
        names = [f"v{x}" for x in "abcd"[: len(shape)]]
        at = f"[{', '.join(names)}]"
        axes = [(v, "S", n) for v, n in zip(names, shape, strict=True)]
        self.nest(wide.name, axes, [f"{wide.name}{at} = {cast(source.name + at, narrow, dtype)}"])
        self.steps.append(lambda held: held.__setitem__(wide.name, exact(held[source.name], narrow, dtype)))
        return wide

    def result(self, shape: Sequence[int], dtype: str, unit: float) -> Made:
        """Return a buffer that a block fills."""
        made = self.target(tuple(shape), Made("", (), dtype=dtype))
        made.unit = unit
        return made

    def reduced(self, sums: Made, at: str, axes: Sequence[Axis], value: str, largest: bool = False) -> None:
        """Emit a block that adds up a value, or finds the largest one."""
        update = f"T.max({at}, {value})" if largest else f"{at} + {value}"
        init = f'T.min_value("{sums.dtype}")' if largest else f"T.{sums.dtype}(0)"
        self.nest(sums.name, axes, [f"{at} = {update}"], [f"{at} = {init}"])


class TypedProducts(TypedOperands):
    """Stages like a matrix product."""

    def typed_product(self) -> None:
        """C = a sum, or an extremum, of terms of rows of A and columns of B, each possibly transposed or computed by a
        block before; occasionally of a batch, or stored in another type afterwards."""
        what = term(self.random)
        rows, columns, depth = self.extents(3)
        batch = [self.random.choice((1, 2, 3))] if self.often(0.2) and rows * columns * depth * 3 <= MOST else []
        turned = [self.often(0.4) for _ in range(3)]
        a = self.operand(what, what.left, [*batch, *((depth, rows) if turned[0] else (rows, depth))])
        b = self.operand(what, what.right, [*batch, *((columns, depth) if turned[1] else (depth, columns))])
        sums = self.result([*batch, *((columns, rows) if turned[2] else (rows, columns))], what.sums, what.unit)
        largest = self.often(0.1)
        head = "vb, " if batch else ""
        at = f"{sums.name}[{head}{'vj, vi' if turned[2] else 'vi, vj'}]"
        x = f"{a.name}[{head}{'vk, vi' if turned[0] else 'vi, vk'}]"
        y = f"{b.name}[{head}{'vj, vk' if turned[1] else 'vk, vj'}]"
        spatial = [*(("vb", "S", n) for n in batch), ("vi", "S", rows), ("vj", "S", columns)]
        self.reduced(sums, at, [*spatial, ("vk", "R", depth)], what.text(x, y), largest)
        self.steps.append(_sum(a, b, sums, what, turned, largest))
        if self.often(0.3):
            self._stored(sums, spatial, at)

    def _stored(self, sums: Made, axes: Sequence[Axis], at: str) -> None:
        """A block that stores a result in another type, doubled."""
        sums.inner = True
        dtype = self.random.choice([t for t in (*FLOATS, "int32", "int64") if (t in FLOATS) >= (sums.dtype in FLOATS)])
        stored = self.result([int(n) for n in sums.shape], dtype, sums.unit)
        value = f"{cast(at, sums.dtype, dtype)} * T.{dtype}(2)"
        self.nest(stored.name, axes, [f"{at.replace(sums.name, stored.name)} = {value}"])
        self.steps.append(lambda held: held.__setitem__(stored.name, exact(held[sums.name], sums.dtype, dtype) * 2))


def _sum(a: Made, b: Made, sums: Made, what: Term, turned: list[bool], largest: bool) -> Callable[[Held], None]:
    def step(held: Held) -> None:
        x = np.swapaxes(held[a.name], -1, -2) if turned[0] else held[a.name]
        y = held[b.name] if turned[1] else np.swapaxes(held[b.name], -1, -2)
        terms = what.meaning(x[..., :, None, :], y[..., None, :, :])
        result = terms.max(axis=-1) if largest else terms.sum(axis=-1)
        held[sums.name] = np.swapaxes(result, -1, -2) if turned[2] else result

    return step
