"""`build`: compile a program to a library of callables.

Lower, link kernels, generate code: in process (driver "jit") or by LLVM tools ("tools"). Code of the jit driver is
cached: the next build of the same program only loads it.
"""

from __future__ import annotations

import os
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, overload

from mlir import ir

from tir_mlir import on_demand
from tir_mlir.code_units.lowering import LoweringOptions, code_target, lower_program
from tir_mlir.code_units.program_code import compile_by_function
from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.dialect.ir import attrs, enter_context, funcs, held_module
from tir_mlir.passes.lower.registry import warn
from tir_mlir.runtime import scheduled_programs
from tir_mlir.runtime.cache import crash_notes, fingerprint, store
from tir_mlir.runtime.call import fast_entry
from tir_mlir.runtime.call.signature import CallSignature, signatures
from tir_mlir.runtime.drivers import jit, program_key
from tir_mlir.runtime.drivers.aot import Aot
from tir_mlir.runtime.drivers.cross import CrossObject
from tir_mlir.runtime.drivers.exporting import Exporter
from tir_mlir.runtime.drivers.lowered_program import LoweredProgram
from tir_mlir.runtime.dump import Dump, open_dump
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.llvm import llvm_c, object_code
from tir_mlir.runtime.progress import follow_build
from tir_mlir.runtime.timing import Timing
from tir_mlir.runtime.tools import clang_codegen, llc_targets
from tir_mlir.target import CUDA, GPU, ROCM, OpenCL, Target, host, named

TARGETS = ("llvm",)
DRIVERS = ("jit", "tools", "object")


@dataclass
class _Request:
    """The arguments of a `build`: the program, its call signatures, the options."""

    original: ir.Module
    source: str
    found: list[CallSignature]
    target: str
    libs: list[str]
    timing: Timing
    wanted: Target | None = None
    checked: bool = False
    origin: str = scheduled_programs.AS_GIVEN
    states: Dump | None = None
    by_function: bool = False

    @property
    def names(self) -> list[str]:
        return [s.name for s in self.found]

    @property
    def options(self) -> LoweringOptions:
        return LoweringOptions(self.target, self.libs, self.wanted, self.checked, self.states, self.timing)


class _ModelSource(Protocol):
    """A graph: it is compiled to a Model."""

    def build_model(self, target: Any = "llvm", **options: Any) -> Any: ...


@overload
def build(
    mod: _ModelSource,
    target: str | Target | GPU = "llvm",
    *,
    libs: Sequence[str | Path] = (),
    cache: bool = True,
    threads: int | None = None,
    weights: str | None = None,
    optimize: str = "full",
    dump: str | Path | None = None,
) -> Any: ...
@overload
def build(
    mod: Any,
    target: str | Target | GPU = "llvm",
    *,
    driver: str = "jit",
    libs: Sequence[str | Path] = (),
    cache: bool = True,
    checked: bool = False,
    verify: bool = False,
    dump: str | Path | Dump | None = None,
) -> Library: ...
def build(
    mod: Any,
    target: str | Target | GPU = "llvm",
    *,
    driver: str = "jit",
    libs: Sequence[str | Path] = (),
    cache: bool = True,
    checked: bool = False,
    verify: bool = False,
    threads: int | None = None,
    weights: str | None = None,
    optimize: str | None = None,
    dump: Any = None,
) -> Any:
    """Compile an IRModule, a PrimFunc, a Schedule or an ir.Module, which is not modified. Returns a Library. A Graph is
    compiled to a Model: its functions are scheduled, for `threads` threads (default: the cores of the target), and its
    weights rounded to `weights` ("bfloat16", "int8", "int4"; default: not), see `quantize_weights`. optimize: "full"
    (default), or "fast" for a model that is ready soon, with plain schedules, and runs slower.

    Inside `with tir_mlir.tune.Database(path):`, programs without a schedule are built as the best record has them, else
    by `schedules.auto`; `lib.schedule_origin` tells.
    target: "llvm" for this machine, the name of a predefined CPU ("zen4"), or a Target with a triple. If this machine
    lacks a feature of that CPU, the code cannot be called, only exported: `lib.export("f.o")`; with driver="object" it
    is an object file on every machine. "cuda", "nvidia/nvidia-a100", ..., or CUDA("sm_80"): the nests bound to blocks
    and threads become kernels, `lib.assembly` is their PTX. "cuda-emulated": the same kernels, run by this machine's
    CPU. "opencl": kernels in OpenCL C, `lib.source`, which pyopencl runs. "gfx942": code objects for AMD's GPUs.
    libs: paths of shared objects with external functions. cache: use the code cache (driver "jit" only; see the
    variables TIR_CACHE_DIR and TIR_CACHE_SIZE). checked: check accesses that are not proved inside their buffer, such
    as gathers, when they run; a call with one outside raises OutOfBoundsError. verify: run the code on
    small whole numbers, on the ends of the types and for several sizes, and compare it with the interpreter; it takes
    seconds, and refuses what the interpreter takes long for. dump: a folder for the module after each
    stage and pass (TIR_DUMP=DIR: one in DIR for each build); the build then does not use the cache.
    Raises BuildError (unknown target, missing or mismatched kernel, code that verify finds wrong) and LoweringError.
    """
    target = _target(target)
    if (of_graph := getattr(type(mod), "build_model", None)) is not None:
        _refuse_for_graphs(driver=driver != "jit", checked=checked, verify=verify, **{"a GPU": isinstance(target, GPU)})
        more = {} if optimize is None else {"optimize": optimize}
        return of_graph(mod, target, threads=threads, cache=cache, libs=libs, weights=weights, dump=dump, **more)
    _refuse_for_programs(threads, weights, optimize)
    library, original = _build_program(mod, target, driver, libs, cache, checked, dump, verify)
    if verify:
        on_demand.load("machine_code").check(library, original)
    return library


