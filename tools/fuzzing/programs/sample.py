"""Random tensor programs as TVMScript: chains of stages over small buffers, each with a NumPy reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from fuzzing.programs.data_stages import DataStages
from fuzzing.programs.families import FAMILIES, MAY_ALIAS, OF_PROGRAMS, SYMBOLIC, UNSIGNED, chosen
from fuzzing.programs.making import LARGEST, Held, Made, Unfit
from fuzzing.programs.ordered_stages import OrderedStages
from fuzzing.programs.partial_stages import PartialStages
from fuzzing.programs.products import Products
from fuzzing.programs.scatter_stages import ScatterStages
from fuzzing.programs.stages import Stages
from fuzzing.programs.typed_products import TypedProducts
from fuzzing.programs.typed_stages import TypedStages
from fuzzing.programs.unsigned_stages import UnsignedStages
from fuzzing.programs.wide_stages import WideStages
from fuzzing.tape import parts

# integers up to here are exact, with headroom for partial sums
EXACT = {
    "float64": 1 << 48, "float32": 1 << 20, "float16": 1 << 7, "bfloat16": 1 << 4,
    "int64": 1 << 48, "int32": 1 << 27, "int16": 1 << 13, "int8": 1 << 5,
    "uint64": 1 << 48, "uint32": 1 << 28, "uint16": 1 << 14, "uint8": 1 << 6, "bool": 2,
}  # fmt: skip
TYPES = (*("float32", "int32") * 3, "float16", "bfloat16", "float64", "int8", "int16", "int64")
UNSIGNED_TYPES = ("uint8", "uint8", "uint16", "uint32", "uint64")


@dataclass
class Sample:
    """A program: its text, its parameters in order, and their final values by NumPy; `size` is the value of `n`.

    `types` are the types of its buffers, `full` the buffers with values up to the largest of their type, `units` what
    the values of its buffers are multiples of, `stages` the names of its stages, `owners` those by block.
    """

    text: str
    params: list[Made]
    size: int
    meaning: Callable[[Held], None]
    stages: list[str] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    full: frozenset[str] = frozenset()
    units: dict[str, float] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    may_alias: bool = False
    fits: bool = False
    negative: bool = False  # an intermediate value, which unsigned types do not represent
    wraps: bool = False  # an integer is outside the range of its type: a cast to it wraps, the reference does not

    def arrays(self, seed: int = 0) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)

        def array(made: Made) -> np.ndarray:
            shape = [self.size if isinstance(s, str) else s for s in made.shape]
            low, high = made.span
            low = max(low, 0) if made.dtype.startswith("uint") else low
            found = (rng.integers(low, high, shape) * made.unit + made.origin).astype(held_as(made.dtype))
            if found.dtype.kind == "f":
                found[(found == 0) & (rng.random(found.shape) < 0.5)] = -0.0
            return np.sort(found) if made.ascending else found

        return [array(p) for p in self.params]

    def expected(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Return the final values of the parameters; `fits` tells whether machine types represent all intermediate
        values."""
        held = {p.name: a.astype(_exact(p.dtype)) for p, a in zip(self.params, arrays, strict=True)}
        self.meaning(held)
        types = {p.name: p.dtype for p in self.params} | self.types
        unsigned = any(p.dtype.startswith("uint") for p in self.params)  # beside int32 tables as well
        self.negative = unsigned and any(a.size and a.min() < 0 for a in held.values())
        self.wraps = any(_outside(a, types[name]) for name, a in held.items() if name in types)
        narrowest = min(types.values(), key=lambda d: EXACT[d])
        limits = {name: EXACT[types.get(name, narrowest)] for name in held}
        checked = {name: a for name, a in held.items() if name not in self.full}
        units = {name: self.units.get(name, 1) for name in checked}
        self.fits = all(not a.size or abs(a).max() < limits[name] * units[name] for name, a in checked.items())
        return [held[p.name] for p in self.params]

    def families(self, block: str = "") -> list[str]:
        """Return the families of the stage that made a block, or of all stages; and those of the program."""
        own = [s for name, s in self.owners.items() if block == name or block.startswith(f"{name}_")]
        found = [family for family, stages in FAMILIES.items() if set(stages) & set(own if block else self.stages)]
        values = {t for t in self.types.values() if t != "int32"}  # tables are int32
        found += [UNSIGNED] * (UNSIGNED not in found and bool(values) and all(t.startswith("uint") for t in values))
        return found + [MAY_ALIAS] * self.may_alias + [SYMBOLIC] * ("    n = T.int32()" in self.text)


def _outside(array: np.ndarray, dtype: str) -> bool:
    """Whether an element of an array is outside the range of an integer type."""
    if not dtype.startswith(("int", "uint")) or not array.size:
        return False
    limits = np.iinfo(dtype)
    return bool(array.min() < limits.min or array.max() > limits.max)


def _exact(dtype: str) -> type:
    return np.int64 if dtype.startswith(("int", "uint", "bool")) else np.float64


def held_as(dtype: str) -> str:
    """Return the NumPy dtype: bfloat16, which NumPy lacks, is held as float32."""
    return "float32" if dtype == "bfloat16" else dtype


