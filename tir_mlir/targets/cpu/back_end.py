"""The back end of CPUs: one list of stages a driver, and the cache of code for this machine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import attrs, funcs
from tir_mlir.passes.lower.registry import warn
from tir_mlir.runtime.cache import running_builds
from tir_mlir.runtime.drivers import jit, program_key
from tir_mlir.runtime.drivers.aot import Aot
from tir_mlir.runtime.drivers.compiled_code import LoweredProgram
from tir_mlir.runtime.drivers.cross import CrossObject
from tir_mlir.runtime.drivers.exporting import Exporter
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.llvm import llvm_c, object_code
from tir_mlir.runtime.tools import clang_codegen
from tir_mlir.target import Target
from tir_mlir.targets.cpu.code_by_function import compile_by_function
from tir_mlir.targets.cpu.lowering import LOWERED, llvm_target, lowering_stages, named_cpu
from tir_mlir.targets.stages import BackEnd, CodeCache, Compilation, Stage

CODE = "code"
"""The value that is `jit.Compiled`."""
SHARED = "shared"
"""The value that is an `Aot`."""
OBJECT = "object"
"""The value that is a `CrossObject`."""
_LIBS = "libs"


def stages(compilation: Compilation) -> list[Stage]:
    """In process, in a module or by function; by LLVM's tools; or an object file that is only exported."""
    options, cpu = compilation.options, compilation.options.compiled_for.as_cpu()
    if cpu.triple:
        _check_generator(options.driver, cpu)
        if options.driver == "object" or not cpu.runs_here:
            return [*lowering_stages(), Stage("", _make_object, OBJECT)]
    elif options.driver != "jit" or llvm_c.find_llvm() is None:  # other builds of MLIR may not reach it
        return _tools_stages()
    if options.by_function and compilation.follow is None:
        return [Stage("", compile_by_function, CODE)]
    return [*lowering_stages(), Stage("link", _find_libraries, _LIBS), Stage("", _compile_in_process, CODE)]


def _tools_stages() -> list[Stage]:
    return [*lowering_stages(), Stage("compile", _compile_by_tools, SHARED)]


def _check_generator(driver: str, cpu: Target) -> None:
    """Raise BuildError unless something here generates code for a CPU."""
    if driver == "tools" or llvm_c.find_llvm() is None:
        raise BuildError('a Target with a triple needs driver="jit", and MLIR\'s own LLVM in this process')
    check = clang_codegen.check_llc if object_code.has_generator(cpu.triple.encode()) else clang_codegen.check
    check(cpu.triple, cpu.cpu, cpu.llvm_features)


def _find_libraries(compilation: Compilation) -> list[str]:
    program = compilation.values[LOWERED]
    return jit.needed_libraries(program.module, compilation.options.libs, program.kernels)


def _compile_in_process(compilation: Compilation) -> jit.Compiled:
    program, libs = compilation.values[LOWERED], compilation.values[_LIBS]
    code = llvm_target(compilation.options.compiled_for.as_cpu())
    compilation.reached(running_builds.COMPILE)
    return jit.compile_program(program, compilation.names, libs, compilation.timing.clock, code)


def _compile_by_tools(compilation: Compilation) -> Aot:
    program = compilation.values[LOWERED]
    jit.require(program.scratch)
    return Aot(program, compilation.signatures, compilation.options.libs)


def _make_object(compilation: Compilation) -> CrossObject:
    cpu, clock = compilation.options.compiled_for.as_cpu(), compilation.timing.clock
    why = cpu.hindrance or 'driver="object"'
    return CrossObject(compilation.values[LOWERED], compilation.signatures, cpu, named_cpu(cpu), why, clock)


def load(compilation: Compilation) -> Library:
    values = compilation.values
    lowered = values.get(LOWERED)
    program = _lower_later(compilation) if lowered is None else lambda: lowered
    driver = values.get(SHARED) or values.get(OBJECT) or jit.Jit(values[CODE], compilation.names)
    exporter = Exporter(
        compilation.signatures,
        _global_symbols(compilation),
        program,
        compilation.options.libs,
        compilation.options.compiled_for.as_cpu() if OBJECT in values else None,
        by_tools=SHARED in values,
    )
    functions, source = driver.functions(compilation.signatures), compilation.source
    return Library(
        source, lambda: program().module, driver, functions, compilation.timing, exporter, compilation.origin
    )


def _lower_later(compilation: Compilation) -> Callable[[], LoweredProgram]:
    """A function that gives the program lowered, where its code came from the cache or was compiled by function."""
    source, options = compilation.source, compilation.options

    def lower() -> LoweredProgram:
        again = Compilation(program=ir.Module.parse(source), source=source, signatures=(), options=options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reported by the first build
            again.run(lowering_stages())
        return again.values[LOWERED]

    return lower


def _global_symbols(compilation: Compilation) -> dict[str, str]:
    found = [(f.name, attrs.get(f.op, attrs.ATTRS, {}).get("global_symbol")) for f in funcs(compilation.program)]
    return {name: symbol for name, symbol in found if isinstance(symbol, str)}


# --- the cache ------------------------------------------------------------------------------------------------------


def _key(compilation: Compilation) -> str:
    """Of code that is for this machine, and made in this process."""
    options = compilation.options
    if options.compiled_for.as_cpu().triple or options.driver != "jit" or llvm_c.find_llvm() is None:
        return ""
    declared = program_key.declared_functions(compilation.program)
    return program_key.program_key(compilation.source, declared, options.libs, options.checked)


def _load_stored(compilation: Compilation, stored: bytes) -> Library | None:
    compiled = jit.Compiled.from_bytes(stored)
    if compiled is None:
        return None
    compilation.values[CODE] = compiled
    try:
        with compilation.timing.clock("load"):
            library = load(compilation)
    except BuildError:
        return None
    for text in compiled.warned:
        warn(text)
    return library


def _pack(compilation: Compilation) -> bytes:
    return compilation.values[CODE].to_bytes()


def _stages_after_crash(compilation: Compilation, crash: running_builds.CrashRecord) -> Sequence[Stage]:
    """The tools driver, which survives crashes."""
    text = f"process {crash.process} crashed while building this program; the program is in {crash.path}"
    if crash.stage == running_builds.LOWER:
        raise BuildError(
            f"{text}: either an MLIR pass crashed or the process was killed. `tir-opt FILE` runs the passes one by one"
            " in a guarded process; remove the file to build the program again"
        )
    warn(f"{text}: either LLVM crashed or the process was killed; the tools driver is used until the file is removed")
    return _tools_stages()


BACK_END = BackEnd(
    stages=stages,
    load=load,
    cache=CodeCache(_key, _load_stored, _pack, _stages_after_crash),
    takes=frozenset({"driver", "libs", "checked", "verify"}),
)
