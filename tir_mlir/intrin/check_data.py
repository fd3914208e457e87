"""The data on which an intrinsic is checked: values at ties, at clips and at the ends of types, strides that differ.

A description that rounds and clips maps most random integers to the ends of its range. So part of the data are small
numbers, numbers of few bits, and numbers around those at which the constants of the description decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ir.op_traits import DIVISIONS
from tir_mlir.dialect.ir.op_views import ConstantOp, isa

RUNS = 4
"""Sets of data: uniform, small numbers, numbers of few bits, numbers at which the description decides."""
_MOST_CONSTANTS = 16


@dataclass(frozen=True)
class ArgumentMemory:
    """An argument: the allocated memory, and the part of it that is passed."""

    whole: np.ndarray
    part: np.ndarray


@dataclass(frozen=True)
class DescriptionFacts:
    """What the data depend on: the constants of a description, and whether it divides by integers."""

    constants: tuple[float, ...]
    divides: bool


def facts_of(desc: ir.Operation) -> DescriptionFacts:
    """The facts of a description."""
    constants: dict[float, None] = {}
    divides = False
    for op in walk.ops(desc):
        divides |= op.name in DIVISIONS
        if isa(op, ConstantOp) and isinstance(value := op.attributes["value"], (ir.FloatAttr, ir.IntegerAttr)):
            constants[float(value.value)] = None
    finite = [c for c in constants if np.isfinite(c)]
    return DescriptionFacts(tuple(finite[:_MOST_CONSTANTS]), divides)


def arguments(
    params: Sequence[Any], spaces: Sequence[int], facts: DescriptionFacts, run: int, seed: int
) -> list[ArgumentMemory]:
    """Random arrays for the parameters of an implementation, of the kind of a run. Rows of variable stride are padded
    by multiples of `spaces`, such that no two parameters have the same stride. Raises NotChecked for bfloat16."""
    random = np.random.default_rng(seed + run)
    taken: set[int] = set()
    return [_memory(p, space, facts, run, random, taken) for p, space in zip(params, spaces, strict=True)]


def _memory(
    param: Any, space: int, facts: DescriptionFacts, run: int, random: np.random.Generator, taken: set[int]
) -> ArgumentMemory:
    if param.dtype == "bfloat16":
        raise NotChecked("an intrinsic on bfloat16: NumPy does not support the type")
    shape = [d.value({}) for d in param.dims]
    strides = param.strides or tuple([0] * len(shape))
    size, space = list(shape), max(1, space)
    for dim in range(len(shape) - 1, 0, -1):
        if strides[dim - 1] is None:
            size[dim] += space
            while int(np.prod(size[dim:])) in taken:
                size[dim] += space
            taken.add(int(np.prod(size[dim:])))
    values = _values(np.dtype(param.dtype), int(np.prod(size)), facts, run, random).reshape(size)
    return ArgumentMemory(values, values[tuple(slice(0, n) for n in shape)])


def _values(dtype: np.dtype, count: int, facts: DescriptionFacts, run: int, random: np.random.Generator) -> np.ndarray:
    """Values of a type: the kind that a run has."""
    if dtype.kind == "b":
        return random.integers(0, 2, count).astype(bool)
    if dtype.kind == "f":
        most = float(np.finfo(dtype).max)
        return np.clip(_floats(count, facts, run, random), -most, most).astype(dtype)
    values = _integers(dtype, count, facts, run, random)
    if facts.divides:
        values[values == 0] = 1
    return values


def _floats(count: int, facts: DescriptionFacts, run: int, random: np.random.Generator) -> np.ndarray:
    uniform = random.uniform(-1, 1, count)
    if run == 0:
        return uniform
    if run == 1:  # ties of rounding, and zeros of both signs
        return random.integers(-8, 9, count) / 2 * random.choice((-1.0, 1.0), count)
    if run == 2:
        return uniform * np.exp2(random.integers(-6, 7, count))
    return _mix_in_points(deciding(facts), uniform, random)


def _integers(
    dtype: np.dtype, count: int, facts: DescriptionFacts, run: int, random: np.random.Generator
) -> np.ndarray:
    info = np.iinfo(dtype)
    uniform = random.integers(info.min, info.max, count, dtype, endpoint=True)
    if run == 0:
        return uniform
    if run == 1:
        return np.clip(random.integers(-4, 5, count), info.min, info.max).astype(dtype)
    if run == 2:  # m * 2**e: of all magnitudes, and half way between multiples of powers of two
        bits = random.integers(0, info.bits - 1, count)
        powers = random.integers(-7, 8, count).astype(np.float64) * np.exp2(bits)
        return _clip_to_integers(powers, info, uniform)
    near = [value + step for value in deciding(facts) for step in (-1.0, 0.0, 1.0)]
    return _clip_to_integers(
        _mix_in_points([*near, float(info.min), float(info.max)], uniform.astype(np.float64), random), info, uniform
    )


def _clip_to_integers(values: np.ndarray, info: np.iinfo, otherwise: np.ndarray) -> np.ndarray:
    """Values as integers of a type, its ends for those beyond; `otherwise` gives the type."""
    inside = np.clip(np.rint(values), float(info.min), float(info.max))
    whole = np.where(inside >= float(info.max), info.max, 0).astype(otherwise.dtype)
    below = inside < float(info.max)
    whole[below] = inside[below].astype(otherwise.dtype)
    return whole


def _mix_in_points(points: Sequence[float], uniform: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Half of the values at the points, the others at 0 or uniform."""
    chosen = random.choice([*points, 0.0], uniform.shape)
    return np.where(random.random(uniform.shape) < 0.5, chosen, uniform)


def deciding(facts: DescriptionFacts) -> list[float]:
    """Numbers at which the constants of a description decide: each, half a unit next to it, and the same before it is
    multiplied or divided by another one.

    `clip(round(x * 2**-9), 0, 127)`: 127, 127.5, 65024 = 127 / 2**-9, 65280, 256 = 0.5 / 2**-9, ...
    """
    ends = [c + half for c in (0.0, *facts.constants) for half in (-0.5, 0.0, 0.5)]
    scaled = [a / b for a in ends for b in facts.constants if b and abs(b) != 1]
    products = [a * b for a, b in permutations(facts.constants, 2)]
    return [float(x) for x in dict.fromkeys((*ends, *scaled, *products)) if np.isfinite(x)]
