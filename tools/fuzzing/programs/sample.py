"""Random tensor programs as TVMScript text: chains of stages over small buffers, every one with its NumPy meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from fuzzing.programs.making import Held, Made
from fuzzing.programs.stages import Stages
from fuzzing.programs.wide_stages import WideStages
from fuzzing.tape import parts

# numbers up to here are exact, with some room for what a sum passes through on its way
EXACT = {"float32": 1 << 20, "float16": 1 << 7, "int32": 1 << 27, "int8": 1 << 5}


@dataclass
class Sample:
    """A program: its text, the parameters in order, and what it leaves in them by NumPy; `size` is the value of `n`."""

    text: str
    params: list[Made]
    size: int
    meaning: Callable[[Held], None]
    fits: bool = False

    def arrays(self, seed: int = 0) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        shapes = [[self.size if isinstance(s, str) else s for s in p.shape] for p in self.params]
        return [rng.integers(*p.span, shape).astype(p.dtype) for p, shape in zip(self.params, shapes, strict=True)]

    def expected(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """What the parameters hold in the end; `fits` tells whether machine numbers hold all that is computed."""
        held = {p.name: a.astype(_exact(p.dtype)) for p, a in zip(self.params, arrays, strict=True)}
        self.meaning(held)
        types = {p.name: p.dtype for p in self.params}
        limits = {name: EXACT[types.get(name, self.narrowest)] for name in held}
        self.fits = all(not a.size or abs(a).max() < limits[name] for name, a in held.items())
        return [held[p.name] for p in self.params]

    @property
    def narrowest(self) -> str:
        return min((p.dtype for p in self.params), key=lambda d: EXACT[d])


def _exact(dtype: str) -> type:
    return np.float64 if dtype[0] == "f" else np.int64


@dataclass
class Maker(WideStages, Stages):
    """Strings stages together: what the last ones made are the results."""

    STAGES = (
        "elementwise", "elementwise", "elementwise", "transpose", "flip", "stride", "stencil", "stencil", "padded",
        "reduce", "reduce", "reduce", "matmul", "matmul", "conv", "broadcast", "flatten", "fold", "update", "overwrite",
        "halves", "scan", "scratch", "together", "argmax", "triangle", "below", "mirrored", "frame", "numbered",
        "gathered", "chosen", "twins", "cast", "tiled", "softmax", "scattered", "named", "clipped", "shifted", "rolled",
        "rolled",
    )  # fmt: skip

    def sample(self, stages: int) -> Sample:
        for _ in parts(self.random, "stage", stages):
            getattr(self, self.random.choice(self.STAGES))()
        while not self.allocs:
            getattr(self, self.random.choice(self.STAGES))()
        read = " ".join(self.lines)
        outputs = [b for b in self.allocs if read.count(f"{b.name}[") == 1] or self.allocs[-1:]
        if self.allocs[-1] not in outputs:
            outputs.append(self.allocs[-1])
        if self.often(0.2):
            outputs.append(self.random.choice(self.allocs))
        names = list(dict.fromkeys(o.name for o in outputs if not o.inner))
        params = [*self.params, *[b for b in self.allocs if b.name in names]]
        return self._finished(params, [b for b in self.allocs if b.name not in names])

    def _finished(self, params: list[Made], allocs: list[Made]) -> Sample:
        def shape(made: Made) -> str:
            return "(" + "".join(f"{s}, " for s in made.shape) + ")"

        # a sum over nothing runs no init: not a meaning to keep
        summed = any(".reduce(n," in line for line in self.lines)
        size = self.random.choice([0, 1, 2, 3, 5, 8][summed:]) if self.symbolic else 0
        head = ["@T.prim_func"]
        if self.symbolic and any("n" in p.shape for p in params):
            head.append(f"def main({', '.join(f'h_{p.name}: T.handle' for p in params)}):")
            head.append("    n = T.int32()")
            head += [f'    {p.name} = T.match_buffer(h_{p.name}, {shape(p)}, "{p.dtype}")' for p in params]
        else:
            given = [f'{p.name}: T.Buffer({shape(p)}, "{p.dtype}")' for p in params]
            head.append(f"def main({', '.join(given)}):")
        head += [f'    {b.name} = T.alloc_buffer({shape(b)}, "{b.dtype}")' for b in allocs]
        text = "\n".join([*head, *self.lines])
        steps = self.steps

        def meaning(held: Held) -> None:
            for step in steps:
                step(held)

        return Sample(text, params, size, meaning)


def program(random: Random, most: int = 4) -> Sample:
    """One random program of one to `most` stages."""
    dtype = random.choice(["float32", "float32", "float32", "int32", "int32", "float16", "int8"])
    maker = Maker(random, dtype, random.random() < 0.25)
    return maker.sample(random.choice([1, *range(2, most + 1), *range(2, most + 1)]))
