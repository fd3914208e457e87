"""Stages that multiply and sum: matrix products with transposed operands, batches and mixed types; convolutions."""

from __future__ import annotations

import numpy as np

from fuzzing.programs.making import LARGEST, MOST, Held, Making
from fuzzing.programs.wide_stages import WIDE

TILES = (1, 3, 4, 8, 15, 16, 17)


class Products(Making):
    """Stages like gemm and convolution."""

    def gemm(self) -> None:
        """C = A B with each of the three possibly transposed; occasionally with a wider accumulator or a bias."""
        a = self.source(2)
        turned = [self.often(0.4) for _ in range(3)]
        rows, depth = a.shape[::-1] if turned[0] else a.shape
        if not isinstance(depth, int):
            return
        columns = self.random.choice(TILES)
        if depth * columns * (LARGEST if isinstance(rows, str) else rows) > MOST:
            return
        b = self.given((columns, depth) if turned[1] else (depth, columns), a)
        wide = WIDE.get(a.dtype, "") if self.often(0.4) else ""
        shape = (columns, rows) if turned[2] else (rows, columns)
        made = self.target(shape, a, wide)
        bias = self.given((columns,), made) if self.often(0.2) else None
        at = f"{made.name}[{'vj, vi' if turned[2] else 'vi, vj'}]"
        factors = (
            f"{a.name}[{'vk, vi' if turned[0] else 'vi, vk'}]",
            f"{b.name}[{'vj, vk' if turned[1] else 'vk, vj'}]",
        )
        product = " * ".join(f'T.Cast("{wide}", {f})' if wide else f for f in factors)
        start = f"{bias.name}[vj]" if bias else self.number(0, made)
        axes = [("vi", "S", rows), ("vj", "S", columns), ("vk", "R", depth)]
        self.nest(made.name, axes, [f"{at} = {at} + {product}"], [f"{at} = {start}"])

        def step(held: Held) -> None:
            x = held[a.name].T if turned[0] else held[a.name]
            y = held[b.name].T if turned[1] else held[b.name]
            found = x @ y + (held[bias.name] if bias else 0)
            held[made.name] = found.T if turned[2] else found

        self.done(made, step)

    def batched(self) -> None:
        """A batched matrix product."""
        batch, n, m, k = (self.random.choice((1, 2, 3, 4, 5)) for _ in range(4))
        a, b = self.param((batch, n, k)), self.param((batch, k, m))
        made = self.target((batch, n, m), a)
        at = f"{made.name}[vb, vi, vj]"
        axes = [("vb", "S", batch), ("vi", "S", n), ("vj", "S", m), ("vk", "R", k)]
        update = f"{at} = {at} + {a.name}[vb, vi, vk] * {b.name}[vb, vk, vj]"
        self.nest(made.name, axes, [update], [f"{at} = {self.number(0, a)}"])
        self.done(made, lambda held: held.__setitem__(made.name, held[a.name] @ held[b.name]))

    def window(self) -> None:
        """A 2-D convolution, occasionally strided."""
        a = self.source(2)
        n, m = a.shape
        high, wide, stride = self.random.choice((1, 2, 3)), self.random.choice((1, 2, 3)), self.random.choice((1, 1, 2))
        if not isinstance(n, int) or not isinstance(m, int) or n < high or m < wide or n * m * high * wide > MOST:
            return
        w = self.given((high, wide), a)
        rows, columns = (n - high) // stride + 1, (m - wide) // stride + 1
        made = self.target((rows, columns), a)
        at = f"{made.name}[vi, vj]"
        vi, vj = (v if stride == 1 else f"{v} * {stride}" for v in ("vi", "vj"))
        axes = [("vi", "S", rows), ("vj", "S", columns), ("vr", "R", high), ("vs", "R", wide)]
        update = f"{at} = {at} + {a.name}[{vi} + vr, {vj} + vs] * {w.name}[vr, vs]"
        self.nest(made.name, axes, [update], [f"{at} = {self.number(0, a)}"])

        def step(held: Held) -> None:
            seen = np.lib.stride_tricks.sliding_window_view(held[a.name], (high, wide))[::stride, ::stride]
            held[made.name] = np.einsum("ijrs,rs->ij", seen, held[w.name])

        self.done(made, step)
