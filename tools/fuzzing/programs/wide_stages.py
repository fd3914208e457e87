"""More stages: tuple reductions, triangles, reversed writes, padding, gathers, branches, other types, softmax."""

from __future__ import annotations

import numpy as np

from fuzzing.programs.making import Held, Making

WIDE = {"int8": "int32", "int16": "int32", "int32": "int64", "float16": "float32", "bfloat16": "float32"}
WIDE |= {"uint8": "uint32", "uint16": "int32", "uint32": "int64"}
"""Accumulator types."""


class WideStages(Making):
    """Stages beyond plain maps and sums."""

    def argmax(self) -> None:
        """Index and value of each row's maximum: a reduction of two values at once."""
        a = self.source(2)
        n, m = a.shape
        self.number(-1, a)  # the start must be below all values
        value, place = self.target((n,), a), self.target((n,), a, "int32")
        v, p, x = f"{value.name}[vi]", f"{place.name}[vi]", f"{a.name}[vi, vk]"
        better = f"T.Or({v} > {x}, T.And({v} == {x}, {p} < vk))"
        body = [f"p = T.Select({better}, {p}, vk)", f"v = T.Select({v} > {x}, {v}, {x})", f"{p} = p", f"{v} = v"]
        init = [f"{p} = -1", f'{v} = T.min_value("{a.dtype}")']
        self.nest(f"T{self.count}", [("vi", "S", n), ("vk", "R", m)], body, init, free=False)

        def step(held: Held) -> None:
            held[value.name], held[place.name] = held[a.name].max(axis=1), held[a.name].argmax(axis=1)

        self.buffers.append(place)
        self.done(value, step)

    def triangle(self) -> None:
        """Sum each row up to the diagonal, by a triangular loop or a guard."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int) or n > m:
            return
        part, made = self.target((n,), a), self.target((n,), a)
        i, k, at = f"i{self.count}", f"k{self.count}", f"{part.name}[vi]"
        guarded = self.often(0.4)
        part.inner = not guarded
        self._line(1, f"for {i} in range({n}):")
        self._line(2, f"for {k} in range({m if guarded else i + ' + 1'}):")
        axes = [("vi", "S", n, i), ("vk", "R", m, k)]
        guards = [f"{k} <= {i}"] if guarded else []
        self.block(3, part.name, axes, [f"{at} = {at} + {a.name}[vi, vk]"], [f"{at} = {self.number(0, a)}"], guards)
        self.nest(made.name, [("vi", "S", n)], [f"{made.name}[vi] = {at} + {self.number(1, a)}"])

        def step(held: Held) -> None:
            held[part.name] = np.tril(held[a.name]).sum(axis=1)
            held[made.name] = held[part.name] + 1

        self.done(made, step)

    def below(self) -> None:
        """Map the elements below the diagonal, and fill the others."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or n != m:
            return
        part, made = self.target((n, m), a), self.target((n, m), a)
        part.inner = True
        i, j = f"i{self.count}", f"j{self.count}"
        for name, span, value in (
            ("low", f"range({i} + 1)", f"{a.name}[vi, vj] + {self.number(1, a)}"),
            ("high", f"range({n} - 1 - {i})", self.number(2, a)),
        ):
            self._line(1, f"for {i} in range({n}):")
            self._line(2, f"for {j} in {span}:")
            column = j if name == "low" else f"{i} + 1 + {j}"
            axes = [("vi", "S", n, i), ("vj", "S", n, column)]
            self.block(3, f"{part.name}_{name}", axes, [f"{part.name}[vi, vj] = {value}"])
        body = [f"{made.name}[vi, vj] = {part.name}[vj, vi]"]
        self.nest(made.name, [("vi", "S", n), ("vj", "S", n)], body)

        def step(held: Held) -> None:
            x = held[a.name]
            held[part.name] = np.where(np.tril(np.ones_like(x)) > 0, x + 1, 2)
            held[made.name] = held[part.name].T

        self.done(made, step)

    def mirrored(self) -> None:
        """Write in reverse along one or both dimensions."""
        a = self.source(2)
        n, m = a.shape
        made = self.target(a.shape, a)
        both = self.often(0.5)
        at = f"{n} - 1 - vi, {m} - 1 - vj" if both else f"vi, {m} - 1 - vj"
        self.nest(made.name, [("vi", "S", n), ("vj", "S", m)], [f"{made.name}[{at}] = {a.name}[vi, vj]"])
        self.done(made, lambda h: h.__setitem__(made.name, h[a.name][::-1, ::-1] if both else h[a.name][:, ::-1]))

    def frame(self) -> None:
        """Pad the input with zeros."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int):
            return
        high, wide = self.random.choice([0, 1, 2]), self.random.choice([1, 2])
        shape = (n + 2 * high, m + 2 * wide)
        made = self.target(shape, a)
        inside = [f"vj >= {wide}", f"vj < {m + wide}"]
        if high:
            inside = [f"vi >= {high}", f"vi < {n + high}", *inside]
        value = f"T.if_then_else({' and '.join(inside)}, {a.name}[vi - {high}, vj - {wide}], {self.number(0, a)})"
        self.nest(made.name, [("vi", "S", shape[0]), ("vj", "S", shape[1])], [f"{made.name}[vi, vj] = {value}"])
        self.done(made, lambda held: held.__setitem__(made.name, np.pad(held[a.name], ((high,) * 2, (wide,) * 2))))

    def numbered(self) -> None:
        """Use the index as a value."""
        a = self.source(1)
        made = self.target(a.shape, a)
        value = (
            f'{a.name}[vi] + T.Cast("{a.dtype}", vi * 2 + 1)' if a.dtype != "int32" else f"{a.name}[vi] + vi * 2 + 1"
        )
        self.nest(made.name, [("vi", "S", a.shape[0])], [f"{made.name}[vi] = {value}"])
        self.done(made, lambda h: h.__setitem__(made.name, h[a.name] + 2 * np.arange(len(h[a.name])) + 1))

    def gathered(self) -> None:
        """Gather rows or elements by an index buffer."""
        a = self.source(self.random.choice([1, 2]))
        size = a.shape[0]
        if not isinstance(size, int):
            return
        count = self.random.choice([2, 3, 5])
        table = self.table((count,), size)
        made = self.target((count, *a.shape[1:]), a)
        rest = "".join(f", v{x}" for x in "jk"[: len(a.shape) - 1])
        axes = [(f"v{x}", "S", s) for x, s in zip("ijk", made.shape, strict=False)]
        self.nest(made.name, axes, [f"{made.name}[vi{rest}] = {a.name}[{table.name}[vi]{rest}]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name][held[table.name]]))

    def chosen(self) -> None:
        """Branch on the index or on the value."""
        a = self.source(1)
        size = a.shape[0]
        made = self.target(a.shape, a)
        by_value = self.often(0.4)
        cut = 0 if by_value or not isinstance(size, int) else self.random.randrange(size)
        test = f"{a.name}[vi] > {self.number(0, a)}" if by_value else f"vi < {cut}"
        at, one, other = (
            f"{made.name}[vi]",
            f"{a.name}[vi] + {self.number(1, a)}",
            f"{a.name}[vi] - {self.number(2, a)}",
        )
        body = [f"if {test}:", f"    {at} = {one}", "else:", f"    {at} = {other}"]
        if self.often(0.3):
            body = [f"{at} = {other}", f"if {test}:", f"    {at} = {one}"]
        self.nest(made.name, [("vi", "S", size)], body)

        def step(held: Held) -> None:
            x = held[a.name]
            held[made.name] = np.where(x > 0 if by_value else np.arange(len(x)) < cut, x + 1, x - 2)

        self.done(made, step)

    def twins(self) -> None:
        """A block that writes two buffers."""
        a = self.source(2)
        one, two = self.target(a.shape, a), self.target(a.shape[::-1], a)
        body = [
            f"{one.name}[vi, vj] = {a.name}[vi, vj] + {self.number(1, a)}",
            f"{two.name}[vj, vi] = {a.name}[vi, vj]",
        ]
        self.nest(two.name, [("vi", "S", a.shape[0]), ("vj", "S", a.shape[1])], body)

        def step(held: Held) -> None:
            held[one.name], held[two.name] = held[a.name] + 1, held[a.name].T

        self.buffers.append(one)
        self.done(two, step)

    def cast(self) -> None:
        """Products of a narrow type, accumulated in a wide one."""
        a = self.source(2)
        wide = WIDE.get(a.dtype)
        if wide is None:
            return
        n, m = a.shape
        b = self.given((m,), a)
        made = self.target((n,), a, wide)
        at = f"{made.name}[vi]"
        product = f'T.Cast("{wide}", {a.name}[vi, vk]) * T.Cast("{wide}", {b.name}[vk])'
        init = [f"{at} = {self.number(0, made)}"]
        self.nest(made.name, [("vi", "S", n), ("vk", "R", m)], [f"{at} = {at} + {product}"], init)
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name] @ held[b.name]))

    def tiled(self) -> None:
        """Nested blocks: one outer block per row, with a map inside."""
        a = self.source(2)
        n, m = a.shape
        made = self.target(a.shape, a)
        i, j = f"i{self.count}", f"j{self.count}"
        self._line(1, f"for {i} in range({n}):")
        self.block(2, f"{made.name}_o", [("vo", "S", n, i)], [f"for {j} in range({m}):"])
        self.block(4, made.name, [("vi", "S", 1, "0"), ("vj", "S", m, j)], [
            f"{made.name}[vo + vi, vj] = {a.name}[vo + vi, vj] + {self.number(1, a)}"
        ])  # fmt: skip
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name] + 1))

    def softmax(self) -> None:
        """Reduce each row, then map the result back over the row."""
        a = self.source(2)
        n, m = a.shape
        top, made = self.target((n,), a), self.target(a.shape, a)
        at = f"{top.name}[vi]"
        start = f'T.min_value("{a.dtype}")'
        axes = [("vi", "S", n), ("vk", "R", m)]
        self.nest(top.name, axes, [f"{at} = T.max({at}, {a.name}[vi, vk])"], [f"{at} = {start}"])
        body = [f"{made.name}[vi, vj] = {a.name}[vi, vj] - {top.name}[vi]"]
        self.nest(made.name, [("vi", "S", n), ("vj", "S", m)], body)

        def step(held: Held) -> None:
            held[top.name] = held[a.name].max(axis=1)
            held[made.name] = held[a.name] - held[top.name][:, None]

        self.buffers.append(top)
        self.done(made, step)

    def rolled(self) -> None:
        """A stencil that recomputes most of its inputs, as rolling_buffer expects."""
        a = self.source(self.random.choice([1, 2]))
        size, reach = a.shape[0], self.random.choice([1, 2])
        if not isinstance(size, int) or size <= reach:
            return
        rest = a.shape[1:]
        part, made = self.target(a.shape, a), self.target((size - reach, *rest), a)
        part.inner = True
        i, k, j = (f"{x}{self.count}" for x in "ikj")
        own, at = [("vj", "S", s, j) for s in rest], "".join(", vj" for _ in rest)
        self._line(1, f"for {i} in range({size - reach}):")
        for block, low, bound in ((part, f"for {k} in range({reach + 1}):", f"{i} + {k}"), (made, "", i)):
            depth = self._line(2, low) if low else 2
            for extent in rest:
                depth = self._line(depth, f"for {j} in range({extent}):")
            terms = " + ".join(f"{part.name}[vi + {d}{at}]" for d in range(reach + 1))
            value = f"{a.name}[vi{at}] + {self.number(1, a)}" if block is part else terms
            axes = [("vi", "S", block.shape[0], bound), *own]
            self.block(depth, block.name, axes, [f"{block.name}[vi{at}] = {value}"])

        def step(held: Held) -> None:
            held[part.name] = held[a.name] + 1
            held[made.name] = sum(held[part.name][d : d + size - reach] for d in range(reach + 1))  # type: ignore[assignment]

        self.done(made, step)

    def named(self) -> None:
        """A let-bound value, used twice."""
        a = self.source(1)
        made = self.target(a.shape, a)
        body = [f"x = {a.name}[vi] + {self.number(1, a)}", f"{made.name}[vi] = x + x"]
        self.nest(made.name, [("vi", "S", a.shape[0])], body)
        self.done(made, lambda held: held.__setitem__(made.name, 2 * (held[a.name] + 1)))

    def clipped(self) -> None:
        """A reduction followed by an epilogue: a bias added to a sum, or a clipped maximum."""
        a = self.source(2)
        n, m = a.shape
        part, made = self.target((n,), a), self.target((n,), a)
        at, zero = f"{part.name}[vi]", self.number(0, a)
        add = self.often(0.5)
        update = f"{at} = {at} + {a.name}[vi, vk]" if add else f"{at} = T.max({at}, {a.name}[vi, vk])"
        self.nest(part.name, [("vi", "S", n), ("vk", "R", m)], [update], [f"{at} = {zero}"])
        b = self.given((n,), a) if add else None
        value = f"{at} + {b.name}[vi]" if b else f"T.max({at}, {zero})"
        self.nest(made.name, [("vi", "S", n)], [f"{made.name}[vi] = {value}"])

        def step(held: Held) -> None:
            x = held[a.name]
            held[part.name] = x.sum(axis=1) if b else np.maximum(x.max(axis=1, initial=0), 0)
            held[made.name] = held[part.name] + held[b.name] if b else held[part.name]

        self.done(made, step)

    def shifted(self) -> None:
        """Loops and domains with a non-zero start: compute the middle of a row, copy its edges."""
        a = self.source(1)
        size = a.shape[0]
        if not isinstance(size, int) or size < 3:
            return
        made = self.target((size,), a)
        i = f"i{self.count}"
        start = self.random.choice([0, 1])
        self._line(1, f"for {i} in range({start}, {start + size - 2}):")
        depth = self._line(2, f'with T.block("{made.name}"):')
        self._line(depth, f"vi = T.axis.spatial((1, {size - 1}), {i} + {1 - start})")
        self._line(depth, f"{made.name}[vi] = {a.name}[vi - 1] + {a.name}[vi + 1]")
        edge = f"{made.name}[ve * {size - 1}] = {a.name}[ve * {size - 1}]"
        self.nest(f"{made.name}_edge", [("ve", "S", 2)], [edge])

        def step(held: Held) -> None:
            x = held[a.name]
            held[made.name] = np.concatenate([x[:1], x[:-2] + x[2:], x[-1:]])

        self.done(made, step)
