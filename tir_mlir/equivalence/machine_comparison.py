"""`Schedule.verify(target="cuda")`: the kernels of the scheduled program, on the PTX machine, against the original.

The original runs on the CPU, one iteration after the other. Data is exact: integers of all values where the program has
integers only, else floats that are small integers, whose sums and products no order of evaluation rounds. A program
with functions that round, such as `exp`, is compared within a tolerance; the result says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import NotChecked, short_repr
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ir.op_traits import is_approximate
from tir_mlir.equivalence import inputs
from tir_mlir.equivalence.compare import Comparison, Pair
from tir_mlir.equivalence.result import Difference, Result
from tir_mlir.errors import PtxError
from tir_mlir.ptx.program import run
from tir_mlir.runtime import scheduled_programs
from tir_mlir.runtime.call.signature import BufferParam, ScalarParam
from tir_mlir.target import CUDA, ptx_target

if TYPE_CHECKING:
    from tir_mlir.runtime.call.signature import ProgramFunction
    from tir_mlir.target import AnyTarget


FULL_WORK, TRIED_WORK = 1 << 23, 1 << 27
"""As for the check over the field, see `verify_schedule`: a machine in NumPy takes longer."""
TOLERANCES = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "float64": 1e-6}
"""Of approximate results, relative to the largest element: `exp` of a GPU and of a CPU, or sums of 16-bit floats in
another order, differ by a few bits."""


def gpu_of(target: str | AnyTarget) -> CUDA:
    """The GPU of the argument of `verify`. Raises NotChecked for another target."""
    gpu = ptx_target(target)
    if gpu is None:
        raise NotChecked(
            f'verify(target=...) runs kernels of a GPU, "cuda" or CUDA("sm_80"), not {short_repr(target)}; fix: '
            "without target, programs are compared over a prime field"
        )
    return gpu


class MachineComparison(Comparison):
    """A function of the original, run on the CPU, and its counterpart, run by the PTX machine."""

    def __init__(
        self,
        pair: Pair,
        original: ir.Module,
        scheduled: ir.Module,
        seed: int,
        result: Result,
        moves: Mapping[tuple[str, str], IndexMap],
        gpu: CUDA,
    ):
        super().__init__(pair, original, scheduled, seed, result, moves)
        self.gpu = gpu
        operations = [op.name for module in self.modules for op in walk.ops(module.operation)]
        self.is_approximate = any(map(is_approximate, operations))
        self.has_floats = any("f16" in t or "f32" in t or "f64" in t for t in self.texts)
        result.domain = f"{self._domain()}, by the kernels for {gpu.chip} on the PTX machine"

    def _domain(self) -> str:
        if not self.has_floats:
            return "on integers of all values"
        small = "on small integers, which floats hold exactly"
        return f"{small}, within a tolerance, as it has functions that round" if self.is_approximate else small

    def _values(self) -> Difference | None:
        token = scheduled_programs.FINDER.set(None)  # the modules as they are
        try:
            original, kernels = build(self.modules[0]), build(self.modules[1], target=self.gpu)
        finally:
            scheduled_programs.FINDER.reset(token)
        functions = original[self.signatures[0].name], kernels[self.signatures[1].name]
        limits = inputs.index_limits(self.funcs[0])
        for sizes in inputs.size_choices(self.signatures[0]):
            recipe = ExactArguments(self.signatures[0], sizes, limits, self.is_approximate)
            self.result.sizes.append(self._sizes(sizes))
            self.result.data_sets = self.result.orders = 1
            self.result.runs += 1
            if (difference := self._find_difference(functions, recipe)) is not None:
                return difference
        return None

    def _find_difference(
        self, functions: tuple[ProgramFunction, ProgramFunction], recipe: ExactArguments
    ) -> Difference | None:
        kind = inputs.SMALL if self.has_floats else inputs.UNIFORM
        expected, arrays = (recipe.arrays(self.seed, kind, exact=False) for _ in range(2))
        functions[0](*expected)
        moved = self._convert_layouts(arrays, recipe)
        try:
            run(functions[1], moved)
        except PtxError as error:
            return Difference(self.name, recipe.known, f"{self.name}{self._sizes_suffix(recipe)}: {error}")
        results = self._restore_layouts(moved, arrays, recipe)
        for number, param in enumerate(self.signatures[0].params):
            if isinstance(param, BufferParam):
                sides = np.asarray(expected[number]), np.asarray(results[number])
                index = self._differs(param, *sides)
                if index is not None:
                    return self._element(param, index, *sides, recipe)
        return None

    def _sizes_suffix(self, recipe: inputs.ArgumentGenerator) -> str:
        return f" at {self._sizes(recipe.known)}" if recipe.known else ""

    def _differs(self, param: BufferParam, expected: np.ndarray, result: np.ndarray) -> tuple[int, ...] | None:
        """The index of the first element that differs."""
        a, b = numbers(param.dtype, expected), numbers(param.dtype, result)
        differ = (a != b) & ~(_is_nan(a) & _is_nan(b))
        if self.is_approximate and param.dtype in TOLERANCES:
            with np.errstate(invalid="ignore"):
                finite = np.abs(a[np.isfinite(a)])
                allowed = TOLERANCES[param.dtype] * (finite.max() if finite.size else 0.0)
                differ &= ~(np.abs(a - b) <= allowed)
        return tuple(int(n) for n in np.argwhere(differ)[0]) if differ.any() else None

    def _element(
        self,
        param: BufferParam,
        index: tuple[int, ...],
        expected: np.ndarray,
        result: np.ndarray,
        recipe: inputs.ArgumentGenerator,
    ) -> Difference:
        a, b = (numbers(param.dtype, values)[index] for values in (expected, result))
        element = f"{param.name}[{', '.join(map(str, index))}]" if index else param.name
        text = f"{self.name}{self._sizes_suffix(recipe)}: {element} differs: the original has {a}, the kernels {b}"
        return Difference(self.name, recipe.known, text, param.name, index)


@dataclass(frozen=True)
class ExactArguments(inputs.ArgumentGenerator):
    """A generator of arguments whose floats are small integers; `positive`: from 1 on, for functions such as `log`."""

    positive: bool = False

    def _argument(
        self, number: int, param: BufferParam | ScalarParam, random: np.random.Generator, kind: str, exact: bool
    ) -> inputs.Argument:
        is_size = isinstance(param, ScalarParam) and param.is_index
        if isinstance(param, BufferParam) and param.dtype == "bool":  # calls take no bytes for them
            return inputs.laid_out(random.random(inputs.shape_of(param, self.known)) < 0.5, param)
        if is_size or not param.dtype.startswith(("float", "bfloat")):
            return super()._argument(number, param, random, kind, exact)
        most = 1 if param.dtype in ("float16", "bfloat16") else 3  # sums of them are exact for longer
        low, high = (1, most + 1) if self.positive else (-most, most)
        if isinstance(param, ScalarParam):
            return float(random.integers(low, high, endpoint=True))
        values = random.integers(low, high, inputs.shape_of(param, self.known), endpoint=True).astype(np.float64)
        return inputs.laid_out(np.asarray(cast_to_dtype(param.dtype, values)), param)


def cast_to_dtype(dtype: str, values: np.ndarray) -> np.ndarray:
    """Numbers as elements of a type; bfloat16 as its bits in uint16. They are small integers."""
    if dtype == "bfloat16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(dtype)


def numbers(dtype: str, values: np.ndarray) -> np.ndarray:
    """The numbers that elements of a type have."""
    if dtype == "bfloat16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values


def _is_nan(values: np.ndarray) -> np.ndarray:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
