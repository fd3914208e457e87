"""`tvm.meta_schedule`: searches in the form of TVM, by `tir_mlir.tune`."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tir_mlir import tune
from tir_mlir.compat.gpu_targets import gpu_of, has_gpu, runnable_target
from tir_mlir.dialect.diagnostics import TirError, TuneError, TuneWarning, short_repr
from tir_mlir.schedule import Schedule
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.program_identity import identity
from tir_mlir.tune.records.replay import replayed
from tir_mlir.tune.spaces.kernels import kernels

if TYPE_CHECKING:
    from tir_mlir.compat.runtime import Target

_CORES = re.compile(r"(?:^|\s)--?num-cores[= ](\S+)")
_LIBRARY = "library"  # the name of its space in records
STRATEGIES = {"replay_trace": "random", "replay_func": "random", "evolutionary": "tpe"}


@dataclass(frozen=True)
class TuneConfig:
    """The budget of a search. strategy: "replay_trace" and "replay_func" sample at random, "evolutionary" is tpe."""

    max_trials_global: int
    num_trials_per_iter: int = 64
    max_trials_per_task: int | None = None
    strategy: str = "evolutionary"

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            names = ", ".join(map(repr, STRATEGIES))
            raise TuneError(f"unknown strategy {short_repr(self.strategy)}; known: {names}")


class ScheduleFn:
    """A space given as a function over a Schedule with `sample_*` steps, which is run again for each candidate."""

    def __init__(self, sch_fn: Callable[[Schedule], object], *_: object, **__: object):
        if not callable(sch_fn):
            raise TuneError(f"ScheduleFn takes a function over a Schedule, not {short_repr(sch_fn)}")
        self.sch_fn = sch_fn


Space = ScheduleFn | Callable[[Schedule], object]


class JSONDatabase(Database):
    """The records of a search in a directory: `work_dir`. Both paths of TVM's files are taken as that directory.

    only_given_space: whether the library's schedule is left out, as for a search over a space of the user.
    """

    only_given_space = False

    def __init__(
        self,
        path_workload: str | os.PathLike[str] | None = None,
        path_tuning_record: str | os.PathLike[str] | None = None,
        *,
        work_dir: str | os.PathLike[str] | None = None,
        **_: object,
    ):
        if work_dir is None and path_workload is not None:
            work_dir = os.path.dirname(os.path.abspath(path_workload))
        super().__init__(work_dir or "")  # refused there

    def query_schedule(
        self, mod: IRModule | PrimFunc, target: str | Target, workload_name: str = ""
    ) -> Schedule | None:
        """The best schedule of a program; None without a record."""
        return compile_tir(self, mod, target)


def tune_tir(
    mod: IRModule | PrimFunc,
    target: str | Target = "llvm",
    config: TuneConfig | None = None,
    *,
    work_dir: str | None = None,
    max_trials_global: int | None = None,
    num_trials_per_iter: int = 64,
    max_trials_per_task: int | None = None,
    space: Space | str | None = None,
    strategy: str = "evolutionary",
    seed: int | None = None,
    num_tuning_cores: int | str | None = None,
    task_name: str = "main",
    **_: object,
) -> JSONDatabase | Schedule | None:
    """Search for a schedule of a program with one function.

    With a TuneConfig, as in older versions of TVM, the best Schedule is returned; else the database, for `compile_tir`.
    target: "llvm" with `--num-cores=1` or another number of threads. space: a ScheduleFn, or a function over a
    Schedule, of which the best schedule is returned even where the library's is faster; default: the space of
    `tir_mlir.tune`. Trials run one by one, so `num_trials_per_iter` has no effect. For a GPU, "nvidia/tesla-p100": the
    space of `tir_mlir.tune.spaces.kernels`, whose candidates run on the GPU, or without one on the CPU, loops over
    threads as plain loops.
    Raises TuneError for an unknown target, and those of `tune.tune`.
    """
    threads = threads_of(target)
    gpu = gpu_of(str(target))
    nvidia = None if gpu is None else gpu.nvidia
    timed_on = (
        nvidia if nvidia is not None and runnable_target(nvidia) is nvidia else None
    )  # without a GPU that is said
    if nvidia is not None and _space(space) is None and timed_on is None:
        space = ScheduleFn(partial(kernels, target=nvidia))
    settings = config or TuneConfig(trials_of(max_trials_global), num_trials_per_iter, max_trials_per_task, strategy)
    folder = work_dir or tempfile.mkdtemp(prefix="tir_mlir-tune-")
    best = tune.tune(
        _function(mod),
        trials=min(settings.max_trials_global, settings.max_trials_per_task or settings.max_trials_global),
        work_dir=folder,
        space=_space(space),
        sampler=STRATEGIES[settings.strategy],
        target=timed_on,
        threads=threads,
        seed=seed,
        builders=num_tuning_cores if isinstance(num_tuning_cores, int) else None,
    )
    database = JSONDatabase(work_dir=folder)
    database.only_given_space = space is not None
    if config is None:
        return database
    return best.schedule if space is None else compile_tir(database, mod, target)


def compile_tir(database: Database, mod: IRModule | PrimFunc, target: str | Target) -> Schedule | None:
    """The best schedule that a database has of a program, with its trace; None, with a warning, without a record."""
    function = _function(mod)
    skips_library = getattr(database, "only_given_space", False)
    gpu = gpu_of(str(target))
    timed_on = gpu if gpu is not None and gpu.nvidia is not None and has_gpu() else None
    for record in database.candidates(identity(function), timed_on, threads_of(target)):
        if skips_library and record.space == _LIBRARY:
            continue  # `tune` measures the library's schedule as well
        try:
            return replayed(record, function)
        except TirError as error:
            warnings.warn(f"{record} is passed over: {error}", TuneWarning, stacklevel=2)
    warnings.warn(f"{database.path} has no record of this program for this target", TuneWarning, stacklevel=2)
    return None


def trials_of(count: int | None) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise TuneError(f"max_trials_global is a number of trials >= 1, not {short_repr(count)}")
    return count


def _function(mod: IRModule | PrimFunc) -> IRModule:
    """The program as a module with one function, named as it is."""
    module = mod.isolated_module if isinstance(mod, PrimFunc) else mod
    if not isinstance(module, IRModule) or len(module) != 1:
        what = f"a module with {len(module)}" if isinstance(module, IRModule) else short_repr(mod)
        raise TuneError(f"tune_tir takes a module with one function, not {what}; fix: tune its functions one by one")
    return module


def _space(space: Space | str | None) -> Callable[[Schedule], object] | None:
    if space is None or (isinstance(space, str) and space == "post-order-apply"):
        return None
    function = space.sch_fn if isinstance(space, ScheduleFn) else space
    if not callable(function):
        raise TuneError(f"space is a ScheduleFn, not {short_repr(space)}")
    return function


def threads_of(target: str | Target) -> int | None:
    """The number of threads of a target as TVM writes it; None: all cores."""
    text = str(target)
    gpu = gpu_of(text)
    if gpu is not None and gpu.nvidia is not None:
        return 1
    if text.split()[:1] != ["llvm"]:
        raise TuneError(f'programs are tuned for the CPU and for NVIDIA GPUs, not {text!r}; fix: target="llvm"')
    cores = _CORES.search(text)
    if cores is None:
        return None
    if not cores[1].isdigit() or not int(cores[1]):
        raise TuneError(f"num-cores is a number >= 1, not {cores[1]!r}")
    return int(cores[1])
