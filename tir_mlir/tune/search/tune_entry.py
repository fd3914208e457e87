"""`tune.tune`: the door of the search.

The functions of a module are tuned one by one, with trials where the time goes, then put together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.calls import caller_of
from tir_mlir.dialect.diagnostics import BuildError, TuneError, TuneWarning, short_repr
from tir_mlir.dialect.ir import enter_context, funcs, held_module, warn_at_user
from tir_mlir.runtime.drivers.cuda import runs_on
from tir_mlir.schedule import Schedule
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.target import AnyTarget, chosen, host_gpu, ptx_target, resolved
from tir_mlir.tune.boards import boards_of
from tir_mlir.tune.report.progress import Progress, listener_of
from tir_mlir.tune.search.best import Best, search_of
from tir_mlir.tune.search.candidates import Space
from tir_mlir.tune.search.cluster_workers import ClusterWorkers, storage_of_cluster
from tir_mlir.tune.search.samplers import sampler_of
from tir_mlir.tune.search.tuner import PREDICTED, Options, Tuner, builders_of
from tir_mlir.tune.trials.pool import TrialPool
from tir_mlir.tune.trials.predicting_measurer import name_if_absent

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage

    from tir_mlir.tune.records.program_identity import Program


from dataclasses import dataclass, field, replace

from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.script.module import module_text
from tir_mlir.tune.records.comparison import ScheduleDiffers, verify_schedule
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.record import Record, subject
from tir_mlir.tune.report.search_plots import SearchPlots
from tir_mlir.tune.report.table import align_columns, duration
from tir_mlir.tune.search.candidates import Candidate, draw_candidate
from tir_mlir.tune.search.session import SearchListener, TrialResult
from tir_mlir.tune.search.suggestions import Deciding
from tir_mlir.tune.spaces.deciders import Fixed


def tune(
    program: Program,
    *,
    trials: int = 64,
    work_dir: str | os.PathLike[str] | None = None,
    space: Space | None = None,
    storage: str | BaseStorage | None = None,
    sampler: str | BaseSampler = "tpe",
    seed: int | None = None,
    timeout: float | None = None,
    stop_after: float | None = None,
    builders: int | None = None,
    target: AnyTarget | str | None = None,
    threads: int | None = None,
    sizes: Mapping[str, int] | None = None,
    resume: bool = True,
    ssh: Sequence[str] = (),
    cluster: Any = None,
    predict: bool | None = None,
    progress: bool | Progress | Callable[..., Any] | None = None,
) -> Best | BestOfModule:
    """Search for the best schedule of a program. Returns a `Best`, which prints as a table.

        best = tune.tune(program, trials=64, work_dir="tuned")
        best.schedule.show()

    First the library's choice (`schedules.auto`) is tried, then what was best for this operator at other sizes, then
    what the sampler suggests. Results are compared with those of the unscheduled program. At the end the three best and
    the library's choice are measured again in turns, and the winner is verified: the result is never slower than the
    library's choice.

    Functions with several blocks are searched block by block, by their work, then together; the functions of a module
    one by one, by their time.

    program: an IRModule, a PrimFunc or an MLIR module. trials: how many candidates, those of an interrupted run
    included. work_dir: where records and the study are kept; None: nowhere. space: a function over a Schedule with
    `sample_*` steps; default: the library's schedules with their parameters free. storage: a URL of an optuna storage,
    or one; default: a journal in work_dir. sampler: "tpe", "random", "gp", "cmaes", "qmc", "nsga2", or one of optuna.
    seed: of the sampler and the data. timeout: CPU seconds that building and running one candidate may take.
    stop_after: seconds after which no candidate is started. builders: processes that build side by side, default one a
    core. target, threads: as for `schedules`; for "cuda" candidates are kernels (`tune.spaces.kernels`), timed on the
    GPU of this machine; for a GPU or a CPU that is not here they are ranked by predicted times, which the result says.
    sizes: values of shape variables that are measured. resume: go on with what work_dir or storage has of this search;
    False: start again. progress: whether to show it; default: in a terminal. ssh: names of boards, as ssh takes them,
    on which candidates run; target is their CPU.
    predict: whether four candidates are drawn for each that is measured, the ones that are predicted to be fastest;
    default: on boards, if there is a core for each, and where measuring takes longer than building.
    cluster: a client of dask (`distributed.Client`); each of its workers takes part in the search while it runs, by a
    storage in PostgreSQL. Workers may come and go, and scheduler and database may be restarted.

    Ctrl-C ends the search, keeps everything, and returns the best so far after the finals, which a second Ctrl-C skips.
    Raises TuneError: a wrong option, optuna or a sampler's package missing, a storage that is gone, a disk that is
    full; what was tried is kept, and the same call goes on.
    """
    wanted, card = _resolve_target(target, bool(ssh))
    if card:
        warn_at_user(PREDICTED.format(card), TuneWarning)
    options = Options(
        trials, None if work_dir is None else Path(work_dir), space, storage, sampler, seed, timeout, stop_after,
        builders, wanted, threads, resume, dict(sizes or {}), _hosts(ssh, target),
        card=card, ends_workers=cluster is not None, predict=predict,
    )  # fmt: skip
    if not isinstance(resume, bool):
        raise TuneError(f"resume is True or False, not {resume!r}")
    sampler_of(sampler, seed)  # before anything is started
    module = _module(program)
    _check_sizes(module, options.sizes)
    with (
        _workers_of(cluster, options),
        listener_of(progress) as listener,
        TrialPool(builders_of(builders, options.ssh)) as pool,
    ):
        if len(module) > 1:
            return tune_module(module, options, listener, pool)
        return Tuner(module, options, listener, pool).run()


def _workers_of(cluster: object, options: Options) -> AbstractContextManager[object]:
    """The workers of a cluster, while they are needed. Raises TuneError."""
    if cluster is None:
        return nullcontext()
    url = storage_of_cluster(cluster, options.storage)
    spaces = {} if options.space is None else {options.space_name.rpartition(".")[2]: options.space}
    return ClusterWorkers(cluster, url, spaces)


def _resolve_target(target: AnyTarget | str | None, on_boards: bool) -> tuple[AnyTarget | str | None, str]:
    """A target, one of a GPU by its chip; and the GPU or the core for which times are predicted, as this machine does
    not run it, else "". Raises BuildError for what is neither a CPU nor a GPU of NVIDIA, for a GPU that is not that of
    this machine, or whose rates are not known, and for a CPU whose core is not known."""
    way = "tune on a machine with one, or leave target out to tune for this CPU"
    gpu = ptx_target(target)
    if gpu is None:
        if not resolved(target).is_cpu:
            raise BuildError(f"kernels for target={short_repr(target)} cannot be timed; fix: {way}")
        return target, "" if on_boards else name_if_absent(target)
    name = name_if_absent(gpu)
    if not name and not runs_on(gpu.chip, (here := host_gpu(way)).chip):
        raise BuildError(f"kernels for {gpu.chip} cannot be timed on {here.chip}; fix: target={here.chip!r}")
    return gpu, name


def _hosts(ssh: Sequence[str], target: AnyTarget | str | None) -> tuple[str, ...]:
    """The names of boards. Raises TuneError for other values, and for boards without a target."""
    if isinstance(ssh, str):
        raise TuneError(f"ssh is a list of names of machines, not {ssh!r}; fix: ssh=[{ssh!r}]")
    boards_of(ssh)
    if ssh and not chosen(target).triple:
        raise TuneError('boards need the target of their CPU; fix: target="neon", or a Target with a triple')
    return tuple(ssh)


def _module(program: Program) -> IRModule:
    """The program as a module. Raises TuneError for anything else."""
    mlir_module = held_module(program)
    if mlir_module is None or isinstance(program, Schedule):
        what = type(program).__name__
        fix = "; fix: tune.tune_model searches over a graph" if hasattr(program, "build_model") else ""
        raise TuneError(f"tune takes an IRModule, a PrimFunc or an MLIR module, not {what}{fix}")
    module = _standalone_module(program) if isinstance(program, PrimFunc) else IRModule(mlir_module)
    if not len(module):
        raise TuneError("the module has no function with a body")
    with enter_context():
        for func in funcs(module.mlir) if isinstance(program, IRModule) else []:
            if (caller := caller_of(func)) is not None:
                raise TuneError(
                    f"{caller} calls {func.name}: a function is tuned by itself; fix: tune(mod[{func.name!r}]), and put"
                    " the best schedule into the module"
                )
    return module


def _standalone_module(program: PrimFunc) -> IRModule:
    """A function in a module of its own, in which it can be run."""
    module = program.isolated_module
    with enter_context():
        attributes = module[program.name].func.op.attributes
        if "sym_visibility" in attributes:
            del attributes["sym_visibility"]
    return module


def _check_sizes(module: IRModule, sizes: Mapping[str, int]) -> None:
    """Raises TuneError for a shape variable without a size, a name that is none, or a value that is not a size."""
    mlir_module = held_module(module)
    assert mlir_module is not None
    with enter_context():
        variables = sorted({name for func in funcs(mlir_module) for name in func.symbols})
    listing = ", ".join(variables) or "none"
    for name, value in sizes.items():
        if name not in variables:
            raise TuneError(f"sizes has {short_repr(name)}, which is not a shape variable; the program has {listing}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise TuneError(f"the size {name} is a number >= 1, not {short_repr(value)}")
    if missing := [name for name in variables if name not in sizes]:
        values = ", ".join(f"{name!r}: ..." for name in variables)
        raise TuneError(
            f"a program is measured at sizes, and {', '.join(missing)} has none; fix: pass sizes={{{values}}}"
        )


# --- programs of several functions ------------------------------------------------------------------------------------


LEAST = 4
"""Trials of a function that takes next to no time."""


class EachFunction:
    """A space of a module: the space of each function, its decisions named `function/C.tile`."""

    def __init__(self, spaces: Mapping[str, Space]):
        self.spaces = dict(spaces)

    def __call__(self, sch: Schedule) -> None:
        decider = sch.executor.decider
        for name, space in self.spaces.items():
            if isinstance(decider, Deciding):
                decider.scope = f"{name}/"
            sch.work_on(name)
            space(sch)
        sch.executor.working = None


@dataclass
class BestOfModule:
    """The best schedules of the functions of a module, in one schedule. Prints as a table.

    functions: a `Best` by function. seconds, library_seconds: of all functions, each called once. The other fields: see
    `Best`.
    """

    schedule: Schedule
    decisions: dict[str, int]
    functions: dict[str, Best]
    record: Record
    verified: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        return _sum([best.seconds for best in self.functions.values()])

    @property
    def library_seconds(self) -> float | None:
        return _sum([best.library_seconds for best in self.functions.values()])

    @property
    def gain(self) -> float | None:
        """How many times as fast as the library's choice; None if one of them was not measured."""
        return self.library_seconds / self.seconds if self.library_seconds and self.seconds else None

    @property
    def is_predicted(self) -> bool:
        """Whether its times are predictions for a GPU or a CPU that the machine does not have."""
        return any(best.is_predicted for best in self.functions.values())

    @property
    def trials(self) -> list[TrialResult]:
        """What became of each candidate, function by function."""
        return [trial for best in self.functions.values() for trial in best.trials]

    @property
    def interrupted(self) -> bool:
        return any(best.interrupted for best in self.functions.values())

    def plot(self) -> SearchPlots:
        """Draw the searches of the functions, see `Best.plot`."""
        return SearchPlots({name: search_of(best) for name, best in self.functions.items()})

    def __str__(self) -> str:
        rows = [("function", "library's schedule", "best found", "gain", "trials")]
        for name, best in self.functions.items():
            rows.append((name, *_times(best), str(len(best.trials))))
        rows.append(("all", *_times(self), str(len(self.trials))))
        lines = align_columns(rows)
        lines.append(f"verified: {self.verified}" if self.verified else "not verified")
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    __repr__ = __str__


