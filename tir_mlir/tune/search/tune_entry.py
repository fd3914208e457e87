"""`tune.tune`: the door of the search."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.calls import caller_of
from tir_mlir.dialect.diagnostics import TuneError, short_repr
from tir_mlir.dialect.ir import entered, funcs, held_module
from tir_mlir.schedule import Schedule
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.target import Target, chosen
from tir_mlir.tune.boards import boards_of
from tir_mlir.tune.report.progress import Progress, listener_of
from tir_mlir.tune.search.best import Best
from tir_mlir.tune.search.candidates import Space
from tir_mlir.tune.search.samplers import sampler_of
from tir_mlir.tune.search.tuner import Options, Tuner, builders_of
from tir_mlir.tune.search.whole_program import BestOfModule, tune_module
from tir_mlir.tune.trials.pool import Pool

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage


def tune(
    program: Any,
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
    target: Target | str | None = None,
    threads: int | None = None,
    sizes: Mapping[str, int] | None = None,
    resume: bool = True,
    ssh: Sequence[str] = (),
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
    core. target, threads: as for `schedules`. sizes: values of shape variables that are measured. resume: go on with
    what work_dir or storage has of this search; False: start again. progress: whether to show it; default: in a
    terminal. ssh: names of boards, as ssh takes them, on which candidates run; target is their CPU.

    Ctrl-C ends the search, keeps everything, and returns the best so far after the finals, which a second Ctrl-C skips.
    Raises TuneError: a wrong option, optuna or a sampler's package missing, a storage that is gone, a disk that is
    full; what was tried is kept, and the same call goes on.
    """
    options = Options(
        trials, None if work_dir is None else Path(work_dir), space, storage, sampler, seed, timeout, stop_after,
        builders, target, threads, resume, dict(sizes or {}), _hosts(ssh, target),
    )  # fmt: skip
    if not isinstance(resume, bool):
        raise TuneError(f"resume is True or False, not {resume!r}")
    sampler_of(sampler, seed)  # before anything is started
    module = _module(program)
    _check_sizes(module, options.sizes)
    with listener_of(progress) as listener, Pool(builders_of(builders, options.ssh)) as pool:
        if len(module) > 1:
            return tune_module(module, options, listener, pool)
        return Tuner(module, options, listener, pool).run()


def _hosts(ssh: Sequence[str], target: Target | str | None) -> tuple[str, ...]:
    """The names of boards. Raises TuneError for other values, and for boards without a target."""
    if isinstance(ssh, str):
        raise TuneError(f"ssh is a list of names of machines, not {ssh!r}; fix: ssh=[{ssh!r}]")
    boards_of(ssh)
    if ssh and not chosen(target).triple:
        raise TuneError('boards need the target of their CPU; fix: target="neon", or a Target with a triple')
    return tuple(ssh)


def _module(program: Any) -> IRModule:
    """The program as a module. Raises TuneError for anything else."""
    mlir_module = held_module(program)
    if mlir_module is None or isinstance(program, Schedule):
        what = type(program).__name__
        fix = "; fix: tune.tune_model searches over a graph" if hasattr(program, "build_model") else ""
        raise TuneError(f"tune takes an IRModule, a PrimFunc or an MLIR module, not {what}{fix}")
    module = _public(program) if isinstance(program, PrimFunc) else IRModule(mlir_module)
    if not len(module):
        raise TuneError("the module has no function with a body")
    with entered():
        for func in funcs(module.mlir) if isinstance(program, IRModule) else []:
            if (caller := caller_of(func)) is not None:
                raise TuneError(
                    f"{caller} calls {func.name}: a function is tuned by itself; fix: tune(mod[{func.name!r}]), and put"
                    " the best schedule into the module"
                )
    return module


def _public(program: PrimFunc) -> IRModule:
    """A function in a module of its own, in which it can be run."""
    module = program.alone
    with entered():
        attributes = module[program.name].func.op.attributes
        if "sym_visibility" in attributes:
            del attributes["sym_visibility"]
    return module


def _check_sizes(module: IRModule, sizes: Mapping[str, int]) -> None:
    """Raises TuneError for a shape variable without a size, a name that is none, or a value that is no size."""
    mlir_module = held_module(module)
    assert mlir_module is not None
    with entered():
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
