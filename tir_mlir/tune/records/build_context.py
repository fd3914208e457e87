"""`with Database(path): build(program)`: the best record of the program, else the library's schedule."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError, TuneError, TuneWarning
from tir_mlir.dialect.ir import Func, attrs, enter_context, funcs, held_module, ops, walk
from tir_mlir.dialect.ir.op_views import AffineForOp, CallOp, isa
from tir_mlir.extensions import implement
from tir_mlir.runtime.scheduled_programs import AS_GIVEN, FINDER, Finder, ScheduledProgram
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.programs.auto import auto
from tir_mlir.script.module import IRModule
from tir_mlir.target import AnyTarget, resolved
from tir_mlir.tune.records import database as records
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.program_identity import identity
from tir_mlir.tune.records.recorded_program import recorded_program


@dataclass(frozen=True)
class BuildContext:
    """The hook of `build` while databases are entered, the inner ones first; `outer`: the hook before."""

    databases: tuple[Database, ...]
    outer: Finder | None

    def __call__(self, program: object, target: AnyTarget | str, threads: int | None = None) -> ScheduledProgram:
        """What to build: a schedule, a scheduled program as it is, else the best record or, for a CPU, the library's.

        threads: None is as many as the databases are for.
        """
        module = held_module(program)
        if module is None:
            raise BuildError(f"build takes an IRModule, a PrimFunc, a Schedule or an MLIR module, not {program!r}")
        if isinstance(program, Schedule):
            return ScheduledProgram(module, AS_GIVEN)
        scheduled = self._schedule_by_record(module, target, threads)
        if scheduled is None and len(names := list(IRModule(module).prim_funcs)) > 1 and not _calls_own(module):
            return self._schedule_by_function(module, names, target, threads)
        return scheduled or self._schedule_by_library(module, target, threads)

    def _schedule_by_function(
        self, module: ir.Module, names: Sequence[str], target: AnyTarget | str, threads: int | None
    ) -> ScheduledProgram:
        """Each function by its own record, or the library's schedule."""
        program, parts, origins = IRModule(module), {}, []
        for name in names:
            alone = program[name].isolated_module.mlir
            scheduled = self._schedule_by_record(alone, target, threads) or self._schedule_by_library(
                alone, target, threads
            )
            parts[name] = IRModule(scheduled.module)[name]
            origins.append(f"{name}: {scheduled.origin}")
        return ScheduledProgram(IRModule(parts).mlir, "; ".join(origins))

    def _schedule_by_record(
        self, module: ir.Module, target: AnyTarget | str, threads: int | None
    ) -> ScheduledProgram | None:
        """The scheduled program of the best record that fits; those that do not are named in a warning."""
        about = identity(module)
        for database in self.databases:
            for record in database.candidates(about, target, threads):
                try:
                    scheduled = recorded_program(record, module)
                except TuneError as error:
                    warnings.warn(f"{record} in {database.path} is passed over: {error}", TuneWarning, stacklevel=5)
                    continue
                return ScheduledProgram(scheduled, f"{record}, in {database.path}")
        return None

    def _schedule_by_library(self, module: ir.Module, target: AnyTarget | str, threads: int | None) -> ScheduledProgram:
        with enter_context():
            if not resolved(target).is_cpu or any(_is_scheduled(func) for func in funcs(module)):
                return ScheduledProgram(module, AS_GIVEN)
        sch = Schedule(module)
        picked = auto(sch, resolved(target).as_cpu(), threads or self.databases[0].threads)
        words = ", ".join(f"{block}: {name or AS_GIVEN}" for block, name in picked.items())
        return ScheduledProgram(sch.mod.mlir, f"schedules.auto ({words}){self._unused_records_note(module)}")

    def _unused_records_note(self, module: ir.Module) -> str:
        """What the databases have of the program and is not built, in words."""
        about = identity(module)
        count = sum(database.count(about) for database in self.databases)
        others = "failed, or are of another target, number of threads or version"
        return f"; its {count} record{'s' * (count != 1)} {others}" if count else ""


@implement(records.enter)
def enter(database: Database) -> None:
    """Make `build` ask a database before those entered already."""
    outer = FINDER.get()
    databases = outer.databases if isinstance(outer, BuildContext) else ()
    FINDER.set(BuildContext((database, *databases), outer))


@implement(records.leave)
def leave() -> None:
    """Undo the last `enter`."""
    current = FINDER.get()
    if isinstance(current, BuildContext):
        FINDER.set(current.outer)


def _is_scheduled(func: Func) -> bool:
    """Whether a loop has a kind or an annotation, or a block has more loops than iters."""
    for op in ops(func.op):
        if isa(op, AffineForOp) and (
            attrs.get(op, attrs.KIND, "serial") != "serial" or attrs.ANNOTATIONS in op.attributes
        ):
            return True
    blocks = walk.all_blocks(func.op)
    return any(len(walk.loops_above(block.op)) > max(1, len(block.iters)) for block in blocks)


def _calls_own(module: ir.Module) -> bool:
    """Whether a function calls another one of the module that has a body."""
    with enter_context():
        names = {func.name for func in funcs(module)}
        calls = [op for op in ops(module.operation) if isa(op, CallOp)]
        return any(ir.FlatSymbolRefAttr(op.attributes["callee"]).value in names for op in calls)
