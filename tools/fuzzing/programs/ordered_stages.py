"""Stages with ordered iters: recurrences along one axis, time steps, triangular solves, several blocks in one nest."""

from __future__ import annotations

import numpy as np

from fuzzing.programs.making import Held, Making


class OrderedStages(Making):
    """Stages whose iterations depend on each other in one axis, and are independent in the others."""

    def running(self) -> None:
        """Prefix sums of each row, or down each column."""
        a = self.source(2)
        n, m = a.shape
        made = self.target(a.shape, a)
        down = self.often(0.5)
        before = f"{made.name}[vi - 1, vj]" if down else f"{made.name}[vi, vj - 1]"
        test = "vi == 0" if down else "vj == 0"
        value = f"T.if_then_else({test}, {self.number(0, a)}, {before}) + {a.name}[vi, vj]"
        axes = [("vi", "O" if down else "S", n), ("vj", "S" if down else "O", m)]
        self.nest(made.name, self._any_order(axes), [f"{made.name}[vi, vj] = {value}"], free=False)
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name].cumsum(0 if down else 1)))

    def _any_order(self, axes: list) -> list:
        return axes[::-1] if self.often(0.5) else axes

    def planes(self) -> None:
        """Steps of a stencil between the two planes of one buffer, from zeros and a row."""
        a = self.source(1)
        size = a.shape[0]
        if not isinstance(size, int):
            return
        steps = self.random.choice([1, 2, 3])
        made = self.target((2, size + 2), a)
        made.inner = True
        t = made.name
        fill = f"{t}[vp, vi] = T.if_then_else(vp == 0 and vi < {size}, {a.name}[vi], {self.number(0, a)})"
        self.nest(f"{t}_0", [("vp", "S", 2), ("vi", "S", size + 2)], [fill])
        body = f"{t}[(vt + 1) % 2, vi + 1] = {t}[vt % 2, vi] + {t}[vt % 2, vi + 2]"
        self.nest(t, [("vt", "O", steps), ("vi", "S", size)], [body], free=False)

        def step(held: Held) -> None:
            x = np.zeros((2, size + 2), held[a.name].dtype)
            x[0, :size] = held[a.name]
            for s in range(steps):
                x[(s + 1) % 2, 1:-1] = x[s % 2, :-2] + x[s % 2, 2:]
            held[t] = x

        self.done(made, step)

    def in_turn(self) -> None:
        """Two blocks in one nest: the second reads what the same or another iteration of the first writes."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int):
            return
        one, made = self.target((n + 2, m + 2), a), self.target(a.shape, a)
        one.inner = True
        t, u = one.name, made.name
        shift, across = self.random.choice([0, 0, 1, -1]), self.random.choice([0, 0, 1, -1])
        wide = self.random.choice([1, 1, 2])  # 2: every second row is overwritten
        self.nest(f"{t}_0", [("vi", "S", n + 2), ("vj", "S", m + 2)], [f"{t}[vi, vj] = {self.number(0, a)}"])
        i, j = f"i{self.count}", f"j{self.count}"
        self._line(1, f"for {i} in range({n}):")
        depth = self._line(2, f"for {j} in range({m}):")
        row = "vi + 1" if wide == 1 else "vi // 2 + 1"
        for target, value in (
            (f"{t}[{row}, vj + 1]", f"{a.name}[vi, vj] + {self.number(1, a)}"),
            (f"{u}[vi, vj]", f"{t}[vi + {1 + shift}, vj + {1 + across}]"),
        ):
            inner = self._line(depth, f'with T.block("{target.split("[")[0]}"):')
            self._line(inner, f"vi = T.axis.opaque({n}, {i})")
            self._line(inner, f"vj = T.axis.opaque({m}, {j})")
            self._line(inner, f"{target} = {value}")

        def step(held: Held) -> None:
            x, y = np.zeros((n + 2, m + 2), held[a.name].dtype), np.zeros((n, m), held[a.name].dtype)
            for p in range(n):
                for q in range(m):
                    x[p // wide + 1, q + 1] = held[a.name][p, q] + 1
                    y[p, q] = x[p + 1 + shift, q + 1 + across]
            held[t], held[u] = x, y

        self.done(made, step)

    def solved(self) -> None:
        """A triangular solve with a unit diagonal: each row needs all rows above it, the columns are independent."""
        n, m = self.random.choice([1, 2, 3, 4, 5, 6]), self.size()
        a = self.param((n, m))
        b = self.given((n, n), a)
        made = self.target((n, m), a)
        made.inner = True
        i, j, k, at = f"i{self.count}", f"j{self.count}", f"k{self.count}", f"{made.name}[vi, vj]"
        sign = "+" if a.dtype.startswith("uint") else "-"
        loops = [f"for {i} in range({n}):", f"for {j} in range({m}):"]
        for depth, line in enumerate(self._any_order(loops), 1):
            self._line(depth, line)
        axes = [("vi", "O", n, i), ("vj", "S", m, j)]
        self.block(3, f"{made.name}_0", axes, [f"{at} = {a.name}[vi, vj]"])
        self._line(3, f"for {k} in range({i}):")
        update = f"{at} = {at} {sign} {b.name}[vi, vk] * {made.name}[vk, vj]"
        self.block(4, made.name, [*axes, ("vk", "O", n, k)], [update])
        last = self.target((n, m), a)
        body = [f"{last.name}[vi, vj] = {at} + {self.number(1, a)}"]
        self.nest(last.name, [("vi", "S", n), ("vj", "S", m)], body)

        def step(held: Held) -> None:
            x = held[a.name].copy()
            for r in range(n):
                for c in range(r):
                    x[r] = x[r] - held[b.name][r, c] * x[c] if sign == "-" else x[r] + held[b.name][r, c] * x[c]
            held[made.name], held[last.name] = x, x + 1

        self.done(last, step)
