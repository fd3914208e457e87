"""`tune.tune_model`: the search over the functions of a graph, with trials where the model spends its time."""

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
from tir_mlir.graph.build_model import elsewhere, model_of
from tir_mlir.graph.compile import Options as CompileOptions
from tir_mlir.graph.compiled_cache import BEFORE_SCHEDULES, compiled_by_content
from tir_mlir.graph.frames import numpy_type
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory import size_code
from tir_mlir.graph.model import Model
from tir_mlir.graph.transforms.schedule_functions import schedule_functions
from tir_mlir.runtime.aligned import empty
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.script.module import IRModule
from tir_mlir.target import Target, chosen, named
from tir_mlir.tune.models.best_model import BestOfModel, TunedFunction
from tir_mlir.tune.models.given_model import given_model
from tir_mlir.tune.models.model_search import ModelSearch
from tir_mlir.tune.models.model_times import inside, interleaved
from tir_mlir.tune.models.tasks import tasks_of
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.record import Record
from tir_mlir.tune.report.model_progress import ModelProgress, SilentModel
from tir_mlir.tune.report.progress import listener_of
from tir_mlir.tune.search.samplers import sampler_of
from tir_mlir.tune.search.tuner import Options, builders_of
from tir_mlir.tune.trials.pool import Pool

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage


ROUNDS = 20
"""Runs of the model that say where it spends its time."""
SLOWER = 1.02
"""How much slower a function is in the model, with what was found, until the library's schedule is kept."""


def tune_model(
    graph: Any,
    inputs: Sequence[Any] | None = None,
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
    with built_as_given():
        prepared = compiled_by_content(model_graph, CompileOptions(goal, threads), BEFORE_SCHEDULES)
        return searched(prepared, goal, inputs, sizes or {}, options, progress)


def searched(
    prepared: Graph,
    goal: Target | str,
    inputs: Sequence[Any] | None,
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
        pool = stack.enter_context(Pool(builders_of(options.builders, ())))
        search = ModelSearch(tasks, options, cores, listener, pool)
        bests = search.run()
        listener.phase("the model")
        records = [best.record for best in bests.values() if not best.is_library]
        times = {t.name: (t.seconds, t.seconds) for t in tasks}
        if records:
            times = inside(base, _trial(prepared, goal, options, records), tasks, arrays)
        slower = {name for name in bests if times[name][1] > SLOWER * times[name][0]}
        search.settle(bests, slower)
        adopted = [name for name, best in bests.items() if not best.is_library and name not in slower]
        tuned = _built(prepared, goal, options.work_dir, options.threads) if adopted else base
        library_seconds, *others = interleaved([base, tuned] if adopted else [base], arrays, cores)
        seconds = others[0] if others else library_seconds
    functions = [TunedFunction(t.name, t.calls, *times[t.name], bests.get(t.name), t.name not in slower) for t in tasks]
    return BestOfModel(tuned, functions, library_seconds, seconds, search.trials, search.notes, search.interrupted)


def _model(value: Any, inputs: Sequence[Any] | None) -> tuple[Graph, Sequence[Any] | None]:
    """The graph to tune, and its inputs. Raises TuneError for a value that has no graph."""
    graph_inputs = given_model(value if inputs is None else (value, inputs))
    if graph_inputs is not None:
        return graph_inputs
    what = "a module of programs" if isinstance(value, IRModule) else type(value).__name__
    raise TuneError(f"tune_model takes a graph, not {what}; fix: tune.tune searches for schedules of programs")


def _goal(target: Target | str | None) -> Target | str:
    """The target as `build` takes it. Raises TuneError for one that does not run here."""
    goal = "llvm" if target is None or target == "llvm" else named(target) if isinstance(target, str) else target
    if elsewhere(goal):
        raise TuneError(
            f"a model is measured on this machine, which does not run code for {short_repr(target)}; "
            "fix: tune its functions with tune.tune(..., ssh=[...]), or run the search on that machine"
        )
    return goal


def _trial(prepared: Graph, goal: Target | str, options: Options, records: Sequence[Record]) -> Model:
    """The model with the schedules of these records."""
    with tempfile.TemporaryDirectory(prefix="tir-tune-") as folder:
        database = Database(folder)
        for record in records:
            database.add(record)
        return _built(prepared, goal, folder, options.threads)


def _built(prepared: Graph, goal: Target | str, folder: Any, threads: int | None) -> Model:
    """The model with the best schedules that a folder has."""
    with Database(folder, threads=threads):
        return model_of(schedule_functions(prepared, goal, threads), goal)


# --- inputs that a model is measured on -------------------------------------------------------------------------------


def model_inputs(model: Model, inputs: Sequence[Any] | None, sizes: Mapping[str, int]) -> list[Any]:
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
    return [_filled(shape, dtype, rng) for shape, dtype in shaped]


def _filled(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
    array = empty(shape, numpy_type(dtype))
    array[...] = rng.standard_normal(shape) if dtype.startswith("float") else 0
    return array
