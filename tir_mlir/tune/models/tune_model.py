"""`tune.tune_model`: the search over the functions of a graph, with trials where the model spends its time.

Models are timed in turns, so that times can be compared.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.dialect.diagnostics import TuneError, short_repr
from tir_mlir.graph import size_code
from tir_mlir.graph.build_model import model_of
from tir_mlir.graph.compile import BEFORE_SCHEDULES, compiled_by_content
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.frames import numpy_type
from tir_mlir.graph.model import Model
from tir_mlir.graph.transforms.schedule_functions import schedule_functions
from tir_mlir.runtime.aligned_arrays import empty
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.script.module import IRModule
from tir_mlir.target import AnyTarget, Target, chosen, named
from tir_mlir.targets.stages import BuildOptions
from tir_mlir.tune.models.best_model import BestOfModel, TunedFunction
from tir_mlir.tune.models.given_model import given_model
from tir_mlir.tune.models.tasks import tasks_of
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.record import Record
from tir_mlir.tune.report.model_progress import ModelProgress, SilentModel
from tir_mlir.tune.report.progress import listener_of
from tir_mlir.tune.search.samplers import sampler_of
from tir_mlir.tune.search.tuner import Options, builders_of
from tir_mlir.tune.trials.pool import TrialPool

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage

    from tir_mlir.graph.memory.frames import Array


import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from math import ceil

from tir_mlir.tune.models.tasks import TuningTask
from tir_mlir.tune.report.model_progress import ModelListener
from tir_mlir.tune.search.best import Best
from tir_mlir.tune.search.finals import LIBRARY
from tir_mlir.tune.search.lab import NoReference
from tir_mlir.tune.search.ledger import study_names
from tir_mlir.tune.search.session import Session
from tir_mlir.tune.search.tuner import Tuner

ROUNDS = 20
"""Runs of the model that say where it spends its time."""
SLOWER = 1.02
"""How much slower a function is in the model, with what was found, until the library's schedule is kept."""


def tune_model(
    graph: Any,
    inputs: Sequence[Array] | None = None,
    *,
    trials: int = 256,
    work_dir: str | os.PathLike[str] | None = None,
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
    progress: Any = None,
) -> BestOfModel:
    """Search for the best schedules of the functions of a graph. Returns a `BestOfModel`, which prints as a table.

        best = tune.tune_model(graph, [x], trials=256, work_dir="tuned")
        best.model(x)

    The graph is compiled as `build` does it, up to the schedules. The model is run call by call; then its functions are
    searched in rounds of eight trials, each where it is expected to save most time of a run: by the time of all calls
    of a function, by what its last round saved, and by what the roofs of the machine leave. At the end the best
    candidates of each function that was searched are measured again and verified, as by `tune.tune`, and the winner is
    measured in the model, where other functions fill the caches: what is slower there keeps the library's schedule.

    graph: a Graph, a function of `R`, a module with a graph, or, with inputs, a module of PyTorch. inputs: of a run,
    arrays or tensors; default: random numbers, and zeros for integers. sizes: values of the named sizes, where inputs
    are not given. trials: of all functions, those of an interrupted run included. work_dir: where records and studies
    are kept, for `with tune.Database(work_dir): build(graph)`; None: nowhere. progress: whether to show it; default:
    in a terminal. The other options are those of `tune.tune`.

    Ctrl-C ends the search, keeps everything, and returns the best so far after the finals, which a second Ctrl-C skips.
    Raises TuneError: a wrong option, a graph without inputs to run it on, a target that is another machine.
    """
    options = Options(
        trials, None if work_dir is None else Path(work_dir), None, storage, sampler, seed, timeout, stop_after,
        builders, target, threads, resume,
    )  # fmt: skip
    if not isinstance(resume, bool):
        raise TuneError(f"resume is True or False, not {resume!r}")
    sampler_of(sampler, seed)  # before anything is started
    (model_graph, inputs), goal = _model(graph, inputs), _goal(target)
    build_options = BuildOptions(target=goal, threads=threads, cache=False)
    with built_as_given():
        prepared = compiled_by_content(model_graph, build_options, BEFORE_SCHEDULES)
        return search_functions(prepared, goal, inputs, sizes or {}, options, progress)


