"""Stages that write to elements that a table names: histograms, scatter-adds, the last value stays."""

from __future__ import annotations

import numpy as np

from fuzzing.programs.making import Held, Making


class ScatterStages(Making):
    """Stages with a store at an index from data: sums and extrema are reductions or ordered, the others ordered."""

    def _turned(self, axes: list) -> list:
        return axes[::-1] if self.often(0.5) else axes

    def scattered(self) -> None:
        """Scatter by an index buffer, after zeroing: add, count, or keep the last value."""
        a = self.source(1)
        if not isinstance(a.shape[0], int):
            return
        size = self.random.choice([2, 3, 4])
        table = self.table(a.shape, size)
        made = self.target((size,), a)
        counts, last = self.often(0.3), self.often(0.3)
        self.nest(f"{made.name}_0", [("vo", "S", size)], [f"{made.name}[vo] = {self.number(0, a)}"])
        at, kind = f"{made.name}[{table.name}[vi]]", self.random.choice("ROR")
        value = self.number(1, a) if counts else f"{a.name}[vi]"
        axes = [("vi", "O" if last else kind, a.shape[0])]
        self.nest(made.name, axes, [f"{at} = {value}" if last else f"{at} = {at} + {value}"], free=False)

        def step(held: Held) -> None:
            held[made.name] = np.zeros(size, held[a.name].dtype)
            values = np.ones_like(held[a.name]) if counts else held[a.name]
            if last:
                for place, value in zip(held[table.name], values, strict=True):
                    held[made.name][place] = value
            else:
                np.add.at(held[made.name], held[table.name], values)

        self.done(made, step)

    def row_adds(self) -> None:
        """Add rows to the rows that a table names, or keep the larger elements: the columns are independent."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int):
            return
        size = self.random.choice([1, 2, 3])
        table = self.table((n,), size)
        made = self.target((size, m), a)
        most = self.often(0.3)
        start = self.number(0, a)
        self.nest(f"{made.name}_0", [("vo", "S", size), ("vj", "S", m)], [f"{made.name}[vo, vj] = {start}"])
        at = f"{made.name}[{table.name}[vi], vj]"
        value = f"T.max({at}, {a.name}[vi, vj])" if most else f"{at} + {a.name}[vi, vj]"
        axes = self._turned([("vi", self.random.choice("RRO"), n), ("vj", "S", m)])
        self.nest(made.name, axes, [f"{at} = {value}"], free=False)

        def step(held: Held) -> None:
            held[made.name] = np.zeros((size, m), held[a.name].dtype)
            (np.maximum if most else np.add).at(held[made.name], held[table.name], held[a.name])

        self.done(made, step)

    def row_scatter(self) -> None:
        """Scatter within rows, after zeroing: adding up in any order, or in order; or the last value stays."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int):
            return
        size = self.random.choice([1, 2, 3])
        table = self.table(a.shape, size)
        made = self.target((n, size), a)
        t = made.name
        self.nest(f"{t}_0", [("vi", "S", n), ("vj", "S", size)], [f"{t}[vi, vj] = {self.number(0, a)}"])
        at, value = f"{t}[vi, {table.name}[vi, vk]]", f"{a.name}[vi, vk]"
        last = self.often(0.4)
        kind = "O" if last else self.random.choice("OR")
        axes = self._turned([("vi", "O", n), ("vk", kind, m)])
        self.nest(t, axes, [f"{at} = {value}" if last else f"{at} = {at} + {value}"], free=False)

        def step(held: Held) -> None:
            x = np.zeros((n, size), held[a.name].dtype)
            for i in range(n):
                for k in range(m):
                    j = int(held[table.name][i, k])
                    x[i, j] = held[a.name][i, k] + (0 if last else x[i, j])
            held[t] = x

        self.done(made, step)
