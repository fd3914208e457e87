"""`tvm.meta_schedule` for graphs, and `relax.get_pipeline`.

A search over the programs of a module, the passes that use what it found, and passes in a row by name.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tir_mlir import tune
from tir_mlir.compat.meta_schedule import STRATEGIES, JSONDatabase, TuneConfig, threads_of, trials_of
from tir_mlir.compat.relax.passes import Pass, PassInfo, Sequential
from tir_mlir.compat.relax.transforms import AnnotateTIROpPattern, FuseOps, FuseTIR, LegalizeOps
from tir_mlir.compat.relax.virtual_machine import Executable, Params, bound_module
from tir_mlir.compat.runtime import Target
from tir_mlir.dialect.diagnostics import GraphError, TuneError, TuneWarning, short_repr
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph.expressions import Function
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.legalize import legalize
from tir_mlir.graph.transforms.lift_weights import constants_to_weights
from tir_mlir.graph.transforms.schedule_functions import SCHEDULE, replace_function
from tir_mlir.runtime.scheduled_programs import FINDER
from tir_mlir.script.module import IRModule
from tir_mlir.tune.models.tune_model import search_functions
from tir_mlir.tune.records.build_context import BuildContext
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.program_identity import identity
from tir_mlir.tune.records.recorded_program import recorded_program
from tir_mlir.tune.search.tuner import Options


def tune_relax(
    mod: IRModule | Function,
    params: Params | None = None,
    target: str | Target | None = None,
    work_dir: str | None = None,
    max_trials_global: int | None = None,
    *,
    config: TuneConfig | None = None,
    strategy: str = "evolutionary",
    seed: int | None = None,
    **_: object,
) -> JSONDatabase | Executable:
    """Search for schedules of the programs that a module of graphs is compiled to, with trials where its time goes.

    params: arrays for parameters of `main`. target: "llvm" with `--num-cores=1` or another number of threads. Returns
    the database, for `compile_relax`; with a TuneConfig, as in older versions of TVM, the Executable.
    Raises TuneError for a target other than the CPU, and those of `tune.tune_model`.
    """
    if params is not None and not isinstance(params, Mapping):
        raise TuneError(f"params has arrays by name, not {short_repr(params)}; fix: name the arguments: target=...")
    threads, module = _threads(target), bound_module(mod, dict(params or {}))
    settings = config or TuneConfig(trials_of(max_trials_global), strategy=strategy)
    folder = work_dir or tempfile.mkdtemp(prefix="tir_mlir-tune-")
    graphs = _graphs(module)
    for graph in graphs:
        tune.tune_model(
            graph,
            trials=max(1, settings.max_trials_global // len(graphs)),
            work_dir=folder,
            threads=threads,
            seed=seed,
            sampler=STRATEGIES[settings.strategy],
        )
    database = JSONDatabase(work_dir=folder)
    return compile_relax(database, mod, target, params) if config is not None else database


def compile_relax(
    database: Database,
    mod: IRModule | Function,
    target: str | Target | None = None,
    params: Params | None = None,
    **_: object,
) -> Executable:
    """Compile a module of graphs with the schedules of a database, and the library's for programs that it lacks."""
    with database:
        return Executable(bound_module(mod, dict(params or {})), "llvm", _threads(target))