def _target(target: Any) -> str | Target | GPU:
    """A target, or "llvm" for this machine; where TIR_HOST names a CPU whose code it does not run, that CPU."""
    if isinstance(target, str) and target in TARGETS:
        return host() if host().triple else target
    return target if isinstance(target, Target | GPU) else named(target)


def build_by_function(
    module: ir.Module,
    target: str | Target | GPU = "llvm",
    *,
    libs: Sequence[str | Path] = (),
    cache: bool = True,
    dump: Dump | None = None,
) -> Library:
    """As `build`, for a program whose public functions call private ones: each of these is compiled in a module of its
    own, by workers, and found in the cache by its content."""
    if not isinstance(target, Target | GPU) and target not in TARGETS:
        target = named(target)
    return _build_program(module, target, "jit", libs, cache, False, dump, by_function=True)[0]


def _build_program(
    mod: Any,
    target: str | Target | GPU,
    driver: str,
    libs: Sequence[str | Path],
    cache: bool,
    checked: bool,
    dump: str | Path | Dump | None,
    verify: bool = False,
    by_function: bool = False,
) -> tuple[Library, ir.Module]:
    """The library of a program, and the program with the schedule that it was built with."""
    requested = target
    cpu_target = target if isinstance(target, Target) and target.triple else None
    gpu = target if isinstance(target, GPU) else None
    target = target if isinstance(target, str) else "llvm"
    _check_options(driver, gpu or cpu_target, libs, cache=cache, checked=checked, verify=verify)
    paths = _absolute_paths(libs)
    timing = Timing()
    fast_entry.prepare()
    with enter_context():
        original, origin = _module(mod), scheduled_programs.AS_GIVEN
        name = next((f.name for f in funcs(original)), "module")
        with follow_build(f"build of {name}"), open_dump(dump, name) as states:
            if states is not None and states is not dump:
                states.write("input", original)
            if scheduled_programs.FINDER.get() is not None and not isinstance(requested, ROCM | OpenCL):
                original, origin = _schedule_program(mod, requested, original, timing, states)
            with timing.clock("key"):
                source = str(original)
                call_signatures = list(signatures(original).values())
            if not call_signatures:
                raise BuildError("the module has no public function with a body")
            if gpu is not None:
                return _for_gpu(original, call_signatures, gpu, timing, states, origin, cache), original
            facts = original, source, call_signatures, target, paths, timing, cpu_target, checked, origin, states
            request = _Request(*facts, by_function)
            if cpu_target is not None:
                return _for_target(request, cpu_target, driver, cache and states is None), original
            if driver == "jit" and llvm_c.llvm() is not None:  # LLVM's C API may be unreachable in other builds of MLIR
                return _in_process(request, cache and states is None), original
            return _by_tools(request), original


def _absolute_paths(libs: Sequence[str | Path]) -> list[str]:
    """The paths of files as absolute ones; other names are for the loader."""
    return [str(Path(lib).resolve()) if "/" in str(lib) or os.path.exists(lib) else str(lib) for lib in libs]


def _schedule_program(
    mod: Any, target: Target | CUDA | str, original: ir.Module, timing: Timing, states: Dump | None
) -> tuple[ir.Module, str]:
    """The program with the schedule that a database has for it, and where that came from."""
    with timing.clock("schedule"):
        schedule = scheduled_programs.find(mod, target, original)
    if states is not None:
        states.write("schedule", schedule.module)
    return schedule.module, schedule.origin


