"""A function of PyTorch as text: a line for each operator, for torch to trace and for a look with other last bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuzzing.graphs.rounding import FLOATS


@dataclass(frozen=True)
class Line:
    """`text` with {0}, {1} for the operands: an expression, or with `updates` a statement that changes one of them.

    inexact: the result may differ in its last bits; adds: so may a sum of terms, by the last bits of its terms; inside:
    by the last bits of the first operand, whose size its intermediates have (x * (1 + erf(x)) near 0).
    """

    operator: str
    text: str
    operands: Sequence[int]
    inexact: bool = False
    adds: bool = False
    updates: bool = False
    inside: bool = False

    def code(self, number: int, shaking: bool) -> str:
        """The line of value `number`; shaking: with calls of `shake` around what is inexact."""
        terms = [f"shake(v{n})" if shaking and self.adds else f"v{n}" for n in self.operands]
        made = self.text.format(*terms)
        if self.updates:
            return made
        if not shaking or not self.inexact:
            return f"v{number} = {made}"
        return f"v{number} = shake({made}{f', {terms[0]}' if self.inside else ''})"


@dataclass
class Program:
    """Lines that make values v0, v1, ..; the first ones are inputs, clones of x0, .. if `cloned`."""

    count: int
    cloned: bool
    lines: list[Line] = field(default_factory=list)
    results: list[int] = field(default_factory=list)

    def source(self, shaking: bool = False) -> str:
        """The text of `forward(self, x0, ..)`."""
        names = [f"x{n}" for n in range(self.count)]
        body = [f"v{n} = x{n}.clone()" if self.cloned else f"v{n} = x{n}" for n in range(self.count)]
        number = self.count
        for line in self.lines:
            body.append(line.code(number, shaking))
            number += not line.updates
        body.append(f"return {', '.join(f'v{n}' for n in self.results)},")
        return f"def forward(self, {', '.join(names)}):\n" + "".join(f"    {line}\n" for line in body)

    def function(self, shake: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """`forward` itself."""
        import torch

        names: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "shake": shake}
        exec(compile(self.source(shake is not None), "<drawn>", "exec"), names)
        return names["forward"]

    def module(self) -> Any:
        """A torch.nn.Module with this `forward`."""
        import torch

        return type("Drawn", (torch.nn.Module,), {"forward": self.function()})()

    def evaluate(self, inputs: Sequence[Any], seed: int | None = None) -> list[Any]:
        """The results for tensors; seed: with the last bits of inexact results changed at random."""
        shake = None if seed is None else shaker(np.random.default_rng(seed))
        return list(self.function(shake)(None, *(x.clone() for x in inputs)))


def shaker(rng: np.random.Generator) -> Callable[..., Any]:
    """A function that changes the last bit of floats at random; of half of the tensors all in one direction, as sums of
    many terms in another order may add their errors up. Of two tensors, the first by the last bits of the larger."""
    import torch

    def shake(x: Any, inside: Any = None) -> Any:
        name = str(x.dtype).removeprefix("torch.")
        if name not in FLOATS:
            return x
        one = rng.random() < 0.5
        steps = torch.from_numpy(np.asarray(rng.integers(-1, 2, () if one else tuple(x.shape)), "float64"))
        exact = x.double()
        large = exact.abs() if inside is None else torch.maximum(exact.abs(), inside.double().abs().nan_to_num(0, 0, 0))
        return (exact + large.where(large.isfinite(), 0) * steps * 2.0 ** (1 - FLOATS[name])).to(x.dtype)

    return shake