def _times(best: Best | BestOfModule) -> tuple[str, str, str]:
    gain = "" if best.gain is None else f"{best.gain:.2f}"
    return duration(best.library_seconds), duration(best.seconds), gain


def _sum(seconds: list[float | None]) -> float | None:
    measured = [s for s in seconds if s is not None]
    return sum(measured) if len(measured) == len(seconds) else None


def tune_module(program: IRModule, options: Options, listener: SearchListener, pool: TrialPool) -> BestOfModule:
    """Tune each function of a module, the trials shared by the time that the library's schedules take."""
    tuners = {name: Tuner(program[name].isolated_module, options, listener, pool) for name in program}
    counts = shares({name: tuner.library_seconds() for name, tuner in tuners.items()}, options.trials)
    bests: dict[str, Best] = {}
    for name, tuner in tuners.items():
        interrupted = any(best.interrupted for best in bests.values())
        tuner.options = replace(options, trials=1 if interrupted else counts[name])
        bests[name] = tuner.run()
    return _combine_winners(program, {n: (bests[n], _space(tuners[n], bests[n])) for n in tuners}, options)


def shares(seconds: Mapping[str, float], trials: int) -> dict[str, int]:
    """Trials by function, in proportion to its time, at least four each.

    f: 9 ms, g: 1 ms, 48 trials -> f: 40, g: 8
    """
    least = min(LEAST, max(1, trials // len(seconds)))
    spread, total = max(0, trials - least * len(seconds)), sum(seconds.values()) or 1.0
    return {name: least + round(spread * time / total) for name, time in seconds.items()}


def _space(tuner: Tuner, best: Best) -> Space:
    """The space that the best schedule of a function is of: the user's, or the library's, whose choice won."""
    return tuner.library if best.is_library else tuner.space


def _combine_winners(program: IRModule, winners: Mapping[str, tuple[Best, Space]], options: Options) -> BestOfModule:
    """One schedule of the whole module, verified, and its record."""
    decisions = {f"{name}/{key}": v for name, (best, _) in winners.items() for key, v in best.decisions.items()}
    candidate = draw_candidate(
        program, EachFunction({name: space for name, (_, space) in winners.items()}), Fixed(decisions)
    )
    if candidate.schedule is None:
        raise TuneError(f"the best schedules of the functions do not go together: {candidate.reason}")
    functions = {name: best for name, (best, _) in winners.items()}
    checked, notes = _verify_module(candidate.schedule)
    about = subject(program, options.target, options.threads)
    seconds = _sum([best.seconds for best in functions.values()])
    record = about.record(
        space=options.space_name,
        decisions=decisions,
        trace=candidate.schedule.trace.as_json(),
        seconds=() if seconds is None else (seconds,),
        verified=checked,
    )
    if options.work_dir is not None and record.seconds:
        Database(options.work_dir, threads=options.threads).add(record)
    return BestOfModule(candidate.schedule, decisions, functions, record, checked, notes)


def _verify_module(schedule: Schedule) -> tuple[str, list[str]]:
    try:
        return verify_schedule(schedule), []
    except NotChecked as reason:
        return "", [f"the module is not verified: {reason}; its functions are, see `functions`"]
    except ScheduleDiffers as difference:
        raise TuneError(f"the module is not equal to the program, though its functions are: {difference}") from None


def _text(candidate: Candidate) -> str:
    module = held_module(candidate.schedule)
    return "" if module is None else module_text(module)