def search_functions(
    prepared: Graph,
    goal: Target | str,
    inputs: Sequence[Array] | None,
    sizes: Mapping[str, int],
    options: Options,
    progress: Any = None,
) -> BestOfModel:
    """The search over the functions of a graph that only schedules are missing from; see `tune_model`."""
    with ExitStack() as stack:
        if options.work_dir is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tir-tune-")))
            options = replace(options, work_dir=folder)
        stack.enter_context(built_as_given())
        base = model_of(schedule_functions(prepared, goal, options.threads), goal)
        arrays = model_inputs(base, inputs, sizes)
        tasks = tasks_of(prepared, base, arrays, ROUNDS)
        cores = options.threads or chosen(options.target).cores
        listener = stack.enter_context(listener_of(progress, SilentModel, ModelProgress))
        pool = stack.enter_context(TrialPool(builders_of(options.builders, ())))
        search = ModelSearch(tasks, options, cores, listener, pool)
        bests = search.run()
        listener.phase("the model")
        records = [best.record for best in bests.values() if not best.is_library]
        times = {t.name: (t.seconds, t.seconds) for t in tasks}
        if records:
            times = task_seconds(base, _trial(prepared, goal, options, records), tasks, arrays)
        slower = {name for name in bests if times[name][1] > SLOWER * times[name][0]}
        search.settle(bests, slower)
        adopted = [name for name, best in bests.items() if not best.is_library and name not in slower]
        tuned = _build_with_records(prepared, goal, options.work_dir, options.threads) if adopted else base
        library_seconds, *others = time_interleaved([base, tuned] if adopted else [base], arrays, cores)
        seconds = others[0] if others else library_seconds
    functions = [TunedFunction(t.name, t.calls, *times[t.name], bests.get(t.name), t.name not in slower) for t in tasks]
    return BestOfModel(tuned, functions, library_seconds, seconds, search.trials, search.notes, search.interrupted)


def _model(value: Any, inputs: Sequence[Array] | None) -> tuple[Graph, Sequence[Array] | None]:
    """The graph to tune, and its inputs. Raises TuneError for a value that has no graph."""
    graph_inputs = given_model(value if inputs is None else (value, inputs))
    if graph_inputs is not None:
        return graph_inputs
    what = "a module of programs" if isinstance(value, IRModule) else type(value).__name__
    raise TuneError(f"tune_model takes a graph, not {what}; fix: tune.tune searches for schedules of programs")


def _goal(target: Target | str | None) -> Target | str:
    """The target as `build` takes it. Raises TuneError for one that does not run here."""
    goal = "llvm" if target is None or target == "llvm" else named(target) if isinstance(target, str) else target
    if goal == "llvm":
        return "llvm"
    if not isinstance(goal, AnyTarget) or not goal.is_cpu:
        raise TuneError(
            f"the schedules of a model are searched for CPUs, not for {short_repr(target)}; fix: target=None"
        )
    cpu = goal.as_cpu()
    if not cpu.runs_here:
        raise TuneError(
            f"a model is measured on this machine, which does not run code for {short_repr(target)}; "
            "fix: tune its functions with tune.tune(..., ssh=[...]), or run the search on that machine"
        )
    return cpu


def _trial(prepared: Graph, goal: Target | str, options: Options, records: Sequence[Record]) -> Model:
    """The model with the schedules of these records."""
    with tempfile.TemporaryDirectory(prefix="tir-tune-") as folder:
        database = Database(folder)
        for record in records:
            database.add(record)
        return _build_with_records(prepared, goal, folder, options.threads)


def _build_with_records(prepared: Graph, goal: Target | str, folder: Any, threads: int | None) -> Model:
    """The model with the best schedules that a folder has."""
    with Database(folder, threads=threads):
        return model_of(schedule_functions(prepared, goal, threads), goal)


# --- inputs that a model is measured on -------------------------------------------------------------------------------