def MetaScheduleTuneIRMod(
    params: Params | None = None,
    work_dir: str = "tuning_logs",
    max_trials_global: int | None = None,
    *_: object,
    target: str | Target | None = None,
    **__: object,
) -> Pass:
    """Search for schedules of the programs of a module, as they are, with trials where its graphs spend their time.

    target: default that of `with Target(...)`. The module does not change: `MetaScheduleApplyDatabase` puts in what was
    found.
    """
    trials = trials_of(max_trials_global)

    def run(mod: IRModule, _: object) -> IRModule:
        graphs = _graphs(bound_module(mod, dict(params or {})))
        options = Options(max(1, trials // len(graphs)), Path(work_dir), threads=_threads(target))
        for graph in graphs:
            search_functions(legalize(constants_to_weights(graph)), "llvm", None, {}, options)
        return mod

    return Pass(run, PassInfo("MetaScheduleTuneIRMod"))


def MetaScheduleTuneTIR(work_dir: str = "tuning_logs", max_trials_global: int | None = None, *_: object) -> Pass:
    """Search for a schedule of each program of a module, as they are, with the same trials for each."""
    trials = trials_of(max_trials_global)

    def run(mod: IRModule, _: object) -> IRModule:
        for function in mod.prim_funcs.values():
            tune.tune(function, trials=trials, work_dir=work_dir, threads=_threads(None))
        return mod

    return Pass(run, PassInfo("MetaScheduleTuneTIR"))


def MetaScheduleApplyDatabase(
    work_dir: str | None = None, enable_warning: bool = False, *, target: str | Target | None = None
) -> Pass:
    """Programs of a module become the best schedules that a database has of them.

    work_dir: its folder; None: the databases of `with database:`. enable_warning: name programs without a record.
    """

    def run(mod: IRModule, _: object) -> IRModule:
        databases, threads = _databases(work_dir), _threads(target)
        for name, function in list(mod.prim_funcs.items()):
            if not _apply_best_schedule(mod, name, function.isolated_module, databases, threads) and enable_warning:
                warnings.warn(f"no record of {name} for this target", TuneWarning, stacklevel=2)
        return mod

    return Pass(run, PassInfo("MetaScheduleApplyDatabase"))


def _apply_best_schedule(
    mod: IRModule, name: str, alone: IRModule, databases: Sequence[Database], threads: int | None
) -> bool:
    """Put the best schedule of a program into a module. Whether there is one."""
    about = identity(alone)
    for database in databases:
        for record in database.candidates(about, None, threads):
            try:
                scheduled = recorded_program(record, alone.mlir)
            except TuneError as error:
                warnings.warn(f"{name}: {record} is passed over: {error}", TuneWarning, stacklevel=2)
                continue
            replace_function(mod, name, IRModule(scheduled)[name])
            with enter_context():
                attrs.put(mod[name].func.op, SCHEDULE, f"{record}, in {database.path}")
            return True
    return False


def _databases(work_dir: str | None) -> tuple[Database, ...]:
    if work_dir is not None:
        return (Database(work_dir),)
    finder = FINDER.get()
    if not isinstance(finder, BuildContext):
        raise TuneError("MetaScheduleApplyDatabase has no database; fix: its work_dir, or `with database:` around it")
    return finder.databases


def _graphs(module: IRModule) -> list[Graph]:
    names = [name for name, function in module.graphs.items() if not function.attrs.get("Primitive")]
    if not names:
        raise TuneError("the module has no graph; fix: tune_tir searches for schedules of programs")
    return [Graph(module, name=name) for name in names]


def _threads(target: str | Target | None) -> int | None:
    """The threads of a target, else of that of `with tvm.target.Target(...)`, else None: all cores."""
    return threads_of(target if target is not None else Target.current() or "llvm")


def zero_pipeline(*, enable_warning: bool = False) -> Pass:
    """Operators become programs, and programs that are computed together one."""
    return Sequential([LegalizeOps(enable_warning=enable_warning), AnnotateTIROpPattern(), FuseOps(), FuseTIR()])


def static_shape_tuning_pipeline(
    total_trials: int, target: str | Target | None = None, work_dir: str = "tuning_logs", **_: object
) -> Pass:
    """`zero_pipeline`, a search over the programs, and the best schedules that it found. target: of `with target:`."""
    return Sequential(
        [
            zero_pipeline(),
            MetaScheduleTuneIRMod({}, work_dir, total_trials, target=target),
            MetaScheduleApplyDatabase(work_dir, target=target),
        ]
    )


PIPELINES: dict[str, Callable[..., Pass]] = {
    "zero": zero_pipeline,
    "default": zero_pipeline,
    "static_shape_tuning": static_shape_tuning_pipeline,
}


def get_pipeline(name: str = "zero", **options: object) -> Pass:
    """The passes of a name: "zero", "default", or "static_shape_tuning", with its `total_trials`.

    Errors: GraphError for another name.
    """
    if name not in PIPELINES:
        raise GraphError(f"no pipeline {short_repr(name)}; fix: one of {', '.join(PIPELINES)}")
    return PIPELINES[name](**options)
