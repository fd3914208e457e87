"""Stages whose loop bounds or conditions are data: CSR rows, `while`, masks, bindings from a table; and bounds that are
extrema."""

from __future__ import annotations

import numpy as np

from fuzzing.programs.making import Held, Made, Making


class DataStages(Making):
    """Stages whose iterations depend on data."""

    def csr(self) -> None:
        """Sum the stored values of each row, which a table delimits; in one block, or in blocks inside the loop."""
        a = self.source(1)
        size = a.shape[0]
        if not isinstance(size, int):
            return
        rows = self.random.choice([1, 3, 5, 8])
        ends = self.table((rows + 1,), size + 1, ascending=self.often(0.7))
        places = self.table((size,), size) if self.often(0.4) else None
        made = self.target((rows,), a)
        i, k, at, zero = f"i{self.count}", f"k{self.count}", f"{made.name}[vi]", self.number(0, a)
        inside = self.often(0.6)
        element = f"{a.name}[{places.name}[{{0}}]]" if places else f"{a.name}[{{0}}]"
        if inside:
            body = [f"{at} = {zero}", f"for {k} in range({ends.name}[vi], {ends.name}[vi + 1]):"]
            self.nest(made.name, [("vi", "S", rows)], [*body, f"    {at} = {at} + {element.format(k)}"])
        else:
            self.nest(f"{made.name}_0", [("vi", "S", rows)], [f"{at} = {zero}"])
            self._line(1, f"for {i} in range({rows}):")
            self._line(2, f"for {k} in range({ends.name}[{i}], {ends.name}[{i} + 1]):")
            axes = [("vi", "S", rows, i), ("vk", self.random.choice("RO"), size, k)]
            self.block(3, made.name, axes, [f"{at} = {at} + {element.format('vk')}"])

        def step(held: Held) -> None:
            x = held[a.name][held[places.name]] if places else held[a.name]
            p = held[ends.name]
            held[made.name] = np.array([x[p[r] : p[r + 1]].sum() for r in range(rows)], x.dtype)

        self.done(made, step)

    def csr_rows(self) -> None:
        """Add up the rows of a matrix that a table delimits: columns stay independent."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int):
            return
        rows = self.random.choice([1, 2, 4])
        ends = self.table((rows + 1,), n + 1, ascending=True)
        made = self.target((rows, m), a)
        at, k = f"{made.name}[vi, vj]", f"k{self.count}"
        bounds = (f"{ends.name}[vi]", f"{ends.name}[vi + 1]")
        if self.often(0.3):  # at most two of them
            bounds = (bounds[0], f"T.min({bounds[1]}, {bounds[0]} + 2)")
        body = [f"{at} = {self.number(0, a)}", f"for {k} in range({bounds[0]}, {bounds[1]}):"]
        axes = [("vi", "S", rows), ("vj", "S", m)]
        self.nest(made.name, axes, [*body, f"    {at} = {at} + {a.name}[{k}, vj]"])
        most = 2 if "T.min" in bounds[1] else n

        def step(held: Held) -> None:
            x, p = held[a.name], held[ends.name]
            held[made.name] = np.array([x[p[r] : min(p[r + 1], p[r] + most)].sum(axis=0) for r in range(rows)], x.dtype)

        self.done(made, step)

    def rounds(self) -> None:
        """As many rounds as a table says, each of which copies what was computed before and changes its source."""
        a = self.source(1)
        size = a.shape[0]
        if not isinstance(size, int):
            return
        number = self.table((1,), 4)
        state, early, made = (self.target(a.shape, a) for _ in range(3))
        state.inner = True
        axes, one = [("vi", "S", size)], self.number(1, a)
        self.nest(f"{state.name}_0", axes, [f"{state.name}[vi] = {a.name}[vi]"])
        self.nest(early.name, axes, [f"{early.name}[vi] = {state.name}[vi] + {one}"])
        self.nest(f"{made.name}_0", axes, [f"{made.name}[vi] = {self.number(0, a)}"])
        i = f"i{self.count}"
        self._line(1, f"for t{self.count} in range({number.name}[0]):")
        for name, value in ((made.name, f"{early.name}[vi]"), (state.name, f"{state.name}[vi] + {one}")):
            self._line(2, f"for {i} in range({size}):")
            self.block(3, name, [("vi", "S", size, i)], [f"{name}[vi] = {value}"])

        def step(held: Held) -> None:
            x, n = held[a.name], int(held[number.name][0])
            held[state.name], held[early.name] = x + n, x + 1
            held[made.name] = x + 1 if n else np.zeros_like(x)

        self.done(made, step)

    def banded(self) -> None:
        """Sum a window that is cut off at the edges, by bounds that are extrema."""
        a = self.source(1)
        size, reach = a.shape[0], self.random.choice([1, 2, 3])
        made = self.target(a.shape, a)
        i, k, at = f"i{self.count}", f"k{self.count}", f"{made.name}[vi]"
        span = "range(T.max(0, {0} - " + str(reach) + f"), T.min({size}, {{0}} + {reach + 1}))"
        zero = self.number(0, a)
        if self.often(0.3):
            body = [f"{at} = {zero}", f"for {k} in {span.format('vi')}:", f"    {at} = {at} + {a.name}[{k}]"]
            self.nest(made.name, [("vi", "S", size)], body)
        else:
            together = self.often(0.5)
            self._line(1, f"for {i} in range({size}):")
            self.block(2, f"{made.name}_0", [("vi", "S", size, i)], [f"{at} = {zero}"])
            if not together:
                self._line(1, f"for {i} in range({size}):")
            self._line(2, f"for {k} in {span.format(i)}:")
            axes = [("vi", "S", size, i), ("vk", "R", size, k)]
            self.block(3, made.name, axes, [f"{at} = {at} + {a.name}[vk]"])

        def step(held: Held) -> None:
            x = held[a.name]
            held[made.name] = np.array([x[max(0, c - reach) : c + reach + 1].sum() for c in range(len(x))], x.dtype)

        self.done(made, step)

    def halved(self) -> None:
        """Count how often a number can be halved, by `while`."""
        a = self.source(1)
        size = a.shape[0]
        if not isinstance(size, int):
            return
        table = self.table((size,), 40)
        made = self.target((size,), a)
        at, rest = f"{made.name}[vi]", f"rest{self.count}"
        stop = f" and {at} < {self.number(3, a)}" if self.often(0.4) else ""
        body = [f'{rest} = T.alloc_buffer((1,), "int32")', f"{rest}[0] = {table.name}[vi]", f"{at} = {a.name}[vi]"]
        body += [f"while {rest}[0] > 0{stop}:", f"    {rest}[0] = {rest}[0] // 2"]
        self.nest(made.name, [("vi", "S", size)], [*body, f"    {at} = {at} + {self.number(1, a)}"])

        def step(held: Held) -> None:
            x = held[a.name].copy()
            for c, number in enumerate(int(v) for v in held[table.name]):
                turns = number.bit_length()
                x[c] += min(turns, max(0, int(3 - x[c]))) if stop else turns
            held[made.name] = x

        self.done(made, step)

    def up_to(self) -> None:
        """Add up the first elements of each row, as many as a table says, by `while` and a counter."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int):
            return
        table = self.table((n,), m + 1)
        made = self.target((n,), a)
        at, place = f"{made.name}[vi]", f"place{self.count}"
        body = [f'{place} = T.alloc_buffer((1,), "int32")', f"{place}[0] = 0", f"{at} = {self.number(0, a)}"]
        body += [f"while {place}[0] < {table.name}[vi]:", f"    {at} = {at} + {a.name}[vi, {place}[0]]"]
        self.nest(made.name, [("vi", "S", n)], [*body, f"    {place}[0] = {place}[0] + 1"])

        def step(held: Held) -> None:
            x, p = held[a.name], held[table.name]
            held[made.name] = np.array([x[r, : p[r]].sum() for r in range(n)], x.dtype)

        self.done(made, step)

    def masked(self) -> None:
        """Overwrite or update the elements that a mask selects, by a predicate on data."""
        a = self.source(self.random.choice([1, 2]))
        if not all(isinstance(s, int) for s in a.shape):
            return
        self.count += 1
        kept = self._masked_target(a)
        names = [f"v{x}" for x in "ij"[: len(a.shape)]]
        loops = [f"{v[1:]}{self.count}" for v in names]
        mask = self.table(a.shape[: self.random.randint(1, len(a.shape))], 2)
        at = f"[{', '.join(names)}]"
        own = self.often(0.4)
        for depth, (loop, extent) in enumerate(zip(loops, a.shape, strict=True), 1):
            self._line(depth, f"for {loop} in range({extent}):")
        holds = [f"{mask.name}[{', '.join(loops[: len(mask.shape)])}] > 0"]
        cut = self.random.randint(1, int(a.shape[0])) if self.often(0.3) else None
        holds += [f"{loops[0]} < {cut}"] if cut else []
        reads_own = self.often(0.3)  # the condition reads the element that the block writes
        holds += [f"{kept.name}[{', '.join(loops)}] > {self.number(1, kept)}"] if reads_own else []
        axes = [(v, "S", s, lp) for v, s, lp in zip(names, a.shape, loops, strict=True)]
        value = f"{a.name}{at} + {kept.name + at if own else self.number(1, a)}"
        self.block(len(loops) + 1, f"{kept.name}_m{self.count}", axes, [f"{kept.name}{at} = {value}"], [], holds)

        def step(held: Held) -> None:
            x, old = held[a.name], held[kept.name]
            chosen = held[mask.name] > 0
            chosen = chosen[:, None] if x.ndim > chosen.ndim else chosen
            rows = np.arange(len(x)) < (cut or len(x))
            chosen = chosen & (rows[:, None] if x.ndim == 2 else rows) & ((old > 1) | (not reads_own))
            held[kept.name] = np.where(chosen, x + (old if own else 1), old)

        self.steps.append(step)
        if kept not in self.buffers:
            self.buffers.append(kept)

    def _masked_target(self, like: Made) -> Made:
        """An existing buffer of the same shape that keeps its other elements, or a new parameter."""
        there = [b for b in self.buffers if b is not like and (b.shape, b.dtype) == (like.shape, like.dtype)]
        if there and self.often(0.5):
            return self.random.choice(there)
        made = Made(f"P{len(self.params)}", like.shape, True, like.dtype)
        self.params.append(made)
        return made

    def masked_sum(self) -> None:
        """Sum the elements of each row that a mask selects."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int):
            return
        mask = self.table(a.shape, 2)
        made = self.target((n,), a)
        i, k, at = f"i{self.count}", f"k{self.count}", f"{made.name}[vi]"
        together = self.often(0.5)
        self._line(1, f"for {i} in range({n}):")
        self.block(2, f"{made.name}_0", [("vi", "S", n, i)], [f"{at} = {self.number(0, a)}"])
        if not together:
            self._line(1, f"for {i} in range({n}):")
        self._line(2, f"for {k} in range({m}):")
        axes = [("vi", "S", n, i), ("vk", "R", m, k)]
        self.block(3, made.name, axes, [f"{at} = {at} + {a.name}[vi, vk]"], [], [f"{mask.name}[{i}, {k}] > 0"])
        self.done(made, lambda held: held.__setitem__(made.name, (held[a.name] * held[mask.name]).sum(axis=1)))

    def bound(self) -> None:
        """Add values to elements that a table names, by the binding of an ordered iter."""
        a = self.source(1)
        if not isinstance(a.shape[0], int):
            return
        size = self.random.choice([2, 3, 4])
        table = self.table(a.shape, size)
        made = self.target((size,), a)
        i, at = f"i{self.count}", f"{made.name}[vo]"
        self.nest(f"{made.name}_0", [("vo", "S", size)], [f"{at} = {self.number(0, a)}"])
        self._line(1, f"for {i} in range({a.shape[0]}):")
        axes = [("vi", "O", a.shape[0], i), ("vo", "O", size, f"{table.name}[{i}]")]
        self.block(2, made.name, axes, [f"{at} = {at} + {a.name}[vi]"])

        def step(held: Held) -> None:
            held[made.name] = np.zeros(size, held[a.name].dtype)
            np.add.at(held[made.name], held[table.name], held[a.name])

        self.done(made, step)
