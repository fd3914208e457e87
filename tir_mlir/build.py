"""`build`: compile a program to a library of callables.

Lower, link kernels, generate code: in process (driver "jit") or by LLVM tools ("tools"). Code of the jit driver is
cached: the next build of the same program only loads it.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar, overload

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.dialect.ir import enter_context, funcs, held_module
from tir_mlir.extensions import extension_point
from tir_mlir.runtime import scheduled_programs
from tir_mlir.runtime.call import fast_entry
from tir_mlir.runtime.call.signature import signatures
from tir_mlir.runtime.dump import Dump, open_dump
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.progress import follow_build
from tir_mlir.runtime.timing import Timing
from tir_mlir.target import AnyTarget, resolved
from tir_mlir.targets.registry import back_end_of
from tir_mlir.targets.stages import BuildOptions, Compilation, compile_program, library_names, refuse_options

DRIVERS = ("jit", "tools", "object")
GRAPH_TARGETS = frozenset({"cuda", "cuda-emulated"})
"""The kinds of targets, besides CPUs, that graphs are built for."""


M_co = TypeVar("M_co", covariant=True)


class _ModelSource(Protocol[M_co]):
    """A graph: it is compiled to a Model."""

    def build_model(
        self,
        target: str | AnyTarget = "llvm",
        *,
        weights: str | None = None,
        threads: int | None = None,
        optimize: str = "full",
        cache: bool = True,
        libs: Sequence[str | Path] = (),
        dump: str | Path | None = None,
    ) -> M_co: ...


@overload
def build(
    mod: _ModelSource[M_co],
    target: str | AnyTarget = "llvm",
    *,
    libs: Sequence[str | Path] = (),
    cache: bool = True,
    threads: int | None = None,
    weights: str | None = None,
    optimize: str = "full",
    math: str | None = None,
    dump: str | Path | None = None,
) -> M_co: ...
@overload
def build(
    mod: object,
    target: str | AnyTarget = "llvm",
    *,
    driver: str = "jit",
    libs: Sequence[str | Path] = (),
    cache: bool = True,
    checked: bool = False,
    verify: bool = False,
    dump: str | Path | Dump | None = None,
) -> Library: ...
def build(
    mod: object,
    target: str | AnyTarget = "llvm",
    *,
    driver: str = "jit",
    libs: Sequence[str | Path] = (),
    cache: bool = True,
    checked: bool = False,
    verify: bool = False,
    threads: int | None = None,
    weights: str | None = None,
    optimize: str | None = None,
    math: str | None = None,
    dump: str | Path | Dump | None = None,
) -> object:
    """Compile an IRModule, a PrimFunc, a Schedule or an ir.Module, which is not modified. Returns a Library. A Graph is
    compiled to a Model: its functions are scheduled, for `threads` threads (default: the cores of the target), and its
    weights rounded to `weights` ("bfloat16", "int8", "int4"; default: not), see `quantize_weights`. optimize: "full"
    (default), or "fast" for a model that is ready soon, with plain schedules, and runs slower. math: "tf32" lets a GPU
    round the operands of products of float32 for its tensor cores, see `CUDA`.

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
    target = resolved(target)
    if math is not None:
        target = _with_math(mod, target, math)
    if (of_graph := getattr(type(mod), "build_model", None)) is not None:
        _refuse_for_graphs(target, driver=driver != "jit", checked=checked, verify=verify)
        if not target.is_cpu:
            _refuse_for_kernels(target, threads=threads is not None, libs=bool(libs), optimize=optimize == "fast")
        more = {} if optimize is None else {"optimize": optimize}
        return of_graph(mod, target, threads=threads, cache=cache, libs=libs, weights=weights, dump=dump, **more)
    _refuse_for_programs(threads, weights, optimize)
    _check_options(target, driver, libs, cache=cache, checked=checked, verify=verify)
    options = BuildOptions(target=target, libs=library_names(libs), driver=driver, cache=cache, checked=checked)
    library, original = _build_program(mod, options, dump)
    if verify:
        check_machine_code(library, original)
    return library


@extension_point
def check_machine_code(library: Library, program: ir.Module) -> None:
    """Run each function of a library, and the interpreter on its program, on the same data. Raises BuildError."""
    ...


def build_by_function(module: ir.Module, options: BuildOptions | None = None, dump: Dump | None = None) -> Library:
    """As `build`, for a program whose public functions call private ones: each of these is compiled in a module of its
    own, by workers, and found in the cache by its content."""
    return _build_program(module, replace(options or BuildOptions(), by_function=True), dump)[0]


