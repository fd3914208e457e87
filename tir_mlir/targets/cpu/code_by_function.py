"""Code by function: the functions that a host function calls are compiled and cached in modules of their own, by their
content, and found again in every program that calls them."""

from __future__ import annotations

import dataclasses
import functools
import json
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.calls import function_name
from tir_mlir.dialect.calls.function_texts import callees_in, function_text, module_of
from tir_mlir.dialect.diagnostics import BuildError, InternalError, LoweringError
from tir_mlir.dialect.ir import attrs, clone_module, create, direct_ops, enter_context, funcs, walk
from tir_mlir.dialect.ir.op_views import CallOp, FuncOp, isa
from tir_mlir.passes.lower.direct.code import direct_code
from tir_mlir.passes.lower.direct.nests import VectorRegisters
from tir_mlir.passes.lower.direct.text import NotDirect
from tir_mlir.passes.lower.registry import warn
from tir_mlir.runtime.cache import fingerprint, running_builds, store
from tir_mlir.runtime.drivers import jit, program_key, shared_libraries
from tir_mlir.runtime.drivers.compiled_code import LoweredProgram
from tir_mlir.runtime.kernels import registry
from tir_mlir.runtime.llvm import object_code
from tir_mlir.runtime.workers import Task, run
from tir_mlir.target import Target, host, native
from tir_mlir.target.work_cost import least_stream
from tir_mlir.targets.cpu.lowering import LOWERED, llvm_target, lowering_stages
from tir_mlir.targets.stages import BuildOptions, Compilation

PREFIX = "unit."
_HERE = "unit.of.this.text"


@dataclass(frozen=True)
class Unit:
    """A function in a module of its own.

    symbol: its name there, by its content.
    text: the module.
    name: what the program calls it.
    externals: the functions without a body that it calls.
    """

    symbol: str
    text: str
    name: str
    externals: tuple[str, ...] = ()


def divide(module: ir.Module) -> list[Unit]:
    """Move the private programs that host functions, which are public, call into modules of their own.

        func.func private @tir.dense(%x: memref<..>) {..}            func.func private @unit.5d41(memref<..>)
        func.func private @tir.dense_1(%x: memref<..>) {..}    ->    func.func @main(..) {
        func.func @main(..) {                                          call @unit.5d41(%x)
          call @tir.dense(%x); call @tir.dense_1(%y)                   call @unit.5d41(%y)
        }                                                            }

    Equal functions, but for names of their own and ids, are one unit. The module is modified. What else the units call,
    private functions and declarations, goes with them.
    """
    functions = {attrs.get(op, "sym_name"): op for op in direct_ops(module.operation) if isa(op, FuncOp)}
    hosts = [op for op in functions.values() if not _is_private(op)]
    calls = [op for host in hosts for op in walk.ops(host) if isa(op, CallOp)]
    called = dict.fromkeys(name for call in calls if _is_program(functions.get(name := _callee(call))))
    units = {name: _unit(name, functions) for name in called}
    for call in calls:
        if (unit := units.get(_callee(call))) is not None:
            call.attributes["callee"] = ir.FlatSymbolRefAttr.get(unit.symbol)
    _declare(module, {unit.symbol: functions[name] for name, unit in units.items()})
    kept_names = {_callee(call) for call in calls}
    for name, op in functions.items():
        if _is_private(op) and name not in kept_names:
            op.erase()
    firsts: dict[str, Unit] = {}
    for unit in units.values():
        firsts.setdefault(unit.symbol, unit)
    return list(firsts.values())


def _is_private(op: ir.Operation) -> bool:
    return attrs.get(op, "sym_visibility", "public") == "private"


def _is_program(op: ir.Operation | None) -> bool:
    """Whether a function is private, and a program with a body."""
    return op is not None and _is_private(op) and attrs.ID in op.attributes and len(op.regions[0].blocks) > 0


