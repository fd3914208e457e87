"""Stages on unsigned numbers of all magnitudes, which a signed operation would read as negative."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzzing.programs.making import Held, Made, Making

BITS = {"uint8": 8, "uint16": 16, "uint32": 32}
OPERATIONS = {
    "T.max({0}, {1})": np.maximum,
    "T.min({0}, {1})": np.minimum,
    "T.Select({0} > {1}, {0} - {1}, {1} - {0})": lambda x, y: abs(x - y),
    "{0} // T.max({1}, T.{2}(1))": lambda x, y: x // np.maximum(y, 1),
    "{0} % T.max({1}, T.{2}(1))": lambda x, y: x % np.maximum(y, 1),
    "T.shift_right({0}, T.{2}(1))": lambda x, _: x >> 1,
}


class UnsignedStages(Making):
    """Stages with values up to the largest of an unsigned type. No other stage reads their results."""

    def unsigned(self) -> None:
        """Compare, divide or shift; or compare and widen."""
        dtype = self.random.choice(list(BITS))
        shape = (self.size(), self.size()) if self.often(0.5) else (self.size(),)
        a, b = self._full(shape, dtype), self._full(shape, dtype)
        text, meaning = self.random.choice(list(OPERATIONS.items()))
        wide = self.often(0.3)
        made = self.target(shape, a, "int64" if wide else "")
        at = ", ".join(f"v{x}" for x in "ij"[: len(shape)])
        value = text.format(f"{a.name}[{at}]", f"{b.name}[{at}]", dtype)
        value = f'T.Cast("int64", {value})' if wide else value
        axes = [(f"v{x}", "S", s) for x, s in zip("ij", shape, strict=False)]
        self.nest(made.name, axes, [f"{made.name}[{at}] = {value}"])
        self._over(made, lambda held: held.__setitem__(made.name, meaning(held[a.name], held[b.name])))

    def unsigned_largest(self) -> None:
        """The largest or smallest number of each row."""
        dtype = self.random.choice(list(BITS))
        n, m = self.size(), self.size()
        a = self._full((n, m), dtype)
        made = self.target((n,), a)
        most, at = self.often(0.5), f"{made.name}[vi]"
        update = f"T.{'max' if most else 'min'}({at}, {a.name}[vi, vk])"
        init = f'T.{"min" if most else "max"}_value("{dtype}")'
        axes = [("vi", "S", n), ("vk", "R", m)]
        self.nest(made.name, axes, [f"{at} = {update}"], [f"{at} = {init}"])
        self._over(made, lambda h: h.__setitem__(made.name, (np.max if most else np.min)(h[a.name], axis=1)))

    def _full(self, shape: tuple[int | str, ...], dtype: str) -> Made:
        """A parameter with numbers up to the largest of its type, which no other stage reads."""
        made = Made(f"P{len(self.params)}", shape, True, dtype, (0, 1 << BITS[dtype]), full=True)
        self.params.append(made)
        return made

    def _over(self, made: Made, step: Callable[[Held], None]) -> None:
        made.full = True
        self.steps.append(step)