def _build_program(mod: object, options: BuildOptions, dump: str | Path | Dump | None) -> tuple[Library, ir.Module]:
    """The library of a program, and the program with the schedule that it was built with."""
    timing, scheduled_for = Timing(), resolved(options.target)
    fast_entry.prepare()
    with enter_context():
        original, origin = _module(mod), scheduled_programs.AS_GIVEN
        name = next((f.name for f in funcs(original)), "module")
        with follow_build(f"build of {name}"), open_dump(dump, name) as states:
            if states is not None and states is not dump:
                states.write("input", original)
            if scheduled_programs.FINDER.get() is not None and scheduled_for.is_tuned:
                original, origin = _schedule_program(mod, scheduled_for, original, timing, states)
            with timing.clock("key"):
                source = str(original)
                call_signatures = list(signatures(original).values())
            if not call_signatures:
                raise BuildError("the module has no public function with a body")
            compilation = Compilation(
                program=original,
                source=source,
                signatures=call_signatures,
                options=options,
                timing=timing,
                follow=None if states is None else states.write,
                origin=origin,
            )
            return compile_program(compilation, back_end_of(options.compiled_for)), original


def _schedule_program(
    mod: object, target: AnyTarget, original: ir.Module, timing: Timing, states: Dump | None
) -> tuple[ir.Module, str]:
    """The program with the schedule that a database has for it, and where that came from."""
    with timing.clock("schedule"):
        schedule = scheduled_programs.find(mod, target, original)
    if states is not None:
        states.write("schedule", schedule.module)
    return schedule.module, schedule.origin


def _check_options(target: AnyTarget, driver: object, libs: object, **flags: object) -> None:
    if not isinstance(driver, str) or driver not in DRIVERS:
        raise BuildError(f"unknown driver {short_repr(driver)}; known: {', '.join(map(repr, DRIVERS))}")
    if driver == "object" and target.is_cpu and not target.as_cpu().triple:
        raise BuildError('driver="object" needs a target with a triple; fix: target="avx2", "neon", ..., or a Target')
    if not isinstance(libs, (list, tuple)) or not all(isinstance(lib, (str, Path)) for lib in libs):
        raise BuildError(f"libs is a list of paths of shared objects, not {short_repr(libs)}")
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise BuildError(f"{name} is True or False, not {short_repr(value)}")
    used = {"driver": driver != "jit", "libs": bool(libs), "checked": flags["checked"], "verify": flags["verify"]}
    refuse_options(back_end_of(target), target, used)


def _with_math(mod: object, target: AnyTarget, math: str) -> AnyTarget:
    """The target with what its schedules may round, for a graph. Raises BuildError."""
    if getattr(type(mod), "build_model", None) is None:
        raise BuildError('math is for graphs; fix: schedules.auto(sch, target=CUDA("sm_80", math="tf32"))')
    if (gpu := target.nvidia) is None:
        raise BuildError('math is for GPUs of NVIDIA; fix: leave it out, or target="cuda"')
    return replace(gpu, math=math)


def _refuse_for_programs(threads: int | None, weights: str | None, optimize: str | None) -> None:
    if optimize is not None:
        raise BuildError("optimize is for graphs; fix: schedule the program as you want it to run")
    if threads is not None:
        raise BuildError("threads is for graphs; fix: schedule the program for a number of threads")
    if weights is not None:
        raise BuildError("weights is for graphs, which have weights; fix: declare parameters of the type that you want")


def _refuse_for_graphs(target: AnyTarget, **options: bool) -> None:
    for name, value in options.items():
        if value:
            raise BuildError(f"{name} is not for graphs; fix: leave it out")
    if not target.is_cpu and target.kind not in GRAPH_TARGETS:
        raise BuildError(f'{target.chip} is not for graphs; fix: leave target out, for this CPU, or target="cuda"')


def _refuse_for_kernels(target: AnyTarget, **options: bool) -> None:
    """Raise BuildError for options of graphs that change code for CPUs only."""
    for name, is_used in options.items():
        if is_used:
            raise BuildError(f"{name} is for CPUs, and {target.chip} is a GPU; fix: leave it out")


def _module(mod: object) -> ir.Module:
    module = held_module(mod)
    if module is None:
        raise BuildError(f"build takes an IRModule, a PrimFunc, a Schedule or an MLIR module, not {type(mod).__name__}")
    return module


class _Callable(types.ModuleType):
    """Makes this module callable: once imported, it shadows the function in `from tir_mlir import build`, as Python
    binds submodules to their package."""

    __call__ = staticmethod(build)


sys.modules[__name__].__class__ = _Callable