@dataclass
class Maker(
    Products,
    TypedProducts,
    TypedStages,
    DataStages,
    ScatterStages,
    UnsignedStages,
    OrderedStages,
    WideStages,
    PartialStages,
    Stages,
):
    """Chains stages; the outputs of the last ones are the results. `wanted`: draw only these stages."""

    STAGES = (
        "elementwise", "elementwise", "elementwise", "transpose", "flip", "stride", "stencil", "stencil", "padded",
        "reduce", "reduce", "reduce", "matmul", "matmul", "conv", "broadcast", "flatten", "fold", "update", "overwrite",
        "halves", "scan", "scratch", "together", "argmax", "triangle", "below", "mirrored", "frame", "numbered",
        "gathered", "chosen", "twins", "cast", "tiled", "softmax", "scattered", "named", "clipped", "shifted", "rolled",
        "rolled", "gemm", "gemm", "gemm", "batched", "window", "window",
        "spared", "spared", "lower", "evens", "picked",
        "running", "planes", "in_turn", "in_turn", "solved",
        "row_scatter", "row_adds", "bound",
        "csr", "csr", "csr_rows", "rounds", "banded", "banded", "halved", "up_to", "masked", "masked", "masked_sum",
        "unsigned", "unsigned_largest", "typed_product", "typed_product",
        "typed_map", "typed_sum", "typed_window", "typed_rows", "typed_attention",
    )  # fmt: skip

    wanted: Sequence[str] = ()
    may_alias: bool = False
    made: list[str] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict)

    def stage(self) -> None:
        """Add a random stage; some fit no existing buffer."""
        name, before = self.random.choice(self.wanted or self.STAGES), len(self.lines)
        getattr(self, name)()
        self.made += [name] * (len(self.lines) > before)
        self.owners |= dict.fromkeys(re.findall(r'T\.block\("(\w+)"\)', "\n".join(self.lines[before:])), name)

    def sample(self, stages: int) -> Sample:
        for _ in parts(self.random, "stage", stages):
            self.stage()
        self.wanted = ()  # which may write parameters only
        while not self.allocs:
            self.stage()
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

        # an empty reduction does not run its init; its result is unspecified
        summed = any(".reduce(n," in line for line in self.lines)
        sizes = [0, 1, 2, 3, 5, 8] * 2 + [15, 16, 17, LARGEST]
        size = self.random.choice(sizes[summed:]) if self.symbolic else 0
        size = size or int(summed and self.symbolic)
        head = ["@T.prim_func"]
        if self.symbolic and any("n" in p.shape for p in params):
            head.append(f"def main({', '.join(f'h_{p.name}: T.handle' for p in params)}):")
            head.append("    n = T.int32()")
            head += [f'    {p.name} = T.match_buffer(h_{p.name}, {shape(p)}, "{p.dtype}")' for p in params]
        else:
            given = [f'{p.name}: T.Buffer({shape(p)}, "{p.dtype}")' for p in params]
            head.append(f"def main({', '.join(given)}):")
        may_alias = self.may_alias or self.often(0.04)
        head += ['    T.func_attr({"tir.noalias": False})'] * may_alias
        head += [f'    {b.name} = T.alloc_buffer({shape(b)}, "{b.dtype}")' for b in allocs]
        text = "\n".join([*head, *self.lines])
        steps = self.steps

        def meaning(held: Held) -> None:
            for step in steps:
                step(held)

        types = {p.name: p.dtype for p in (*params, *allocs)}
        full = frozenset(p.name for p in (*params, *allocs) if p.full)
        units = {p.name: p.unit for p in (*params, *allocs)}
        return Sample(text, params, size, meaning, self.made, types, full, units, self.owners, may_alias)


def program(random: Random, most: int = 4, words: Sequence[str] = ()) -> Sample:
    """Return a random program of one to `most` stages; of stages or families with one of these names, if given."""
    wanted = chosen(Maker.STAGES, [w for w in words if w not in OF_PROGRAMS])
    dtype = random.choice(TYPES)
    if random.random() < 0.15 and (found := _unsigned(random, most, wanted, SYMBOLIC in words)) is not None:
        return found
    symbolic = random.random() < 0.25 or SYMBOLIC in words
    for _ in range(8):
        maker = Maker(random, dtype, symbolic, wanted=wanted, may_alias=MAY_ALIAS in words)
        sample = maker.sample(random.choice([1, *range(2, most + 1), *range(2, most + 1)]))
        if "typed" not in sample.families():
            break
        sample.expected(sample.arrays())
        if not sample.wraps:
            break
    return sample


def _unsigned(random: Random, most: int, wanted: Sequence[str], symbolic: bool) -> Sample | None:
    """Return a program on unsigned integers without negative intermediate values; None if no draw is one."""
    for _ in range(8):
        try:
            dtype = random.choice(UNSIGNED_TYPES)
            maker = Maker(random, dtype, random.random() < 0.25 or symbolic, wanted=wanted)
            sample = maker.sample(random.choice([1, *range(2, most + 1)]))
        except Unfit:
            continue
        sample.expected(sample.arrays())
        if sample.fits and not sample.negative:
            return sample
    return None