def _check_options(driver: Any, compiled_for: Target | GPU | None, libs: Any, **flags: Any) -> None:
    if not isinstance(driver, str) or driver not in DRIVERS:
        raise BuildError(f"unknown driver {short_repr(driver)}; known: {', '.join(map(repr, DRIVERS))}")
    if driver == "object" and compiled_for is None:
        raise BuildError('driver="object" needs a target with a triple; fix: target="avx2", "neon", ..., or a Target')
    if not isinstance(libs, (list, tuple)) or not all(isinstance(lib, (str, Path)) for lib in libs):
        raise BuildError(f"libs is a list of paths of shared objects, not {short_repr(libs)}")
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise BuildError(f"{name} is True or False, not {short_repr(value)}")
    if isinstance(compiled_for, GPU):
        used = {"driver": driver != "jit", "libs": bool(libs), "checked": flags["checked"], "verify": flags["verify"]}
        ways = {
            "checked": '; interpret(..., target="cuda") checks every access',
            "verify": '; sch.verify(target="cuda") runs the kernels',
        }
        for name, is_used in used.items():
            if is_used:
                way = ways.get(name, "")
                raise BuildError(f"{name} is not for GPUs; fix: leave it out{way}")


def _refuse_for_programs(threads: int | None, weights: str | None, optimize: str | None) -> None:
    if optimize is not None:
        raise BuildError("optimize is for graphs; fix: schedule the program as you want it to run")
    if threads is not None:
        raise BuildError("threads is for graphs; fix: schedule the program for a number of threads")
    if weights is not None:
        raise BuildError("weights is for graphs, which have weights; fix: declare parameters of the type that you want")


def _refuse_for_graphs(**options: Any) -> None:
    for name, value in options.items():
        if value:
            what = "target out, for this CPU" if name == "a GPU" else "it out"
            raise BuildError(f"{name} is not for graphs; fix: leave {what}")


def _in_process(request: _Request, cached: bool) -> Library:
    timing, lowering = request.timing, _DeferredLowering(request.source, request.target, request.libs, request.checked)
    name = ""
    if cached and store.limit():
        with timing.clock("key"):
            declared = program_key.declared_functions(request.original)
            name = program_key.program_key(request.source, declared, request.libs, request.checked)
            stored = store.load("code", name)
            compiled = jit.Compiled.from_bytes(stored) if stored else None
        library = _load_library(request, compiled, lowering) if compiled else None
        if library is not None:
            timing.cached = True
            return library
    if name and (crash := crash_notes.earlier_crash(name)) is not None:
        return _after_crash(crash, request)
    with crash_notes.record_build(name, request.source) if name else nullcontext(str) as reached:
        compiled, lower = _compile_program(request, lambda: reached(crash_notes.COMPILE), cached, lowering)
    if name:
        with timing.clock("store"):
            if not fingerprint.sources_changed():
                store.save("code", name, compiled.to_bytes())
    with timing.clock("load"):
        return _library(request, jit.Jit(compiled, request.names), lower)


def _compile_program(
    request: _Request,
    reached: Callable[[], object],
    cached: bool,
    again: Callable[[], LoweredProgram],
    code: object_code.LLVMTarget | None = None,
) -> tuple[jit.Compiled, Callable[[], LoweredProgram]]:
    """The code of a program, and what gives the program lowered: `again`, if it was not lowered as a whole."""
    if request.by_function and request.states is None:
        options = {"cache": cached and not fingerprint.sources_changed(), "reached": reached}
        return compile_by_function(request.original, request.names, request.libs, request.options, **options), again
    program = _lower(request)
    with request.timing.clock("link"):
        libs = jit.needed_libraries(program.module, request.libs, program.kernels)
    reached()
    return jit.compile_program(program, request.names, libs, request.timing.clock, code), lambda: program


def _after_crash(crash: crash_notes.CrashRecord, request: _Request) -> Library:
    """After a crash in an earlier build of this program, use the tools driver, which survives crashes."""
    text = f"process {crash.process} crashed while building this program; the program is in {crash.path}"
    if crash.stage == crash_notes.LOWER:
        raise BuildError(
            f"{text}: either an MLIR pass crashed or the process was killed. `tir-opt FILE` runs the passes one by one"
            " in a guarded process; remove the file to build the program again"
        )
    library = _by_tools(request)
    text += ": either LLVM crashed or the process was killed; the tools driver is used until the file is removed"
    warn(text)
    return library


