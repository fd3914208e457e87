"""The stages of a random program: one or two blocks each, as TVMScript and as NumPy."""

from __future__ import annotations

import numpy as np

from fuzzing.programs.making import SIZES, Held, Making


class Stages(Making):
    """Basic stages: maps, stencils, reductions, reshapes, in-place updates."""

    def elementwise(self) -> None:
        rank = self.random.choice([1, 2, 2, 2])
        a = self.source(rank)
        b = self.given(a.shape, a) if self.random.random() < 0.4 else None
        made = self.target(a.shape, a)
        names = ["vi", "vj"][:rank]
        at = ", ".join(names)
        op = self.random.choice("+-*") if b else "+"
        other = f"{b.name}[{at}]" if b else self.number(self.random.choice([1, 2]), a)
        axes = [(n, "S", s) for n, s in zip(names, a.shape, strict=True)]
        if op == "*" and b:
            self.nest(made.name, axes, [f"{made.name}[{at}] = T.max({a.name}[{at}], {other})"])
        else:
            self.nest(made.name, axes, [f"{made.name}[{at}] = {a.name}[{at}] {op} {other}"])

        def step(held: Held) -> None:
            right = held[b.name] if b else int(other.split("(")[1][:-1])
            left = held[a.name]
            held[made.name] = {"+": np.add, "-": np.subtract, "*": np.maximum}[op](left, right)

        self.done(made, step)

    def transpose(self) -> None:
        a = self.source(2)
        made = self.target(a.shape[::-1], a)
        axes = [("vi", "S", made.shape[0]), ("vj", "S", made.shape[1])]
        self.nest(made.name, axes, [f"{made.name}[vi, vj] = {a.name}[vj, vi]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name].T))

    def flip(self) -> None:
        a = self.source(1)
        size = a.shape[0]
        made = self.target(a.shape, a)
        self.nest(made.name, [("vi", "S", size)], [f"{made.name}[vi] = {a.name}[{size} - 1 - vi]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name][::-1]))

    def stride(self) -> None:
        a = self.source(1)
        if not isinstance(a.shape[0], int) or a.shape[0] < 2:
            return
        made = self.target((a.shape[0] // 2,), a)
        self.nest(made.name, [("vi", "S", made.shape[0])], [f"{made.name}[vi] = {a.name}[vi * 2 + 1]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name][1::2]))

    def stencil(self) -> None:
        """Read neighbors along the last axis of a buffer with a halo."""
        rank = self.random.choice([1, 2])
        a = self.source(rank)
        size, reach = a.shape[-1], self.random.choice([1, 2])
        if not isinstance(size, int) or size <= reach:
            return
        made = self.target((*a.shape[:-1], size - reach), a)
        names = ["vi", "vj"][-rank:]
        lead = "vi, " if rank == 2 else ""
        terms = [f"{a.name}[{lead}vj + {d}]" for d in range(reach + 1)]
        axes = [(n, "S", s) for n, s in zip(names, made.shape, strict=True)]
        self.nest(made.name, axes, [f"{made.name}[{', '.join(names)}] = {' + '.join(terms)}"])

        def step(held: Held) -> None:
            held[made.name] = sum(held[a.name][..., d : d + size - reach] for d in range(reach + 1))  # type: ignore[operator]

        self.done(made, step)

    def padded(self) -> None:
        """A stencil with zero padding."""
        a = self.source(2)
        size = a.shape[1]
        made = self.target(a.shape, a)
        zero = self.number(0, a)
        left = f"T.if_then_else(vj >= 1, {a.name}[vi, vj - 1], {zero})"
        right = f"T.if_then_else(vj < {size} - 1, {a.name}[vi, vj + 1], {zero})"
        self.nest(
            made.name,
            [("vi", "S", a.shape[0]), ("vj", "S", size)],
            [f"{made.name}[vi, vj] = {left} + {a.name}[vi, vj] + {right}"],
        )

        def step(held: Held) -> None:
            x = held[a.name]
            wide = np.pad(x, ((0, 0), (1, 1)))
            held[made.name] = wide[:, :-2] + x + wide[:, 2:]

        self.done(made, step)

    def reduce(self) -> None:
        """A sum or maximum over one axis, a sum over both, or an order-dependent recurrence."""
        a = self.source(2)
        n, m = a.shape
        how = self.random.choice(["sum", "sum", "max", "both", "first", "horner"])
        name = f"T{self.count + 1}"
        if how == "both":
            made = self.target((1,), a)
            axes = [("vo", "S", 1), ("vi", "R", n), ("vk", "R", m)]
            at, element = f"{name}[vo]", f"{a.name}[vi, vk]"
        elif how == "first":
            made = self.target((m,), a)
            axes = [("vj", "S", m), ("vk", "R", n)]
            at, element = f"{name}[vj]", f"{a.name}[vk, vj]"
        else:
            made = self.target((n,), a)
            axes = [("vi", "S", n), ("vk", "R", m)]
            at, element = f"{name}[vi]", f"{a.name}[vi, vk]"
        if how == "max":
            body, start = f"{at} = T.max({at}, {element})", self.number(-5, a)
        elif how == "horner":
            body, start = f"{at} = {self.number(3, a)} - {at} + {element}", self.number(1, a)
        else:
            body, start = f"{at} = {at} + {element}", self.number(0, a)
        self.nest(made.name, axes, [body], [f"{at} = {start}"], free=how != "horner")

        def step(held: Held) -> None:
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
        b = self.given((m, k) if turned else (k, m), a)
        made = self.target((n, m), a)
        element = f"{b.name}[vj, vk]" if turned else f"{b.name}[vk, vj]"
        at = f"{made.name}[vi, vj]"
        axes = [("vi", "S", n), ("vj", "S", m), ("vk", "R", k)]
        self.nest(made.name, axes, [f"{at} = {at} + {a.name}[vi, vk] * {element}"], [f"{at} = {self.number(0, a)}"])

        def step(held: Held) -> None:
            held[made.name] = held[a.name] @ (held[b.name].T if turned else held[b.name])

        self.done(made, step)

    def conv(self) -> None:
        a = self.source(1)
        size, taps = a.shape[0], self.random.choice([2, 3])
        if not isinstance(size, int) or size < taps:
            return
        w = self.given((taps,), a)
        made = self.target((size - taps + 1,), a)
        at = f"{made.name}[vi]"
        axes = [("vi", "S", made.shape[0]), ("vr", "R", taps)]
        self.nest(made.name, axes, [f"{at} = {at} + {a.name}[vi + vr] * {w.name}[vr]"], [f"{at} = {self.number(0, a)}"])

        def step(held: Held) -> None:
            x, f = held[a.name], held[w.name]
            held[made.name] = sum(x[r : r + len(x) - taps + 1] * f[r] for r in range(taps))  # type: ignore[operator]

        self.done(made, step)

    def broadcast(self) -> None:
        a = self.source(2)
        along = self.random.choice([0, 1])
        b = self.given((a.shape[along],), a)
        made = self.target(a.shape, a)
        index = ("vi", "vj")[along]
        axes = [("vi", "S", a.shape[0]), ("vj", "S", a.shape[1])]
        self.nest(made.name, axes, [f"{made.name}[vi, vj] = {a.name}[vi, vj] + {b.name}[{index}]"])

        def step(held: Held) -> None:
            held[made.name] = held[a.name] + (held[b.name][:, None] if along == 0 else held[b.name][None, :])

        self.done(made, step)

    def flatten(self) -> None:
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int) or not isinstance(m, int) or n * m > 40:
            return
        made = self.target((n * m,), a)
        self.nest(made.name, [("vi", "S", n * m)], [f"{made.name}[vi] = {a.name}[vi // {m}, vi % {m}]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name].reshape(-1)))

    def fold(self) -> None:
        a = self.source(1)
        size = a.shape[0]
        wide = self.random.choice([2, 3, 4])
        if not isinstance(size, int) or size % wide:
            return
        made = self.target((size // wide, wide), a)
        axes = [("vi", "S", size // wide), ("vj", "S", wide)]
        self.nest(made.name, axes, [f"{made.name}[vi, vj] = {a.name}[vi * {wide} + vj]"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name].reshape(-1, wide)))

    def update(self) -> None:
        """A second block that updates a buffer in place."""
        there = [b for b in self.buffers if b.shape and all(isinstance(s, int) for s in b.shape)]
        if not there:
            return
        a = self.random.choice(there)
        names = ["vi", "vj", "vl"][: len(a.shape)]
        at = ", ".join(names)
        self.count += 1
        axes = [(n, "S", s) for n, s in zip(names, a.shape, strict=True)]
        self.nest(f"{a.name}_u{self.count}", axes, [f"{a.name}[{at}] = {a.name}[{at}] + {self.number(1, a)}"])
        self.steps.append(lambda held: held.__setitem__(a.name, held[a.name] + 1))

    def overwrite(self) -> None:
        """Overwrite a buffer that earlier stages have read with the values of another."""
        there = [
            (a, b) for a in self.buffers for b in self.buffers if a != b and (a.shape, a.dtype) == (b.shape, b.dtype)
        ]
        if not there:
            return
        a, b = self.random.choice(there)
        names = ["vi", "vj", "vl"][: len(a.shape)]
        at = ", ".join(names)
        self.count += 1
        axes = [(n, "S", s) for n, s in zip(names, a.shape, strict=True)]
        self.nest(f"{a.name}_o{self.count}", axes, [f"{a.name}[{at}] = {b.name}[{at}] - {self.number(1, a)}"])
        self.steps.append(lambda held: held.__setitem__(a.name, held[b.name] - 1))

    def halves(self) -> None:
        """Fill one buffer by two blocks."""
        a = self.source(1)
        size = a.shape[0]
        if not isinstance(size, int) or size < 2:
            return
        made = self.target((size,), a)
        cut = self.random.randrange(1, size)
        self.nest(f"{made.name}_a", [("vi", "S", cut)], [f"{made.name}[vi] = {a.name}[vi]"])
        second = f"{made.name}[vi + {cut}] = {a.name}[vi + {cut}] + {self.number(1, a)}"
        self.nest(f"{made.name}_b", [("vi", "S", size - cut)], [second])

        def step(held: Held) -> None:
            held[made.name] = held[a.name] + (np.arange(size) >= cut).astype(held[a.name].dtype)

        self.done(made, step)

    def scan(self) -> None:
        """Prefix sums: the order of the iterations is significant."""
        a = self.source(1)
        size = a.shape[0]
        if not isinstance(size, int):
            return
        made = self.target((size + 1,), a)
        self.nest(f"{made.name}_0", [("vo", "S", 1)], [f"{made.name}[vo] = {self.number(0, a)}"])
        self.nest(made.name, [("vi", "O", size)], [f"{made.name}[vi + 1] = {made.name}[vi] + {a.name}[vi]"], free=False)

        def step(held: Held) -> None:
            held[made.name] = np.concatenate([[0], np.cumsum(held[a.name])])

        self.done(made, step)

    def scratch(self) -> None:
        """Compute row by row through a one-row buffer that all rows share."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(m, int):
            return
        row, made = self.target((m,), a), self.target(a.shape, a)
        kind = self.random.choice(["reduce", "opaque"])
        other = self.random.choice(["spatial", "spatial", "opaque"])
        i, j = f"i{self.count}", f"j{self.count}"
        for depth, text in (
            (1, f"for {i} in range({n}):"),
            (2, f"for {j} in range({m}):"),
            (3, f'with T.block("{row.name}"):'),
            (4, f"vi = T.axis.{kind}({n}, {i})"),
            (4, f"vj = T.axis.spatial({m}, {j})"),
            (4, f"{row.name}[vj] = {a.name}[vi, vj] + {self.number(1, a)}"),
            (2, f"for {j} in range({m}):"),
            (3, f'with T.block("{made.name}"):'),
            (4, f"vi = T.axis.{other}({n}, {i})"),
            (4, f"vj = T.axis.spatial({m}, {j})"),
            (4, f"{made.name}[vi, vj] = {row.name}[{m} - 1 - vj] + {row.name}[vj]"),
        ):
            self._line(depth, text)

        def step(held: Held) -> None:
            x = held[a.name] + 1
            held[made.name] = x + x[:, ::-1]
            if len(x):
                held[row.name] = x[-1]

        self.done(made, step)

    def together(self) -> None:
        """Two stages under common loops, as after compute_at."""
        a = self.source(2)
        n, m = a.shape
        if not isinstance(n, int):
            return
        one, made = self.target(a.shape, a), self.target((n, m), a)
        i, j = f"i{self.count}", f"j{self.count}"
        deep = self.random.random() < 0.5
        self._line(1, f"for {i} in range({n}):")
        depth = 2
        if deep:
            depth = self._line(2, f"for {j} in range({m}):")
        for number, (target, value) in enumerate(
            ((one, f"{a.name}[vi, vj] + {self.number(1, a)}"), (made, f"{one.name}[vi, vj] + {one.name}[vi, vj]"))
        ):
            inner, var = depth, j
            if not deep:
                var = f"{j}_{number}"
                inner = self._line(depth, f"for {var} in range({m}):")
            inner = self._line(inner, f'with T.block("{target.name}"):')
            self._line(inner, f'vi, vj = T.axis.remap("SS", [{i}, {var}])')
            self._line(inner, f"{target.name}[vi, vj] = {value}")

        def step(held: Held) -> None:
            held[one.name] = held[a.name] + 1
            held[made.name] = 2 * held[one.name]

        self.buffers.append(one)
        self.done(made, step)