def _callee(call: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def _unit(name: str, functions: dict[str, ir.Operation]) -> Unit:
    """The unit of a function, with all that it calls."""
    op = functions[name]
    _rename(op, _HERE)
    op.attributes[attrs.UNIT] = ir.UnitAttr.get()
    texts: dict[str, str] = {}
    for function in (order := [name]):
        texts[function] = function_text(functions[function])
        order += [c for c in callees_in(texts[function]) if c in functions and c not in order]
    content = module_of(texts.values())
    symbol = PREFIX + store.digest(content)
    externals = tuple(callee for callee in order if not len(functions[callee].regions[0].blocks))
    return Unit(symbol, content.replace(_HERE, symbol), name, externals)


def _rename(op: ir.Operation, symbol: str) -> None:
    op.attributes["sym_name"] = ir.StringAttr.get(symbol)
    facts = attrs.get(op, attrs.ATTRS, {})
    if "global_symbol" in facts:
        attrs.put(op, attrs.ATTRS, {**facts, "global_symbol": symbol})


def _declare(module: ir.Module, units: dict[str, ir.Operation]) -> None:
    """Declare units, of which these are functions."""
    with ir.InsertionPoint.at_block_begin(module.body):
        for symbol, op in units.items():
            types = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).inputs
            create.declare(symbol, types).attributes[attrs.UNIT] = ir.UnitAttr.get()


KIND = "code"


def task(unit: Unit, libs: Sequence[str], wanted: Target) -> Task:
    """The task that compiles a unit to the bytes of a `Compiled`. libs: paths of shared objects that it may call.
    wanted: the CPU that it is for."""
    own_libs = list(libs) if unit.externals else []
    kernels = {symbol: text for symbol in unit.externals if (text := kernel_registration(symbol)) is not None}
    cpu = wanted.as_json() if wanted.triple else None  # None: this machine
    head = {"symbol": unit.symbol, "name": unit.name, "libs": own_libs, "kernels": kernels, "cpu": cpu}
    source = unit.text if cpu is None else f"{json.dumps(cpu)}\n{unit.text}"
    key, label = program_key.program_key(source, unit.externals, own_libs), function_name(unit.name)
    return Task(f"{__name__}:compile_unit", json.dumps(head).encode() + b"\n" + unit.text.encode(), KIND, key, label)


def support_code(payload: bytes) -> bytes:
    """The object file of the functions that code of units may call; a task without arguments."""
    return jit.support_code()


def support_task() -> Task:
    """The task that compiles it, once a machine."""
    key = program_key.program_key("support.c and half.c", (), ())
    return Task(f"{__name__}:support_code", b"", KIND, key, "support.c")


def kernel_registration(symbol: str) -> list[object] | None:
    """What workers do not know of a registered kernel: its code, the CPU features that this needs, whether it stands in
    for one of the program's author. None if none is registered."""
    builder = registry.find_kernel(symbol)
    if builder is None:
        return None
    return [program_key.kernel_code(builder, symbol), list(registry.needed_by(symbol)), registry.stands_in(symbol)]


def compile_unit(payload: bytes) -> bytes:
    """Lower and compile a unit. Errors name the function as the program does."""
    line, _, text = payload.partition(b"\n")
    head = json.loads(line)
    builders = {symbol: functools.partial(registry.emit, code) for symbol, (code, _, _) in head["kernels"].items()}
    facts = {symbol: (needs, stands_in) for symbol, (_, needs, stands_in) in head["kernels"].items()}
    with enter_context(), registry.replaced_kernels(builders, facts), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # recorded: the build tells them
        try:
            cpu = native() if head["cpu"] is None else Target.from_json(head["cpu"])
            return _compile_text(text.decode(), head["symbol"], head["libs"], cpu).to_bytes()
        except (BuildError, LoweringError) as error:
            raise type(error)(str(error).replace(head["symbol"], head["name"])) from error


def _compile_text(text: str, symbol: str, libs: Sequence[str], wanted: Target) -> jit.Compiled:
    if f"{attrs.DIRECT} = " in text:
        return _compiled_directly(text, symbol, wanted)
    options = BuildOptions(target=wanted, libs=libs)
    compilation = Compilation(program=ir.Module.parse(text), source=text, signatures=(), options=options)
    compilation.run(lowering_stages())
    program: LoweredProgram = compilation.values[LOWERED]
    needed = jit.needed_libraries(program.module, libs, program.kernels)
    passes = object_code.LIGHT_PASSES if f"{attrs.LIGHT} = true" in text else object_code.OPTIMIZE
    return jit.compile_unit(program, symbol, needed, lambda _: nullcontext(), llvm_target(wanted), passes)


