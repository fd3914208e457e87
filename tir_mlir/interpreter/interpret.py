"""`interpret`: run a program on arrays, in Python. Arguments become memory of the interpreter, results arrays again."""

from __future__ import annotations

import difflib
import itertools
import linecache
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect.computation.matrix_functions import expand_matrix_functions
from tir_mlir.dialect.diagnostics import ArgumentError, NotInterpreted, UnwrittenError, short_repr
from tir_mlir.dialect.ir import (
    Block,
    Func,
    clone_module,
    enter_context,
    freeze_modules,
    funcs,
    held_module,
    is_block,
    llvm_intrinsics,
    walk,
)
from tir_mlir.dialect.verify import structure
from tir_mlir.equivalence.described_kernels import describe_open_calls
from tir_mlir.interpreter.codegen import Options, Shared
from tir_mlir.interpreter.counters import Report
from tir_mlir.interpreter.diagnose import RAISED, Diagnoser, Watch, origin_text
from tir_mlir.interpreter.floats import ROUND
from tir_mlir.interpreter.kinds import array_of, is_float, numbers
from tir_mlir.interpreter.machine_models import MachineModel, Reported, run_instructions
from tir_mlir.interpreter.memory import Memory, View, reinterpret_unsigned, row_major
from tir_mlir.interpreter.ops import block_ops, call_ops, loop_ops, memory_ops, value_ops, vector_ops
from tir_mlir.interpreter.ops.vector_memory import VectorMemory
from tir_mlir.interpreter.poison import POISON, is_poison
from tir_mlir.runtime.call.arrays import PackedArguments, Packer
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, positional_arguments, signatures
from tir_mlir.script.mlir_text import parse_mlir, read_text
from tir_mlir.script.parser import parse
from tir_mlir.script.parser.source import SourceText

if TYPE_CHECKING:
    from tir_mlir.interpreter.codegen import Breakpoint
    from tir_mlir.interpreter.poison import Number, Poison
    from tir_mlir.ptx.program import ProgramReport
    from tir_mlir.target import AnyTarget


HANDLER_MODULES = (block_ops, call_ops, memory_ops, loop_ops, value_ops, vector_ops)
"""Modules that register op handlers."""
_MAX_REGISTERED = 32
_count = itertools.count(1)
_registered_sources: OrderedDict[str, None] = OrderedDict()


