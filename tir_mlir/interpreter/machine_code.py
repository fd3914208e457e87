"""`build(..., verify=True)`: machine code against the interpreter, on the same data, with guards around the buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from tir_mlir.build import check_machine_code
from tir_mlir.dialect.diagnostics import BuildError, InterpreterError, NotChecked, NotInterpreted
from tir_mlir.dialect.ir import Block, enter_context, funcs, is_block, walk
from tir_mlir.dialect.ir.op_traits import is_approximate
from tir_mlir.equivalence import inputs
from tir_mlir.equivalence.machine_comparison import TOLERANCES
from tir_mlir.equivalence.random_arguments import as_float
from tir_mlir.equivalence.work import work_of
from tir_mlir.extensions import implement
from tir_mlir.interpreter.interpret import interpret
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, ScalarParam, signatures
from tir_mlir.runtime.library import Library

if TYPE_CHECKING:
    from tir_mlir.dialect.ir import Func
    from tir_mlir.runtime.call.signature import ProgramFunction


MOST_WORK = 1 << 19
"""Iterations up to which a program is interpreted; takes some seconds."""
GUARD, MARK, LINE = 256, 0xA5, 64
"""Bytes on either side of a buffer, what they hold, and where a buffer starts: at a multiple of a cache line."""
WHOLE, ENDS, POSITIVE = "small whole numbers", "the ends of the types", "small positive numbers"
DATA = (WHOLE, ENDS, POSITIVE)
_ENDS = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.5, 1e-3)


@implement(check_machine_code)
def check(library: Library, program: ir.Module) -> None:
    """Run each function of a library and the interpreter on the same data: small whole numbers with -0.0, the ends of
    the types with NaN and infinities, small positive numbers; symbolic sizes take several values. Elements have to be
    equal, and the bytes around each buffer as they were. Requires a program that the interpreter runs.

    Raises BuildError that names the first element, or why nothing was compared.
    """
    with enter_context():
        known = signatures(program)
        facts = {f.name: FunctionTraits.from_function(f) for f in funcs(program) if f.name in known}
    for signature in known.values():
        _check_function(library[signature.name], signature, program, facts[signature.name])


@dataclass(frozen=True)
class FunctionTraits:
    """What decides on the data and on the comparison of a function.

    rounds: it has functions such as exp.
    sums: of floats, in an order that schedules may change.
    has_extrema: a maximum of zeros may have either sign.
    """

    func: Func
    limits: Mapping[int, int]
    rounds: bool
    sums: bool
    has_extrema: bool

    @staticmethod
    def from_function(func: Func) -> FunctionTraits:
        listed = walk.ops(func.op)
        names = {op.name for op in listed}
        reduces = any(is_block(op) and any(i.kind == "R" for i in Block(op).iters) for op in listed)
        floats = any(word in name for name in names for word in ("addf", "mulf", "fma"))
        extrema = any("maximum" in name or "minimum" in name or "maxnum" in name or "minnum" in name for name in names)
        return FunctionTraits(
            func, inputs.index_limits(func), any(map(is_approximate, names)), reduces and floats, extrema
        )


@dataclass(frozen=True)
class MachineArguments(inputs.ArgumentGenerator):
    """A generator of arguments for machine code."""

    def _argument(
        self, number: int, param: BufferParam | ScalarParam, random: np.random.Generator, kind: str, exact: bool
    ) -> inputs.Argument:
        if (isinstance(param, ScalarParam) and param.is_index) or "float" not in param.dtype:
            own = inputs.UNIFORM if kind == ENDS else inputs.SMALL
            value = super()._argument(number, param, random, own, False)
            return value.astype(bool) if isinstance(value, np.ndarray) and param.dtype == "bool" else value
        shape = () if isinstance(param, ScalarParam) else inputs.shape_of(param, self.known)
        values = _floats(shape, param.dtype, random, kind)
        if isinstance(param, ScalarParam):
            return float(values)
        return inputs.laid_out(np.asarray(_cast_to_dtype(values, param.dtype)), param)


def _floats(shape: Sequence[int], dtype: str, random: np.random.Generator, kind: str) -> np.ndarray:
    most = 1 if dtype in ("float16", "bfloat16") else 3  # sums of them are exact for longer
    if kind == POSITIVE:
        return random.integers(1, most + 1, shape).astype(np.float64)
    values = random.integers(-most, most, shape, endpoint=True).astype(np.float64)
    if kind == WHOLE:
        return np.where(random.integers(0, 4, shape) == 0, -0.0, values)
    info = np.finfo(np.float32 if dtype == "bfloat16" else dtype)
    ends = np.array([*_ENDS, float(info.max), -float(info.max), float(info.tiny), float(info.tiny) / 4])
    return np.where(random.integers(0, 3, shape) == 0, random.normal(size=shape), random.choice(ends, shape))


def _cast_to_dtype(values: np.ndarray, dtype: str) -> np.ndarray:
    """Numbers in the type of a parameter; bfloat16 as its bits, cut off."""
    with np.errstate(over="ignore"):
        if dtype == "bfloat16":
            return (values.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return values.astype(dtype)


class Guarded:
    """An array like `array`, between guards."""

    def __init__(self, array: np.ndarray):
        spans = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
        self.size = sum(spans) + array.itemsize if array.size else 0
        memory = np.full(self.size + 2 * GUARD + LINE, MARK, np.uint8)
        start = -memory.ctypes.data % LINE
        self.memory = memory[start : start + self.size + 2 * GUARD]
        self.array = self._view(self.memory, array)
        self.array[...] = array

    def _view(self, memory: np.ndarray, like: np.ndarray) -> np.ndarray:
        own = memory[GUARD : GUARD + self.size].view(np.uint8)
        return np.ndarray(like.shape, like.dtype, own.data, 0, like.strides) if self.size else np.empty_like(like)

    def find_overwritten(self) -> str:
        """Where a byte that is not an element was overwritten; "" if none was."""
        left = self.memory.copy()
        word = np.dtype(f"u{self.array.itemsize}")
        self._view(left, self.array.view(word))[...] = np.frombuffer(bytes([MARK]) * word.itemsize, word)[0]
        positions = np.flatnonzero(left != MARK) - GUARD
        if not positions.size:
            return ""
        first = int(positions[0])
        if first < 0:
            return f"{-first} bytes before its start"
        return (
            f"at byte {first - self.size} behind its end"
            if first >= self.size
            else f"between its rows, at byte {first}"
        )


def _check_function(call: ProgramFunction, signature: CallSignature, module: ir.Module, facts: FunctionTraits) -> None:
    """Compare a function for each of its sizes and each kind of data that the program is defined on."""
    compared, refused = 0, ""
    try:
        choices = [s for s in inputs.size_choices(signature) if work_of(facts.func.op, s) <= MOST_WORK]
    except NotChecked as error:
        raise BuildError(f"verify=True: {error}") from error
    if not choices:
        raise BuildError(
            f"verify=True: {signature.name} is too large to be interpreted; fix: build it with smaller or symbolic "
            "sizes to compare its code, and then without verify"
        )
    for sizes in choices:
        recipe = MachineArguments(signature, sizes, facts.limits)
        for kind in DATA:
            if kind == ENDS and (facts.rounds or facts.sums):
                continue  # what overflows depends on the order
            try:
                expected = _reference_results(module, signature, recipe, kind)
            except NotInterpreted as error:
                raise BuildError(f"verify=True: {error}") from error
            except InterpreterError as error:  # undefined on this data
                refused = str(error)
                continue
            compared += 1
            _compare(call, signature, recipe, kind, expected, facts)
    if not compared:
        raise BuildError(f"verify=True: the interpreter refused all data; the last time: {refused}")


def _reference_results(
    module: ir.Module, signature: CallSignature, recipe: MachineArguments, kind: str
) -> list[inputs.Argument]:
    arguments = recipe.arrays(0, kind, False)
    interpret(module, *arguments, name=signature.name)
    return arguments


def _compare(
    call: ProgramFunction,
    signature: CallSignature,
    recipe: MachineArguments,
    kind: str,
    expected: Sequence[inputs.Argument],
    facts: FunctionTraits,
) -> None:
    arguments = recipe.arrays(0, kind, False)
    guards = [Guarded(a) if isinstance(a, np.ndarray) else None for a in arguments]
    call(*[a if guard is None else guard.array for a, guard in zip(arguments, guards, strict=True)])
    sizes = "".join(f", {name} = {size}" for name, size in recipe.known.items())
    where = f"(data: {kind}{sizes}); the code generator is wrong: please report the program"
    for param, guard, value in zip(signature.params, guards, expected, strict=True):
        if guard is None or not isinstance(param, BufferParam):
            continue
        for index, has, wanted in _differences(param, guard.array, np.asarray(value), facts):
            element = f"{param.name}[{', '.join(map(str, index))}]" if index else param.name
            raise BuildError(
                f"{signature.name}: machine code and interpreter differ: {element} is {has}, and {wanted} by the "
                f"interpreter {where}"
            )
        if position := guard.find_overwritten():
            raise BuildError(f"{signature.name}: machine code writes outside {param.name}, {position} {where}")


def _differences(
    param: BufferParam, array: np.ndarray, wanted: np.ndarray, facts: FunctionTraits
) -> Iterator[tuple[tuple[int, ...], np.generic, np.generic]]:
    """The elements that differ, with both numbers."""
    if "float" not in param.dtype:
        differ, a, b = array != wanted, array, wanted
    else:
        a, b = as_float(array, param.dtype), as_float(wanted, param.dtype)
        differ = (a != b) & ~(np.isnan(a) & np.isnan(b))
        if not (facts.has_extrema or facts.sums or facts.rounds):
            differ |= (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
        if facts.rounds or (facts.sums and param.dtype in ("float16", "bfloat16")):
            finite = np.abs(b[np.isfinite(b)])
            with np.errstate(invalid="ignore"):
                differ &= ~(np.abs(a - b) <= TOLERANCES[param.dtype] * (finite.max() if finite.size else 0.0))
    for position in np.argwhere(differ):
        index = tuple(int(n) for n in position)
        yield index, a[index], b[index]