def _compiled_directly(text: str, symbol: str, wanted: Target) -> jit.Compiled:
    """Compile a module of one function without passes of MLIR. wanted: the CPU that it is for."""
    module = ir.Module.parse(text)
    (func,) = (func for func in funcs(module) if func.name == symbol)
    cpu = wanted if wanted.triple else host()
    registers = VectorRegisters.from_vector_registers(cpu.vector_bits, cpu.registers)
    try:
        threads = attrs.get(func.op, attrs.DIRECT)
        code = direct_code(func, symbol, threads, registers, least_stream(threads))
    except NotDirect as error:  # it was asked before the function got its attribute
        raise InternalError(f"{symbol} cannot be written directly: {error}") from error
    data = object_code.compile_text(code.text, object_code.DIRECT_PASSES, llvm_target(wanted))
    libs = [shared_libraries.openmp()] if code.threads else []
    return jit.Compiled(data, [len(data)], libs, False, [], code.scratch)


def compile_by_function(compilation: Compilation) -> jit.Compiled:
    """The code of a program: of each function that a host function calls from the cache or by workers, and of the host
    functions. The work of a stage. Errors: BuildError, LoweringError."""
    timing, options, cpu = compilation.timing, compilation.options, compilation.options.compiled_for.as_cpu()
    caches = compilation.is_cached and not fingerprint.sources_changed()
    with timing.clock("key"):
        host = clone_module(compilation.program)
        units = divide(host)
        tasks = [task(unit, options.libs, cpu) for unit in units]
    with timing.clock("functions"):
        codes = _codes(tasks, caches)
    own = dataclasses.replace(compilation, program=host, source=str(host), values={}, warned=[])
    own.run(lowering_stages())
    program: LoweredProgram = own.values[LOWERED]
    with timing.clock("link"):
        needed = jit.needed_libraries(program.module, options.libs, program.kernels, [unit.symbol for unit in units])
    compilation.reached(running_builds.COMPILE)
    compiled = jit.compile_program(program, compilation.names, needed, timing.clock, llvm_target(cpu), support=False)
    with timing.clock("functions"):
        is_needed = any(part.support for part in (compiled, *codes))
        support = run([support_task()], cache=caches) if is_needed else []
    warned = [text.replace(u.symbol, u.name) for u, code in zip(units, codes, strict=True) for text in code.warned]
    for text in warned:
        warn(text)
    return _merge_objects(compiled, codes, support, warned, {unit.symbol: unit.name for unit in units})


def _codes(tasks: Sequence[Task], cache: bool) -> list[jit.Compiled]:
    """The code of units; what the cache has that is none is compiled again."""
    codes = [jit.Compiled.from_bytes(code) for code in run(tasks, cache=cache)]
    unread = [number for number, code in enumerate(codes) if code is None]
    for number, code in zip(unread, run([tasks[n] for n in unread], cache=False) if unread else [], strict=True):
        codes[number] = jit.Compiled.from_bytes(code)
    return [code for code in codes if code is not None]


def _merge_objects(
    host: jit.Compiled,
    codes: Sequence[jit.Compiled],
    support: Sequence[bytes],
    warned: Sequence[str],
    names: dict[str, str],
) -> jit.Compiled:
    """The objects of all, and what any of them needs. warned: of units. names: of units, by their symbols."""
    parts = [host, *codes]
    return dataclasses.replace(
        host,
        data=b"".join([*(part.data for part in parts), *support]),
        sizes=[*(size for part in parts for size in part.sizes), *map(len, support)],
        libs=list(dict.fromkeys(lib for part in parts for lib in part.libs)),
        calls_out=any(part.calls_out for part in parts),
        warned=[*host.warned, *warned],
        scratch=max(part.scratch for part in parts),
        needs=[need for part in parts for need in part.needs],
        support=False,
        units=names,
    )