def model_inputs(model: Model, inputs: Sequence[Array] | None, sizes: Mapping[str, int]) -> list[Array]:
    """The inputs as given, else random ones: floats of a normal distribution, integers 0, which index anything.

    Raises TuneError for inputs of another number, a named size without a value, or one that is none.
    """
    names = [name for name, _ in model.plan.inputs]
    if inputs is not None:
        if isinstance(inputs, (str, np.ndarray)) or not isinstance(inputs, Sequence):
            raise TuneError(
                f"inputs is a list of arrays, one for each of {', '.join(names)}, not {type(inputs).__name__}"
            )
        if len(inputs) != len(names):
            raise TuneError(f"the model takes {', '.join(names) or 'no inputs'}; inputs has {len(inputs)}")
        return list(inputs)
    dims = model.plan.symbols
    for name, value in sizes.items():
        if name not in dims:
            raise TuneError(f"sizes has {short_repr(name)}; the sizes of the graph are {', '.join(dims) or 'numbers'}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise TuneError(f"the size {name} is a number >= 1, not {short_repr(value)}")
    if missing := [name for name in dims if name not in sizes]:
        values = ", ".join(f"{name!r}: ..." for name in dims)
        raise TuneError(
            f"a model is measured at sizes, and {', '.join(missing)} has none; fix: inputs=[...], or sizes={{{values}}}"
        )
    rng = np.random.default_rng(0)
    shaped = [(tuple(size_code.value(s, sizes) for s in type_.shape), type_.dtype) for _, type_ in model.plan.inputs]
    return [_random_array(shape, dtype, rng) for shape, dtype in shaped]


def _random_array(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
    array = empty(shape, numpy_type(dtype))
    array[...] = rng.standard_normal(shape) if dtype.startswith("float") else 0
    return array


# --- the time of a run of models, in turns ----------------------------------------------------------------------------


INTERLEAVED_ROUNDS = 15
PROFILES, PROFILED = 5, 7
"""Rounds over the models, and the runs of a round."""
LEAST = 2e-3
"""Seconds of a sample: shorter runs are repeated in it."""


def time_interleaved(models: Sequence[Callable[..., object]], inputs: Sequence[Array], threads: int) -> list[float]:
    """Seconds of a run of each model: the fastest of rounds in which they take turns; CPU time for one thread."""
    clock = time.process_time if threads == 1 else time.perf_counter
    counts = [_repeats(model, inputs) for model in models]
    best = [float("inf")] * len(models)
    for _ in range(INTERLEAVED_ROUNDS):
        for n, (model, count) in enumerate(zip(models, counts, strict=True)):
            start = clock()
            for _ in range(count):
                model(*inputs)
            best[n] = min(best[n], (clock() - start) / count)
    return best


def task_seconds(
    base: Model, tuned: Model, tasks: Sequence[TuningTask], inputs: Sequence[Array]
) -> dict[str, tuple[float, float]]:
    """Seconds of the calls of each function in a run of two models, by the name of its task: the fastest of rounds in
    which the models take turns."""
    best = {task.name: [float("inf"), float("inf")] for task in tasks}
    task_of = {name: task.name for task in tasks for name in task.functions}
    for _ in range(PROFILES):
        for n, model in enumerate((base, tuned)):
            totals = dict.fromkeys(best, 0.0)
            for call in model.profile(*inputs, rounds=PROFILED):
                if call.function in task_of:
                    totals[task_of[call.function]] += call.seconds
            for name, seconds in totals.items():
                best[name][n] = min(best[name][n], seconds)
    return {name: (base_seconds, tuned_seconds) for name, (base_seconds, tuned_seconds) in best.items()}


def _repeats(model: Callable[..., object], inputs: Sequence[Array]) -> int:
    """How many runs a sample has."""
    model(*inputs)
    start = time.perf_counter()
    model(*inputs)
    return max(1, int(LEAST / max(time.perf_counter() - start, 1e-7)))


# --- rounds of trials, each where it is expected to save most time ----------------------------------------------------


ROUND_TRIALS = 8
"""Trials of a round: one function is searched, then it is decided anew."""


@dataclass
class Begun:
    """A function whose search has begun."""

    tuner: Tuner
    session: Session


class ModelSearch:
    """A search under way over the functions of a model.

    begun: the functions that were searched, now or in earlier runs. notes: what did not go as asked. interrupted: by
    Ctrl-C.
    """

    def __init__(
        self, tasks: Sequence[TuningTask], options: Options, threads: int, listener: ModelListener, pool: TrialPool
    ):
        self.tasks = {task.name: task for task in tasks}
        self.options, self.listener, self.pool = options, listener, pool
        self.standings = {task.name: Standing([task.seconds], task.least / threads) for task in tasks}
        self.begun: dict[str, Begun] = {}
        self.notes: list[str] = []
        self.interrupted = False
        self._start = time.monotonic()

    @property
    def trials(self) -> int:
        """Candidates so far, those of earlier runs included."""
        return sum(len(begun.session.results) for begun in self.begun.values())

    def run(self) -> dict[str, Best]:
        """Search until the trials or the seconds are spent, nothing is left to try, or Ctrl-C; then the finals.

        Returns what was found, by function; functions that were not searched have nothing. `settle` keeps it.
        """
        try:
            self._resume()
            while self._has_budget() and (name := next_function(self.standings)) is not None:
                self._round(name)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            for begun in self.begun.values():
                begun.session.close()
        return self._finals()

    def settle(self, bests: Mapping[str, Best], slower: Collection[str]) -> None:
        """Keep what was found in the database; of functions that are slower with it, the library's schedule."""
        for name, best in bests.items():
            tuner = self.begun[name].tuner
            tuner.keep(tuner.library_record(best) if name in slower else best.record)

    # --- rounds -------------------------------------------------------------------------------------------------------

    def _resume(self) -> None:
        """Begin with the functions that an earlier run has searched: their trials count."""
        if not self.options.resume or (self.options.work_dir is None and self.options.storage is None):
            return
        studies = study_names(self.options.work_dir, self.options.storage)
        for name in self.tasks:
            if self._tuner(name).study_name in studies:
                self._begin(name)

    def _has_budget(self) -> bool:
        seconds = self._seconds_left()
        return self.trials < self.options.trials and (seconds is None or seconds > 0)

    def _seconds_left(self) -> float | None:
        limit = self.options.stop_after
        return None if limit is None else limit - (time.monotonic() - self._start)

    def _round(self, name: str) -> None:
        """Search one function for a round."""
        standing = self.standings[name]
        begun = self.begun.get(name) or self._begin(name)
        if begun is None:
            return
        tried = len(begun.session.results)
        trials = min(ROUND_TRIALS, self.options.trials - self.trials)
        seconds = self._seconds_left()
        self._show_progress(name)
        begun.tuner.advance(begun.session, trials, None if seconds is None else max(seconds, 0.0))
        standing.seconds.append(self._seconds(name))
        standing.over = begun.session.proposals.exhausted or len(begun.session.results) == tried
        if begun.session.interrupted:
            raise KeyboardInterrupt

    def _begin(self, name: str) -> Begun | None:
        """Begin the search of a function; None, with a note, if there is nothing to compare candidates with."""
        self._show_progress(name)
        tuner, standing = self._tuner(name), self.standings[name]
        try:
            session = tuner.begin()
        except NoReference as reason:
            self.notes.append(f"{name} keeps the library's schedule: {reason}")
            standing.over = True
            return None
        self.begun[name] = Begun(tuner, session)
        if session.results:
            rounds = ceil(len(session.results) / ROUND_TRIALS)
            standing.seconds += [standing.now] * (rounds - 1) + [self._seconds(name)]
        return self.begun[name]

    def _tuner(self, name: str) -> Tuner:
        task = self.tasks[name]
        return Tuner(task.program, replace(self.options, sizes=task.sizes), self.listener, self.pool)

    def _seconds(self, name: str) -> float:
        """Seconds of all calls of a function in a run, by the best candidate so far: in proportion to its trials."""
        task, session = self.tasks[name], self.begun[name].session
        library = next((r.median for r in session.results if r.origin == LIBRARY and r.ok), None)
        best = session.best.median if session.best is not None else None
        return task.seconds * min(1.0, best / library) if best and library else self.standings[name].now

    def _show_progress(self, name: str) -> None:
        counts = {n: len(b.session.results) for n, b in self.begun.items()}
        rows = [(n, s.seconds[0], s.now, counts.get(n, 0)) for n, s in self.standings.items()]
        self.listener.functions(name, sorted(rows, key=lambda row: -row[1]), self.options.trials)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _finals(self) -> dict[str, Best]:
        """What was found: measured again and verified, function by function, the longest first."""
        bests: dict[str, Best] = {}
        skipped = False
        for name in sorted(self.begun, key=lambda n: -self.tasks[n].seconds):
            begun = self.begun[name]
            self._show_progress(name)
            begun.session.interrupted |= self.interrupted
            try:
                bests[name] = begun.tuner.finish(begun.session, skipped)
                skipped |= not bests[name].finals  # by a second Ctrl-C
            except TuneError as reason:
                self.notes.append(f"{name} keeps the library's schedule: {reason}")
        return bests


# --- which function of a model is searched next: where a round is expected to save most time of a run -----------------


RECENT = 0.2
"""The weight of what the last round has saved, against what a round may save at best."""
HEADROOM = 0.05
"""The part of its time that a function is never thought to be unable to save: roofs are those of float32."""


@dataclass
class Standing:
    """How far the search of a function is.

    seconds: of all its calls in a run, after each round; first without any.
    least: what these calls take at the roofs of the machine.
    over: nothing is left to try.
    """

    seconds: list[float]
    least: float = 0.0
    over: bool = field(default=False)

    @property
    def now(self) -> float:
        return self.seconds[-1]

    @property
    def rounds(self) -> int:
        return len(self.seconds) - 1


def expected_gain(standing: Standing) -> float:
    """The seconds of a run that another round is expected to save.

        0.2 * what the last round saved + 0.8 * min(seconds / (rounds + 1), seconds - least)

    The second term is a hope that shrinks with the rounds that were spent, and ends at the roof of the machine.
    """
    seconds, rounds = standing.now, standing.rounds
    hope = min(seconds / (rounds + 1), max(seconds - standing.least, HEADROOM * seconds))
    if not rounds:
        return hope
    return RECENT * max(0.0, standing.seconds[-2] - seconds) + (1 - RECENT) * hope


def next_function(standings: Mapping[str, Standing]) -> str | None:
    """The function whose next round is expected to save most; None if all are over."""
    open_ = {name: expected_gain(s) for name, s in standings.items() if not s.over}
    return max(open_, key=lambda name: open_[name], default=None)
