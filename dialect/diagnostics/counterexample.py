"""Counterexamples: the iterations, and the element they access, for which a step would change the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Iteration:
    """One iteration of a block (or of a statement): the values of the loops around it, or of its iters."""

    block: str
    values: tuple[tuple[str, int], ...]

    @staticmethod
    def of(block: str, names: Iterable[str], point: Iterable[int]) -> Iteration:
        return Iteration(block, tuple(zip(names, point, strict=False)))

    @property
    def at(self) -> dict[str, int]:
        """The value of each loop or iter."""
        return dict(self.values)

    def __str__(self) -> str:
        return f"{self.block}({', '.join(f'{n}={v}' for n, v in self.values)})"


@dataclass(frozen=True)
class Element:
    """One element of a buffer; an irrelevant dimension is `:`."""

    buffer: str
    indices: tuple[int | str, ...]

    @staticmethod
    def of(buffer: str, indices: Sequence[int | str]) -> Element:
        return Element(buffer, tuple(indices))

    def __str__(self) -> str:
        return f"{self.buffer}[{', '.join(map(str, self.indices))}]"


@dataclass(frozen=True)
class Counterexample:
    """The smallest violating iterations (at most two, in their current order), the element that they access, the sizes
    at which they do, and, as text, the sizes at which there is no violation."""

    iterations: tuple[Iteration, ...] = ()
    element: Element | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    unless: str = ""

    def __str__(self) -> str:
        where = "".join(f" at {n}={v}" for n, v in self.sizes)
        runs = [str(i) for i in self.iterations]
        if runs:
            runs[0] += where
        verb = " touch " if len(runs) > 1 else " touches "
        text = " and ".join(runs) + (f"{verb if runs else ''}{self.element}" if self.element else "")
        return f"{text}{f', unless {self.unless}' if self.unless else ''}"
