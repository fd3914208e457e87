"""A compilation as a list of stages, run with the cache, the dump and the clock of a build around each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError, GraphError, short_repr
from tir_mlir.dialect.ir import clone_module
from tir_mlir.passes.lower.registry import RECORDED_WARNINGS
from tir_mlir.passes.lower.to_llvm import Follow, run_named
from tir_mlir.runtime.cache import fingerprint, running_builds, store
from tir_mlir.runtime.call.signature import CallSignature
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.scheduled_programs import AS_GIVEN
from tir_mlir.runtime.timing import Timing
from tir_mlir.target import AnyTarget, native, resolved

PROGRAM = "program"
"""The value that the first stages read: the program, which no stage changes."""


FULL, FAST = "full", "fast"
"""How a graph is optimized: to run as fast as can be, or to be ready soon."""


def optimize_option(value: object) -> str:
    """How a graph is optimized, checked. Errors: GraphError."""
    if not isinstance(value, str) or value not in (FULL, FAST):
        raise GraphError(
            f'optimize is "{FULL}", for a model that runs as fast as can be, or "{FAST}", for one that is ready soon, '
            f"not {short_repr(value)}"
        )
    return value


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """What a build of a program or of a graph is asked for: the arguments of `build`."""

    target: AnyTarget | str = "llvm"
    """What programs are scheduled for; "llvm" is this machine."""
    driver: str = "jit"
    """What compiles for a CPU, one of `build.DRIVERS`."""
    libs: Sequence[str] = ()
    """Shared objects that the program may call, as `library_names` has them."""
    cache: bool = True
    """Whether code may come from the cache, and is stored there; of a graph also what is found about its functions."""
    checked: bool = False
    """Whether accesses that are not proved are checked when they run."""
    by_function: bool = False
    """Whether functions that the public ones call are compiled in modules of their own."""
    threads: int | None = None
    """For how many threads the functions of a graph are scheduled; None is one for each core of the target."""
    weights: str | None = None
    """What the weights of a graph are rounded to; None: not."""
    optimize: str = FULL
    """How the functions of a graph are scheduled: "full", or "fast" by plain schedules."""

    def __post_init__(self) -> None:
        optimize_option(self.optimize)

    @cached_property
    def compiled_for(self) -> AnyTarget:
        """The target of the code: a CPU without a triple is this machine's, also where TIR_HOST names another."""
        target = native() if self.target == "llvm" else resolved(self.target)
        return native() if target.is_cpu and not target.as_cpu().triple else target


def library_names(libs: Sequence[str | Path]) -> list[str]:
    """The paths of files as absolute ones; other names are for the loader."""
    return [str(Path(lib).resolve()) if "/" in str(lib) or os.path.exists(lib) else str(lib) for lib in libs]