def _for_gpu(
    original: ir.Module,
    call_signatures: Sequence[CallSignature],
    gpu: GPU,
    timing: Timing,
    states: Dump | None,
    origin: str,
    cache: bool,
) -> Library:
    """Build kernels, or loops of a CPU that do what they do."""
    from tir_mlir.gpu_build import emulation_of, gpu_library, opencl_library, rocm_library  # loads much

    follow = None if states is None else states.write
    if isinstance(gpu, OpenCL):
        return opencl_library(original, call_signatures, gpu, timing, follow, origin)
    if isinstance(gpu, ROCM):
        return rocm_library(original, call_signatures, gpu, timing, follow, origin)
    if not gpu.emulated:
        return gpu_library(original, call_signatures, gpu, timing, follow, origin)
    with timing.clock("lower"):
        emulation = emulation_of(original, gpu, timing, follow)
    library = build(emulation.program, cache=cache, dump=states)
    library.mlir, library.kernel_source, library.schedule_origin = str(original), emulation.source, origin
    return library


def _for_target(request: _Request, cpu_target: Target, driver: str, cached: bool) -> Library:
    """Build for a named CPU: callable if this machine supports it, else an object file."""
    if driver == "tools" or llvm_c.llvm() is None:
        raise BuildError('a Target with a triple needs driver="jit", and MLIR\'s own LLVM in this process')
    code = code_target(cpu_target)
    codegen = llc_targets if object_code.has_generator(code.triple) else clang_codegen
    codegen.check(cpu_target.triple, cpu_target.cpu, cpu_target.llvm_features)
    hindrance = cpu_target.hindrance
    if hindrance is None and driver != "object":
        again = _DeferredLowering(request.source, request.target, request.libs, request.checked, cpu_target)
        compiled, lower = _compile_program(request, lambda: None, cached, again, code)
        return _library(request, jit.Jit(compiled, request.names), lower)
    program, why = _lower(request), hindrance or 'driver="object"'
    cross_object = CrossObject(program, request.found, cpu_target, code, why, request.timing.clock)
    return _library(request, cross_object, lambda: program)


def _load_library(request: _Request, compiled: jit.Compiled, lower: Callable[[], LoweredProgram]) -> Library | None:
    """A library of cached code; None if it does not load, so that it is built again."""
    try:
        with request.timing.clock("load"):
            library = _library(request, jit.Jit(compiled, request.names), lower)
    except BuildError:
        return None
    for text in compiled.warned:
        warn(text)
    return library


def _by_tools(request: _Request) -> Library:
    program = _lower(request)
    jit.require(program.scratch)
    with request.timing.clock("compile"):
        return _library(request, Aot(program, request.found, request.libs), lambda: program)


def _library(request: _Request, driver: jit.Jit | Aot | CrossObject, program: Callable[[], LoweredProgram]) -> Library:
    global_symbols = [(f.name, attrs.get(f.op, attrs.ATTRS, {}).get("global_symbol")) for f in funcs(request.original)]
    symbols = {name: symbol for name, symbol in global_symbols if isinstance(symbol, str)}
    cpu = request.wanted if isinstance(driver, CrossObject) else None
    exporter = Exporter(request.found, symbols, program, request.libs, cpu, isinstance(driver, Aot))
    functions = driver.functions(request.found)
    return Library(
        request.source, lambda: program().module, driver, functions, request.timing, exporter, request.origin
    )


def _lower(request: _Request) -> LoweredProgram:
    """Lower the program to the llvm dialect and link kernels."""
    return lower_program(request.original, request.source, request.options)


class _DeferredLowering:
    """Lowers a program on demand, if its code came from the cache or was compiled by function."""

    def __init__(self, source: str, target: str, libs: list[str], checked: bool, wanted: Target | None = None):
        self._source, self._target, self._libs = source, target, libs
        self._options = {"checked": checked, "wanted": wanted}

    def __call__(self) -> LoweredProgram:
        original = ir.Module.parse(self._source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reported by the first build
            request_args = original, self._source, [], self._target, self._libs, Timing()
            return _lower(_Request(*request_args, **self._options))


def _module(mod: Any) -> ir.Module:
    module = held_module(mod)
    if module is None:
        raise BuildError(f"build takes an IRModule, a PrimFunc, a Schedule or an MLIR module, not {type(mod).__name__}")
    return module


class _Callable(types.ModuleType):
    """Makes this module callable: once imported, it shadows the function in `from tir_mlir import build`, as Python
    binds submodules to their package."""

    def __call__(self, *args: Any, **options: Any) -> Library:
        return build(*args, **options)


sys.modules[__name__].__class__ = _Callable
