"""How a line of a program is drawn for tensors: what the table of operators is written with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from fuzzing.torch_graphs.program import Line

INTEGERS = ("int64", "int32", "int16", "int8", "uint8")


@dataclass(frozen=True)
class Draw:
    """The random numbers, the values so far, and those of them that a line takes."""

    random: Random
    values: list[Any]
    x: int
    alike: list[int]  # of the type of x

    @property
    def tensor(self) -> Any:
        return self.values[self.x]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def rank(self) -> int:
        return self.tensor.dim()

    @property
    def dtype(self) -> str:
        return str(self.tensor.dtype).removeprefix("torch.")

    @property
    def is_float(self) -> bool:
        return self.tensor.is_floating_point()

    def axis(self) -> int:
        """An axis of x, counted from the front or from the end."""
        axis = self.random.randrange(self.rank)
        return axis if self.random.random() < 0.7 else axis - self.rank

    def other(self) -> int:
        """A value of the type of x, more often one of a shape that fits."""
        fitting = [n for n in self.alike if _fits(self.shape, tuple(self.values[n].shape))]
        return self.random.choice(fitting or self.alike)

    def of(self, dtypes: tuple[str, ...], needed: Callable[[Any], bool] = lambda x: True) -> int | None:
        """A value of one of some types, or None."""
        names = [str(v.dtype).removeprefix("torch.") for v in self.values]
        found = [n for n, v in enumerate(self.values) if names[n] in dtypes and needed(v)]
        return self.random.choice(found) if found else None


Drawer = Callable[[Draw], "Line | None"]


def _fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(reversed(a), reversed(b), strict=False))


def line(
    operator: str, text: str, *operands: int, inexact: bool = False, adds: bool = False, inside: bool = False
) -> Line:
    return Line(operator, text, operands, inexact or adds or inside, adds, inside=inside)