def show_source(filename: str, source: str) -> None:
    """Register generated text with linecache, for debuggers and tracebacks."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    _registered_sources[filename] = None
    while len(_registered_sources) > _MAX_REGISTERED:
        linecache.cache.pop(_registered_sources.popitem(last=False)[0], None)


class InterpretedProgram:
    """A compiled function: `call(*views)`; `tally` has its counters."""

    def __init__(self, module: ir.Module, func: Func, options: Options, kernels: Mapping[str, Callable[..., object]]):
        self.filename = f"<{func.name} in Python, {next(_count)}>"
        self.watch = Watch()
        self.scope: dict[str, Any] = {"_POISON": POISON, "_watch": self.watch}
        self.shared = Shared(module, options, self.scope, kernels=kernels)
        self.tally = self.shared.tally
        with freeze_modules():
            name = self.shared.function(func)
            self.shared.write()
        text = self.shared.text
        self.diagnoser = Diagnoser(self.filename, text.owners, self.shared.variables)
        self.diagnoser.strict = options.strict
        self.scope |= {
            "_unwritten": self.diagnoser.poison_unwritten,
            "_lanes": VectorMemory(self.watch, self.diagnoser.poison_unwritten),
        }
        self.scope |= {"_runs": self.tally.runs, "_more": self.tally.more}
        self.source = "\n".join(text.lines) + "\n"
        exec(compile(self.source, self.filename, "exec"), self.scope)
        self.call: Callable[..., object] = self.scope[name]

    def run(self, args: Sequence[object]) -> None:
        """Run the function. Raises InterpreterError with the location."""
        try:
            with np.errstate(all="ignore"):
                self.call(*args)
        except RAISED as error:
            raise self.diagnoser.add_location(error) from None


@overload
def interpret(
    program: object,
    *arrays: object,
    name: str | None = None,
    exact: bool = False,
    strict: bool = False,
    unset: Sequence[str] = (),
    breakpoints: Mapping[str, Breakpoint] | Sequence[str] = (),
    kernels: Mapping[str, Callable[..., object]] | None = None,
    target: None = None,
    machine: None = None,
    **named: object,
) -> Report: ...


@overload
def interpret(
    program: object,
    *arrays: object,
    name: str | None = None,
    exact: bool = False,
    strict: bool = False,
    unset: Sequence[str] = (),
    breakpoints: Mapping[str, Breakpoint] | Sequence[str] = (),
    kernels: Mapping[str, Callable[..., object]] | None = None,
    target: str | AnyTarget,
    machine: None = None,
    **named: object,
) -> ProgramReport: ...


@overload
def interpret(
    program: object,
    *arrays: object,
    name: str | None = None,
    exact: bool = False,
    strict: bool = False,
    unset: Sequence[str] = (),
    breakpoints: Mapping[str, Breakpoint] | Sequence[str] = (),
    kernels: Mapping[str, Callable[..., object]] | None = None,
    target: None = None,
    machine: MachineModel[Reported],
    **named: object,
) -> Reported: ...


def interpret(
    program: object,
    *arrays: object,
    name: str | None = None,
    exact: bool = False,
    strict: bool = False,
    unset: Sequence[str] = (),
    breakpoints: Mapping[str, Breakpoint] | Sequence[str] = (),
    kernels: Mapping[str, Callable[..., object]] | None = None,
    target: str | AnyTarget | None = None,
    machine: MachineModel[Reported] | None = None,
    **named: object,
) -> Report | ProgramReport | Reported:
    """Run a program in Python with every access checked. Results are stored in the arrays; returns the counts.

    `program`: a module, function, Schedule, ir.Module, or text of TVMScript or MLIR, at any stage before the llvm
    dialect; `name`: the function, if there are several. Arguments as for `build`, also by keyword (`named`).
    Arithmetic is that of the types; with `exact=True` that of Python (every float is a float64, integers do not wrap;
    results are rounded at the end).
    Uninitialized values propagate; using one as a condition, bound or index, or leaving one in a parameter, is an
    error; with `strict=True` every read of one is. `unset`: parameters whose elements count as uninitialized.
    `breakpoints`: names of blocks to stop before, or {name: condition over the iters}, besides `breakpoint()` in
    blocks. `kernels`: external functions by name, which take pointers (`p.view(shape, strides)`) and numbers; by
    default a kernel is executed as the description of its intrinsic.
    `target`: a GPU, "cuda", "nvidia/nvidia-a100" or CUDA("sm_80"): the program is built for it, and its kernels run on
    the PTX machine, which checks them thread by thread; returns its counts, as `Library.report` does.
    `machine`: an accelerator, `accel.Machine`: the program is built for it and runs instruction by instruction on its
    model; `breakpoints` are instructions with conditions over the loops around them and their numbers. Returns what
    instructions read and wrote, and the timeline.

    Errors: ArgumentError; PtxError and MachineError for what a machine finds; NotInterpreted for an unsupported op;
    OutOfBoundsError, UnwrittenError, RaceError, AssumptionError, ArithmeticStop with function, block, loop values, and
    the element.
    """
    start = time.perf_counter()
    with enter_context():
        is_built = target is not None or machine is not None
        module = module_of(program, expand=not is_built)
        module = module if is_built else describe_open_calls(module)
        signature = _select_signature(signatures(module), name)
        if machine is not None:
            options = {"exact": exact, "strict": strict, "unset": unset, "kernels": kernels, "target": target}
            ordered = order_arguments(signature, arrays, named)
            return run_instructions(machine, module, signature, ordered, breakpoints, options)
        if target is not None:
            from tir_mlir.interpreter.gpu_kernels import run_kernels  # loads the compiler for GPUs, and their machine

            ordered, options = (
                order_arguments(signature, arrays, named),
                {"exact": exact, "strict": strict, "unset": unset},
            )
            return run_kernels(module, signature, ordered, target, **options, breakpoints=breakpoints, kernels=kernels)
        if unknown := set(unset) - {p.name for p in signature.params}:
            raise ArgumentError(f"{signature.name} has no parameter {', '.join(sorted(unknown))}; it is {signature}")
        arguments = CallArguments(signature, order_arguments(signature, arrays, named), exact, unset)
        points = _breakpoints(module, breakpoints)
        options = Options(exact, strict, aliased=arguments.aliased, breakpoints=points)
        func = next(f for f in funcs(module) if f.name == signature.name)
        compiled = InterpretedProgram(module, func, options, kernels or {})
        names = [p.name for p in func.params]
    report = _run(compiled, arguments, names)
    report.seconds = time.perf_counter() - start
    return report


def _run(compiled: InterpretedProgram, arguments: CallArguments, names: list[str]) -> Report:
    """Run a program, and store its results. Raises UnwrittenError for an element that it leaves unset."""
    name = arguments.signature.name
    show_source(compiled.filename, compiled.source)
    compiled.run(arguments.values)
    if (unwritten := arguments.find_unwritten()) is not None:
        raise _unwritten_error(name, *unwritten)
    arguments.write_back()
    report = Report.from_tally(name, compiled.tally, names)
    if arguments.exact:
        report.results = arguments.buffer_contents()
    return report


def exactly(module: ir.Module, arrays: Sequence[np.ndarray], name: str = "main") -> list[np.ndarray]:
    """Run a function with exact numbers, without counters. Returns the buffers as object arrays, with POISON for
    uninitialized elements. An array that is passed twice is one memory. Faster than `interpret` for many small
    programs. Errors: InterpreterError.
    """
    aliased = len({id(a) for a in arrays}) < len(arrays)
    with enter_context():
        func = next(f for f in funcs(module) if f.name == name)
        compiled = InterpretedProgram(
            module, func, Options(exact=True, counts=False, origins=False, aliased=aliased), {}
        )
    memories = {id(a): Memory("", "", a.reshape(-1).tolist()) for a in arrays}
    views = [View("", memories[id(a)], 0, a.shape, row_major(a.shape)) for a in arrays]
    for view, param in zip(views, func.args, strict=True):
        view.name = view.memory.name = compiled.shared.variables[param]
    compiled.run(views)
    contents = []
    for view, param in zip(views, func.params, strict=True):
        flat, kind = np.empty(len(view.data), object), memory_kind(param.dtype)
        flat[:] = [reinterpret_unsigned(kind, v) for v in view.data]
        contents.append(flat.reshape(view.shape))
    return contents


def _select_signature(candidates: Mapping[str, CallSignature], name: str | None) -> CallSignature:
    if not candidates:
        raise NotInterpreted("the module has no public function with a body")
    if name is None and len(candidates) > 1:
        name = "main"
    if name is None:
        return next(iter(candidates.values()))
    if name not in candidates:
        raise ArgumentError(f"the module has no function {short_repr(name)}; it has {', '.join(candidates)} (name=...)")
    return candidates[name]


def _breakpoints(module: ir.Module, breakpoints: Mapping[str, Breakpoint] | Sequence[str]) -> dict[str, Breakpoint]:
    given = breakpoints if isinstance(breakpoints, Mapping) else dict.fromkeys(breakpoints, True)
    stops: dict[str, Breakpoint] = {**given}
    block_names = {Block(o).name for o in walk.ops(module.operation) if is_block(o)} | {"root"}
    for name in stops:
        if name not in block_names:
            near = difflib.get_close_matches(name, block_names, n=3, cutoff=0.5)
            way = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(block_names))}"
            raise ArgumentError(f'breakpoints: no block "{name}"; {way}')
    return stops


def _unwritten_error(function: str, view: View, index: tuple[int, ...], poison: Poison) -> UnwrittenError:
    element = f"{view.name}[{', '.join(map(str, index))}]"
    words = "is never written" if poison is POISON else f"depends on an uninitialized element{origin_text(poison)}"
    error = UnwrittenError(f"{function}: {element} {words}", view.name, index, view.shape)
    error.function = function
    return error


def module_of(program: object, expand: bool = True) -> ir.Module:
    """A copy of the ir.Module of a module, function, Schedule, or text of TVMScript or MLIR (call inside `entered`).
    expand: for the interpreter, with calls of intrinsics and matrix functions as what they compute."""
    if isinstance(program, str):
        if "T.prim_func" in program or "I.ir_module" in program:
            return module_of(parse(program), expand)
        text, name = read_text(program)
        parsed = parse_mlir(text, SourceText(name, text.splitlines(keepends=True)))
        structure.check(parsed)  # MLIR ends the process on types larger than 64 bits can count
        return _loops(parsed, expand)
    module = held_module(program)
    if module is None:
        kind = type(program).__name__
        raise NotInterpreted(f"interpret takes a module, a function, a Schedule, an ir.Module or text, not {kind}")
    return _loops(clone_module(module), expand)


def _loops(module: ir.Module, expand: bool) -> ir.Module:
    by_name = {op.name: op for op in walk.ops(module.operation)}
    if expand:
        expand_matrix_functions(module)
    if expand and llvm_intrinsics.CALL in by_name:
        for op in walk.ops(module.operation):
            if op.name == llvm_intrinsics.CALL and not llvm_intrinsics.expand(op):
                raise NotInterpreted(f"cannot interpret {llvm_intrinsics.name_of(op)}; run it built")
    if any(name.startswith("linalg.") for name in by_name):
        _only_memrefs(module)
        PassManager.parse("builtin.module(convert-linalg-to-loops)").run(module.operation)
    return module


def _only_memrefs(module: ir.Module) -> None:
    for op in walk.ops(module.operation):
        for value in (*op.operands, *op.results):
            if isinstance(value.type, (ir.RankedTensorType, ir.UnrankedTensorType)):
                raise NotInterpreted(
                    f"{op.name} works on tensors; convert it to memrefs first with tir_mlir.from_linalg"
                )


# --- arguments of a call as memory of the interpreter, and results as arrays ------------------------------------------


OPTIONS = ("name", "exact", "strict", "unset", "breakpoints", "kernels", "target", "machine")
"""The options of `interpret`."""
WIDE = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "i1"}


def memory_kind(dtype: str) -> str:
    """`"float32"` -> `"f32"`, `"int8"` -> `"i8"`, `"uint8"` -> `"u8"`."""
    return WIDE.get(dtype) or dtype[0] + dtype.lstrip("uint")


def kind_of(dtype: str) -> str:
    """`"float32"` -> `"f32"`; `"uint8"` and `"int8"` -> `"i8"`."""
    return WIDE.get(dtype) or "i" + dtype.removeprefix("u").removeprefix("int")


def order_arguments(
    signature: CallSignature, arrays: Sequence[object], named: Mapping[str, object]
) -> Sequence[object]:
    """The arrays of `interpret(program, *arrays, **named)` in the order of the parameters.

    Raises ArgumentError, for a misspelled option as well.
    """
    names = {p.name for p in signature.params}
    for name in named:
        if name not in names and (near := difflib.get_close_matches(name, OPTIONS, 1)):
            raise ArgumentError(f"interpret has no option {name!r} (did you mean {near[0]!r}?)")
    return positional_arguments(signature, arrays, named) if named else arrays


class CallArguments:
    """The arguments of a call: checked as by `lib(...)`, then converted to views and numbers in `values`."""

    def __init__(self, signature: CallSignature, args: Sequence[Any], exact: bool, unset: Sequence[str]):
        self.signature = signature
        self.exact = exact
        self.packed: PackedArguments = Packer(signature).pack(args)
        self.values: list[Any] = list(self.packed.values)
        self.aliased = False
        self._memories: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Memory] = {}
        for slot, array in zip(self.packed.plan, self.packed.arrays, strict=True):
            param = signature.params[slot.index]
            assert isinstance(param, BufferParam)
            self.values[slot.index] = self._view(param, array, slot.tail, param.name in unset)
        for number, param in enumerate(signature.params):
            if not isinstance(param, BufferParam):
                kind = kind_of(param.dtype)
                self.values[number] = ROUND[kind](args[number]) if is_float(kind) and not exact else self.values[number]

    def _view(self, param: BufferParam, array: np.ndarray, tail: Sequence[int], unset: bool) -> View:
        offset, rank = tail[0], array.ndim
        shape, strides = tail[1 : 1 + rank], tail[1 + rank :]
        start = array.__array_interface__["data"][0]
        key = (start, array.shape, array.strides)
        memory = self._memories.get(key) if array.size else None
        if memory is None:
            self._check_no_overlap(param, array)
            memory = Memory(
                param.name, memory_kind(param.dtype), self._data(param, array, offset, shape, strides, unset)
            )
            self._memories[key] = memory
        else:
            self.aliased = True
        return View(param.name, memory, offset, shape, strides)

    def _check_no_overlap(self, param: BufferParam, array: np.ndarray) -> None:
        for (start, shape, strides), earlier in self._memories.items():
            base = array.__array_interface__["data"][0]
            if array.size and start < base + _span(array.shape, array.strides, array.itemsize) and base < start + _span(
                shape, strides, array.itemsize
            ):  # fmt: skip
                raise ArgumentError(
                    f"{self.signature.name}: {param.name!r} and {earlier.name!r} overlap partially in memory; the "
                    "interpreter supports identical or disjoint arrays only; pass a copy of one"
                )

    def _data(
        self,
        param: BufferParam,
        array: np.ndarray,
        offset: int,
        shape: Sequence[int],
        strides: Sequence[int],
        unset: bool,
    ) -> list[Number]:
        kind = kind_of(param.dtype)
        flat = numbers(np.ascontiguousarray(array).reshape(-1), kind)
        if self.exact:
            flat = [v.item() if isinstance(v, np.generic) else v for v in flat]
        if unset:
            flat = [POISON] * len(flat)
        if tuple(strides) == row_major(shape) or not array.size:
            return [*[POISON] * offset, *flat]
        if min(strides) < 0:
            raise ArgumentError(
                f"{self.signature.name}: {param.name!r} has negative strides, {tuple(strides)}; pass a copy"
            )
        data: list[Number] = [POISON] * (offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)))
        for position, value in zip(self._element_offsets(shape, strides, offset), flat, strict=True):
            data[position] = value
        return data

    def _element_offsets(self, shape: Sequence[int], strides: Sequence[int], offset: int) -> list[int]:
        offsets = np.full(tuple(shape), offset, np.int64)
        for d, step in enumerate(strides):
            offsets += (np.arange(shape[d]) * step).reshape([-1 if n == d else 1 for n in range(len(shape))])
        return offsets.reshape(-1).tolist()

    def buffer_contents(self) -> dict[str, np.ndarray]:
        """The contents of each buffer parameter, as object arrays."""
        contents = {}
        for param, view in zip(self.signature.params, self.values, strict=True):
            if isinstance(param, BufferParam):
                flat = np.empty(int(np.prod(view.shape)), object)
                offsets = self._element_offsets(view.shape, view.strides, view.offset)
                flat[:] = [reinterpret_unsigned(view.memory.dtype, view.data[p]) for p in offsets]
                contents[param.name] = flat.reshape(view.shape)
        return contents

    def find_unwritten(self) -> tuple[View, tuple[int, ...], Poison] | None:
        """The first uninitialized element of an output parameter, or None."""
        for param, view in zip(self.signature.params, self.values, strict=True):
            if isinstance(param, BufferParam) and param.written and any(is_poison(v) for v in view.data):
                for index in np.ndindex(view.shape):
                    if is_poison(value := view.data[view.offset_of(index)]):
                        return view, tuple(index), value
        return None

    def write_back(self) -> None:
        """Copy the results back to the arrays."""
        for slot, array in zip(self.packed.plan, self.packed.arrays, strict=True):
            param = self.signature.params[slot.index]
            if slot.written and array.size:
                view = self.values[slot.index]
                values = [view.data[p] for p in self._element_offsets(view.shape, view.strides, view.offset)]
                array[...] = array_of(values, array.dtype, kind_of(param.dtype)).reshape(array.shape)


def _span(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> int:
    return sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if n) + itemsize