@dataclass(kw_only=True)
class StageValues:
    """What the stages of a build yield, and what is around each of them."""

    timing: Timing = field(default_factory=Timing)
    follow: Follow | None = None
    """Called with a name and the module after each stage and pass."""
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the stages so far yield, by name."""

    def run(self, stages: Sequence[Stage]) -> None:
        """Run stages in order."""
        for stage in stages:
            with self.timing.clock(stage.name) if stage.name else nullcontext():
                self.values[stage.yields] = stage.work(self)


@dataclass(kw_only=True)
class Compilation(StageValues):
    """A program on its way through the stages of its target."""

    program: ir.Module
    source: str
    """The text of the program."""
    signatures: Sequence[CallSignature]
    """Of its public functions."""
    options: BuildOptions
    origin: str = AS_GIVEN
    """Where the schedule of the program came from."""
    warned: list[str] = field(default_factory=list)
    """The warnings of the stages."""
    reached: Callable[[str], object] = field(default=str)
    """To be called before a stage that may crash the process."""

    def __post_init__(self) -> None:
        self.values[PROGRAM] = self.program

    @property
    def names(self) -> list[str]:
        """The public functions."""
        return [signature.name for signature in self.signatures]

    @property
    def is_cached(self) -> bool:
        """Whether code may come from the cache; a build whose states are followed runs all of its stages."""
        return self.options.cache and self.follow is None

    def run(self, stages: Sequence[Stage]) -> None:
        """Run stages in order."""
        token = RECORDED_WARNINGS.set(self.warned)
        try:
            super().run(stages)
        finally:
            RECORDED_WARNINGS.reset(token)


@dataclass(frozen=True)
class Stage:
    """A step of a compilation."""

    name: str
    """Of its clock, as in `timing.STAGES`; "" for one that clocks its parts."""
    work: Callable[..., object]
    """A function of the values so far, or `Passes`."""
    yields: str
    """The name of its value."""


@dataclass(frozen=True)
class Passes:
    """The work of a stage: passes over a copy of a module, in order."""

    names: Callable[[ir.Module], Sequence[str]]
    """For a module, the names of ours, and upstream ones as `mlir-opt` takes them."""
    reads: str = PROGRAM
    """The value that is the module."""
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict[str, Mapping[str, object]])
    """Of ours, by name."""

    def __call__(self, compilation: Compilation) -> ir.Module:
        module = clone_module(compilation.values[self.reads])
        names = self.names(module)
        run_named(module, names, self.options, timing=compilation.timing.passes, follow=compilation.follow)
        return module


@dataclass(frozen=True)
class CodeCache:
    """How the code of a target is kept between processes."""

    key: Callable[[Compilation], str]
    """What the code depends on; "" where it is not kept."""
    load: Callable[[Compilation, bytes], Library | None]
    """The library of stored code; None if it does not load, so that it is compiled again."""
    pack: Callable[[Compilation], bytes]
    """What is stored after the stages."""
    after_crash: Callable[[Compilation, running_builds.CrashRecord], Sequence[Stage]]
    """The stages of a program whose build crashed before, which is then not kept."""


@dataclass(frozen=True, kw_only=True)
class BackEnd:
    """How programs are compiled for a kind of target."""

    stages: Callable[[Compilation], Sequence[Stage]]
    """The stages, for the options of a build."""
    load: Callable[[Compilation], Library]
    """The library of what the stages yield. Its `exporter` writes files."""
    cache: CodeCache | None = None
    takes: frozenset[str] = frozenset()
    """Which of the options driver, libs, checked and verify it has."""


def compile_program(compilation: Compilation, back_end: BackEnd) -> Library:
    """The library of a program: from the cache, or by the stages of its target. Raises BuildError, LoweringError."""
    cache, timing = back_end.cache, compilation.timing
    if cache is None or not compilation.is_cached or not store.limit():
        compilation.run(back_end.stages(compilation))
        return _load(compilation, back_end)
    with timing.clock("key"):
        key = cache.key(compilation)
        stored = store.load("code", key) if key else None
    if stored and (library := cache.load(compilation, stored)) is not None:
        timing.cached = True
        return library
    if key and (crash := running_builds.earlier_crash(key)) is not None:
        compilation.run(cache.after_crash(compilation, crash))
    else:
        _run_recorded(compilation, back_end.stages(compilation), cache, key)
    return _load(compilation, back_end)


def _run_recorded(compilation: Compilation, stages: Sequence[Stage], cache: CodeCache, key: str) -> None:
    """Run stages, with a note of the build for the case that it crashes, and store what they yield."""
    with running_builds.record_build(key, compilation.source) if key else nullcontext(str) as compilation.reached:
        compilation.run(stages)
    if key:
        with compilation.timing.clock("store"):
            if not fingerprint.sources_changed():
                store.save("code", key, cache.pack(compilation))


def _load(compilation: Compilation, back_end: BackEnd) -> Library:
    with compilation.timing.clock("load"):
        return back_end.load(compilation)


def refuse_options(back_end: BackEnd, target: AnyTarget, used: Mapping[str, bool]) -> None:
    """Raise BuildError for an option that is used, and that the back end of a target does not have."""
    ways = {
        "checked": '; interpret(..., target="cuda") checks every access',
        "verify": '; sch.verify(target="cuda") runs the kernels',
    }
    for name, is_used in used.items():
        if is_used and name not in back_end.takes:
            way = ways.get(name, "") if target.nvidia else ""
            raise BuildError(f"{name} is not for {target.noun}s; fix: leave it out{way}")
