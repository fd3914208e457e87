"""Run the implementation of an intrinsic and compare it with the description.

`TensorIntrin.register` tries it in the interpreter, `TensorIntrin.check` runs it with its kernel as machine code.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.build import build
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.computation import TensorIntrin, intrinsics
from tir_mlir.dialect.computation.form import SizeParam
from tir_mlir.dialect.computation.scalar_params import size_params
from tir_mlir.dialect.diagnostics import BuildError, InterpreterError, NotChecked, NotInterpreted, UnwrittenError
from tir_mlir.dialect.ir import Buffer, Func, attrs, create, enter_context, funcs, is_block, is_loop, ops, walk
from tir_mlir.dialect.ir.op_traits import DIVISIONS
from tir_mlir.dialect.ir.op_views import CallOp, ConstantOp, isa
from tir_mlir.equivalence.work import work_of
from tir_mlir.extensions import implement
from tir_mlir.interpreter.interpret import interpret
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.runtime.call.signature import BufferParam, ScalarParam, signatures
from tir_mlir.runtime.drivers.clang import create_llvm
from tir_mlir.runtime.drivers.link_kernels import PRAGMA, defined_names, import_llvm
from tir_mlir.runtime.kernels.registry import emit, replaced_kernels
from tir_mlir.runtime.scheduled_programs import built_as_given


@dataclass(frozen=True)
class IntrinsicResult:
    """The result of a check; truthy if no difference was found."""

    name: str
    difference: str | None
    how: str

    def __bool__(self) -> bool:
        return self.difference is None

    def __str__(self) -> str:
        head = "matches its description" if self.difference is None else self.difference
        return f'intrinsic "{self.name}": {head}\nchecked {self.how}'

    __repr__ = __str__


@implement(TensorIntrin.check)
def check_intrinsic(
    name: str, seed: int = 0, kernel: str | None = None, libs: Sequence[str | Path] = ()
) -> IntrinsicResult:
    """Run implementation and description on random data (`check_data`) and compare: integers exactly, floats within the
    rounding error of a sum of that length. Rows are padded if strides are variable, by another number in each operand,
    and the padding must remain unchanged.

    Outputs that the description only writes are filled with NaN first (integers: two runs with different values), so
    that reads of them are detected. kernel: the code of the functions that the implementation calls, instead of the
    registered ones; it may keep state from call to call. libs: shared objects that define them. Raises NotChecked for
    bfloat16, BuildError if the kernel is missing or not that of a function, or if both are given.
    """
    if kernel is not None and libs:
        raise BuildError("TensorIntrin.check takes the code of a kernel or libs that define it, not both")
    intrinsic = TensorIntrin.get(name)
    assert intrinsic is not None
    with enter_context():
        desc, impl = intrinsic.desc_func(), intrinsic.impl_func()
        mine, theirs = (next(iter(signatures(p.module).values())) for p in (impl, desc))
        unread, facts, sizes = only_written(desc.func), facts_of(desc.func.op), size_params(desc.func)
        spaces = [p.attributes.get(attrs.OFFSET_FACTOR, 4) for p in impl.func.params]
        outputs = max((prod(s or 1 for s in p.shape) for p in desc.func.params), default=1)
        length = max(1, work_of(desc.func.op, {}) // max(1, min(outputs, work_of(desc.func.op, {}))))
        modules = impl.module, desc.module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LoweringWarning)  # a built-in kernel is what is asked for here
        with user_kernel(modules[0], kernel) as module:
            real = next(iter(_functions(module, libs).values()))
        meant = next(iter(_functions(modules[1]).values()))
    whose = "with the given kernel, " if kernel else "with the given libraries, " if libs else ""
    never = ", ".join(sorted(unread)) or "-"
    how = f"{whose}on {RUNS} sets of random data, sums of {length} terms; never read: {never}"
    buffers, described = ([p for p in s.params if isinstance(p, BufferParam)] for s in (mine, theirs))
    for run in range(RUNS):
        first = arguments(buffers, spaces, facts, run, seed)
        numbers = scalar_arguments(theirs.params, sizes, facts, run, seed)
        expected = [m.part.copy() for m in first]
        originals = [m.whole.copy() for m in first]
        for number, param in enumerate(described):
            if param.name in unread:
                _poison(first[number].part, run)
                originals[number] = first[number].whole.copy()
        meant(*in_order(theirs.params, expected, numbers))
        real(*in_order(mine.params, [m.part for m in first], numbers))
        if (difference := _difference(described, first, expected, originals, length, unread)) is not None:
            difference += "".join(f", {n} = {v}" for n, v in zip(_names(theirs.params), numbers, strict=True))
            return IntrinsicResult(intrinsic.name, difference, how)
    return IntrinsicResult(intrinsic.name, None, how)


def _functions(module: Any, libs: Sequence[str | Path] = ()) -> dict[str, Any]:
    with built_as_given():  # a description is not a program of the user
        library = build(module, libs=list(libs))
    with enter_context():
        return {name: library[name] for name in signatures(module)}


def only_written(desc: Func) -> set[str]:
    """Parameters that a description stores to and never loads."""
    accessed = accesses(desc.op)
    read = {Buffer(a.buffer).root.name for a in accessed if not a.is_write}
    return {Buffer(a.buffer).root.name for a in accessed if a.is_write} - read


def _poison(part: np.ndarray, run: int) -> None:
    part[...] = np.nan if part.dtype.kind == "f" else (run % 2 if part.dtype == bool else 85 + run)


def _difference(
    buffers: Sequence[BufferParam],
    real: list[ArgumentMemory],
    expected: list[np.ndarray],
    originals: list[np.ndarray],
    length: int,
    unread: set[str],
) -> str | None:
    for param, memory, meant, old in zip(buffers, real, expected, originals, strict=True):
        outside = np.ones(memory.whole.shape, bool)
        outside[tuple(slice(0, n) for n in memory.part.shape)] = False
        if outside.any() and not np.array_equal(memory.whole[outside], old[outside]):
            return f"the implementation writes outside {param.name}"
        if memory.part.dtype.kind == "f":
            scale = max(1.0, float(np.abs(meant).max(initial=0)))
            scale = scale if np.isfinite(scale) else 1.0
            with np.errstate(invalid="ignore"):
                near = np.abs(memory.part - meant) <= 4 * length * np.finfo(memory.part.dtype).eps * scale
            near |= (memory.part == meant) | (np.isnan(memory.part) & np.isnan(meant))
        else:
            near = memory.part == meant
        if near.all():
            continue
        index = tuple(int(i) for i in np.argwhere(~near)[0])
        where = f"{param.name}[{', '.join(map(str, index))}]"
        if param.name in unread and memory.part.dtype.kind == "f" and np.isnan(memory.part[index]):
            return f"{where} is NaN: the implementation reads {param.name}, which it should only write"
        return f"{where} is {memory.part[index]}, the description gives {meant[index]}"
    return None


_TRIAL_ITERATIONS = 1 << 13
"""The iteration limit of a trial (about 20 ms); `TensorIntrin.check` runs longer ones."""


@implement(intrinsics.find_fault)
def find_fault(intrinsic: TensorIntrin) -> str | None:
    """The first difference between implementation and description on small integers, or None.

    Skipped: kernel calls (see `TensorIntrin.check`), ops that the interpreter does not support, long runs.
    """
    with enter_context():
        desc, impl = intrinsic.desc_func(), intrinsic.impl_func()
        if any(isa(op, CallOp) for op in ops(impl.func.op)):
            return None
        if max(work_of(p.func.op, {}) for p in (desc, impl)) > _TRIAL_ITERATIONS:
            return None
        params = [next(iter(signatures(p.module).values())).params for p in (desc, impl)]
        unset = only_written(funcs(desc.module)[0])
        positions = [n for n, p in enumerate(params[0]) if p.name in unset]
        modules, sizes = (desc.module, impl.module), size_params(desc.func)
    shaped = [p for p in params[0] if isinstance(p, BufferParam)]
    if (inputs := _small_integers(shaped)) is None:
        return None
    scalars = scalar_arguments(params[0], sizes, DescriptionFacts((), False), 1, 0)
    outputs = []
    for module, module_params in zip(modules, params, strict=True):
        try:
            report = interpret(
                module,
                *in_order(module_params, [a.copy() for a in inputs], scalars),
                exact=True,
                unset=[module_params[n].name for n in positions],
            )
        except NotInterpreted:
            return None
        except UnwrittenError as error:
            if module is modules[0]:
                return None
            return f"the implementation reads, or fails to write, an output: {error}"
        except InterpreterError as error:
            return None if module is modules[0] else f"the implementation fails: {error}"
        outputs.append(list(report.results.values()))
    return next(filter(None, map(_first_difference, shaped, *outputs)), None)


def _small_integers(shaped: Sequence[BufferParam]) -> list[np.ndarray] | None:
    """Random arguments; None for bfloat16, which NumPy does not support."""
    random = np.random.default_rng(0)
    try:
        return [random.integers(-3, 4, [d.value({}) for d in p.dims]).astype(p.dtype) for p in shaped]
    except TypeError:
        return None


def _first_difference(param: Any, wanted: np.ndarray, result: np.ndarray) -> str | None:
    """The first element of a parameter in which the results differ."""
    for index in np.ndindex(wanted.shape):
        if wanted[index] != result[index]:
            element = f"{param.name}[{', '.join(map(str, index))}]"
            return f"{element} is {result[index]} in the implementation and {wanted[index]} in the description"
    return None


# --- the code of a user for the functions that an intrinsic calls: C, LLVM IR or MLIR, for one build ------------------


_MLIR = re.compile(r"^\s*(module\b|llvm\.func\b)", re.MULTILINE)
_LLVM = re.compile(r"^\s*define\b.*@", re.MULTILINE)


@contextmanager
def user_kernel(module: ir.Module, kernel: str | None) -> Iterator[ir.Module]:
    """Context with a module like `module`, whose build takes the functions that it calls from `kernel`.

    kernel: C or C++ source, LLVM IR, or MLIR in the llvm dialect; text or the path of a file. None: the registered
    kernels. Raises BuildError if it defines none of the functions.
    """
    if kernel is None:
        yield module
        return
    text = _text(kernel)
    if _MLIR.search(text) and not _LLVM.search(text):
        with _registered_kernels(module, text):
            yield module
        return
    code = text if _LLVM.search(text) else create_llvm(kernel)
    with enter_context():
        _check_defined(module, defined_names([import_llvm(code)]))
        module = create.clone_module(module)
        program = funcs(module)[0].op
        holder = next((op for op in ops(program) if is_loop(op) or is_block(op)), program)
        attrs.put(holder, attrs.ANNOTATIONS, {**attrs.get(holder, attrs.ANNOTATIONS, {}), PRAGMA: code})
    yield module


def _text(kernel: str) -> str:
    """The text of a kernel that is given as text or as the path of a file."""
    if "\n" not in kernel.strip() and (path := Path(kernel)).is_file():
        return path.read_text()
    return kernel


@contextmanager
def _registered_kernels(module: ir.Module, text: str) -> Iterator[None]:
    """Context in which the functions of an MLIR text are the registered kernels."""
    with enter_context():
        try:
            parsed = ir.Module.parse(text)
        except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
            raise BuildError(f"the kernel is not valid MLIR: {error}") from None
        names = defined_names([parsed])
        _check_defined(module, names)
    with replaced_kernels(dict.fromkeys(names, partial(emit, text))):
        yield


def _check_defined(module: ir.Module, defined: list[str]) -> None:
    """Refuse a kernel that defines no function which the implementation calls: the check would be of another one."""
    called = {ir.FlatSymbolRefAttr(op.attributes["callee"]).value for f in funcs(module) for op in _calls(f.op)}
    if not called & set(defined):
        raise BuildError(
            f"the kernel defines {', '.join(sorted(defined)) or 'no function'}, and the implementation calls "
            f"{', '.join(sorted(called)) or 'none'}; give the function the name that is called"
        )


def _calls(root: ir.Operation) -> list[ir.Operation]:
    return [op for op in ops(root) if isa(op, CallOp)]


# The data on which an intrinsic is checked: values at ties, at clips and at the ends of types, strides that differ.
#
# A description that rounds and clips maps most random integers to the ends of its range. So part of the data are small
# numbers, numbers of few bits, and numbers around those at which the constants of the description decide.


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


def scalar_arguments(
    params: Sequence[object], sizes: Sequence[SizeParam], facts: DescriptionFacts, run: int, seed: int
) -> list[int | float]:
    """Numbers for the scalar parameters: sizes at both ends of what the description assumes, and between; others as the
    elements of arrays are."""
    random, bounds = np.random.default_rng(seed + run), {p.name: (p.low, p.high) for p in sizes}
    numbers: list[int | float] = []
    for param in params:
        if not isinstance(param, ScalarParam):
            continue
        low, high = bounds.get(param.name, (None, None))
        if low is not None or high is not None:
            least = low if low is not None else (high or 0) - 8
            most = high if high is not None else least + 8
            numbers.append((most, least)[run] if run < 2 else int(random.integers(least, most + 1)))
        else:
            dtype = np.dtype("uint8" if param.is_index else param.dtype)  # calls take no negative index
            numbers.append(random_values(dtype, 1, facts, run, random)[0].item())
    return numbers


def in_order(
    params: Sequence[object], arrays: Sequence[np.ndarray], numbers: Sequence[int | float]
) -> list[np.ndarray | int | float]:
    """The arguments of a function, of which some are numbers."""
    parts: dict[bool, Iterator[np.ndarray | int | float]] = {False: iter(arrays), True: iter(numbers)}
    return [next(parts[isinstance(p, ScalarParam)]) for p in params]


def _names(params: Sequence[object]) -> list[str]:
    return [p.name for p in params if isinstance(p, ScalarParam)]


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
    values = random_values(np.dtype(param.dtype), int(np.prod(size)), facts, run, random).reshape(size)
    return ArgumentMemory(values, values[tuple(slice(0, n) for n in shape)])


def random_values(
    dtype: np.dtype, count: int, facts: DescriptionFacts, run: int, random: np.random.Generator
) -> np.ndarray:
    """Random values of a type: the kind that a run has, of `RUNS`."""
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
