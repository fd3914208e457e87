"""Runs candidates on this machine, each in a forked copy of the worker: what they break ends with the copy."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.dialect.ir import Func, enter_context, funcs
from tir_mlir.equivalence import inputs
from tir_mlir.equivalence.random_arguments import copy_aligned, random_arguments
from tir_mlir.equivalence.work import terms_of, work_of
from tir_mlir.processes.forked import End, Ending, run_forked
from tir_mlir.processes.watch import gigabytes
from tir_mlir.runtime.call.signature import BufferParam, CallSignature
from tir_mlir.runtime.kernels.registry import emit, register_kernel
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.sampling_runs import clock_of, sample, sample_interleaved
from tir_mlir.tune.trials import tolerance
from tir_mlir.tune.trials.job import Job
from tir_mlir.tune.trials.outcome import OUTLYING, Outcome, Status
from tir_mlir.tune.trials.reference import Reference

HURRY = 30
"""A run that takes this many times as long as the best is ended, if it takes a second."""

Tell = Callable[[object], None]


class NoReference(Exception):
    """The program to compare with did not run to its end; what became of it."""

    def __init__(self, outcome: Outcome):
        super().__init__(outcome.reason)
        self.outcome = outcome


@dataclass(frozen=True)
class LocalMeasurer:
    """This machine."""

    @property
    def lane(self) -> str:
        return "local"

    def build(self, job: Job) -> Library:
        """Build without the code cache: a build that is ended by a limit leaves no note there. Raises TirError."""
        register_kernels(job)
        with enter_context():
            module = ir.Module.parse(job.text)
        return build(module, job.target, cache=False, libs=job.libs)

    def measure(self, built: Library, job: Job) -> Outcome:
        """Run once and compare the results; then time runs."""
        if (size := built.scratch) > job.limits.memory:
            text = f"it allocates {gigabytes(size)} for its own buffers; the limit is {gigabytes(job.limits.memory)}"
            return Outcome(Status.OUT_OF_MEMORY, reason=text)
        signature, values = arguments_of(built, job)
        seconds, hurry = job.limits.run, ""
        if job.best is not None and not job.on_gpu and (short := max(1.0, HURRY * job.best)) < seconds:
            seconds, hurry = short, f"ended after {short:g} s, and the best takes {job.best:.3g} s"
        work = partial(_measure_candidate, built, job, signature, values)
        return _outcome(run_forked(work, seconds, job.limits.memory, threads_of(job)), hurry)

    def compare(self, built: Sequence[Library], jobs: Sequence[Job], rounds: int) -> list[list[float]]:
        """Time candidates in turns in one process; without those that are wrong or crash."""
        times: list[list[float]] = [[] for _ in jobs]
        pending = list(range(len(jobs)))
        while pending:
            limit = sum(jobs[n].limits.run for n in pending)
            memory, threads = max(jobs[n].limits.memory for n in pending), max(threads_of(jobs[n]) for n in pending)
            candidates = [_TimedCandidate(n, jobs[n], built[n], *arguments_of(built[n], jobs[n])) for n in pending]
            work = partial(_time_interleaved, candidates, rounds)
            end = run_forked(work, limit, memory, threads)
            if end.how is Ending.VALUE:
                for n, seconds in end.value.items():
                    times[n] = seconds
                return times
            pending.remove(pending[0] if end.reported is None else end.reported)
        return times

    def reference(self, built: Library, job: Job, folder: str, by: str) -> Reference:
        """Run a program once and keep its arguments and results. Raises NoReference, TuneError."""
        signature, values = arguments_of(built, job)
        module = _module(job)
        end = run_forked(
            partial(_record_reference, built, signature, values, folder),
            job.limits.run,
            job.limits.memory,
            threads_of(job),
        )
        if end.how is not Ending.VALUE:
            raise NoReference(_outcome(end))
        length = sum_length(module, signature, dict(job.sizes))
        bounds = [
            (n, tolerance.relative_tolerance(p.dtype, job.text, length))
            for n, p in enumerate(signature.params)
            if isinstance(p, BufferParam) and p.written
        ]
        scalars = [(n, values[n]) for n, p in enumerate(signature.params) if not isinstance(p, BufferParam)]
        rounded = tolerance.rounds_to_integers(job.text)
        return Reference(folder, tuple(scalars), tuple(bounds), rounded, by, end.value)


def register_kernels(job: Job) -> None:
    """Make the kernels that a job brings known to this process."""
    for kernel in job.kernels:
        register_kernel(kernel.symbol, partial(emit, kernel.text), override=True, needs=kernel.needs)


def threads_of(job: Job) -> int:
    """How many threads a job may keep busy."""
    return (job.threads or os.cpu_count() or 1) if job.parallel else 1


def _module(job: Job) -> ir.Module:
    with enter_context():
        return ir.Module.parse(job.text)


def arguments_of(built: Library, job: Job) -> tuple[CallSignature, list[Any]]:
    """The signature and the arguments; those of the reference, if it has one."""
    signature = signature_of(built, job.function)
    if job.reference is not None:
        return signature, job.reference.arguments(signature)
    return signature, random_arguments(_module(job), signature, dict(job.sizes), job.seed)


# --- in the copy ------------------------------------------------------------------------------------------------------


def _set_threads(job: Job) -> None:
    """Before the first parallel loop of this process: OpenMP reads it once."""
    if job.threads is not None:
        os.environ["OMP_NUM_THREADS"] = str(job.threads)


def _measure_candidate(
    built: Library, job: Job, signature: CallSignature, values: Sequence[Any], tell: Tell
) -> Outcome:
    _set_threads(job)
    marks = [time.process_time()]
    run, arrays = built[signature.name], copy_aligned(values, signature)
    marks.append(time.process_time())
    run(*arrays)
    marks.append(time.process_time())
    wrong = job.reference.difference(arrays, signature) if job.reference is not None else None
    marks.append(time.process_time())
    clock = clock_of(job.parallel, job.on_gpu)
    seconds, stopped = ([], False) if wrong else sample(partial(run, *arrays), clock, job.best)
    marks.append(time.process_time())
    names = ("measure.arguments", "measure.first", "measure.check", "measure.runs")
    stages = {name: marks[n + 1] - marks[n] for n, name in enumerate(names)}
    if wrong:
        return Outcome(Status.WRONG, (), stages, wrong)
    if stopped:
        return Outcome(Status.SLOW, tuple(seconds), stages, "more than three times as long as the best")
    return Outcome(Status.OK, tuple(seconds), stages)


@dataclass
class _TimedCandidate:
    """One of those timed in turns: its number, what runs, its arguments."""

    number: int
    job: Job
    built: Library
    signature: CallSignature
    values: Sequence[Any]

    def is_right(self, arrays: Sequence[Any]) -> bool:
        """Run it once on arrays that get its arguments, and compare the results."""
        for array, value in zip(arrays, self.values, strict=True):
            if isinstance(array, np.ndarray):
                np.copyto(array, value)
        self.built[self.signature.name](*arrays)
        return self.job.reference is None or self.job.reference.difference(arrays, self.signature) is None


def _time_interleaved(candidates: Sequence[_TimedCandidate], rounds: int, tell: Tell) -> dict[int, list[float]]:
    """Seconds by number. Candidates of one reference run on the same arrays: where these lie makes no difference."""
    runs: dict[int, Callable[[], None]] = {}
    by_reference: dict[Reference, list[Any]] = {}
    for candidate in candidates:
        tell(candidate.number)
        _set_threads(candidate.job)
        arrays = by_reference.get(candidate.job.reference) if candidate.job.reference is not None else None
        if arrays is None:
            arrays = copy_aligned(candidate.values, candidate.signature)
        if candidate.job.reference is not None:
            by_reference[candidate.job.reference] = arrays
        if candidate.is_right(arrays):
            runs[candidate.number] = partial(candidate.built[candidate.signature.name], *arrays)
    clock = clock_of(any(c.job.parallel for c in candidates), any(c.job.on_gpu for c in candidates))
    return dict(zip(runs, sample_interleaved(list(runs.values()), clock, rounds), strict=True))


def _record_reference(
    built: Library, signature: CallSignature, values: Sequence[Any], folder: str, tell: Tell
) -> float:
    reference = Reference(folder, (), ())
    reference.save("in", values)
    arrays = copy_aligned(values, signature)
    start = time.process_time()
    built[signature.name](*arrays)
    took = time.process_time() - start
    reference.save("out", arrays)
    return took


_STATUSES = {
    Ending.REFUSED: Status.BUILD_ERROR,
    Ending.OUT_OF_MEMORY: Status.OUT_OF_MEMORY,
    Ending.LATE: Status.TIMED_OUT,
    Ending.RAISED: Status.CRASHED,
    Ending.CRASHED: Status.CRASHED,
}


def _outcome(end: End, hurry: str = "") -> Outcome:
    """The outcome of a copy that ended this way. hurry: why its time was short, if it was; then passing it is SLOW."""
    if end.how is Ending.LATE and hurry:
        return Outcome(Status.SLOW, reason=hurry, peak_memory=end.peak)
    if end.how is not Ending.VALUE:
        return Outcome(_STATUSES[end.how], reason=end.reason, peak_memory=end.peak)
    outcome: Outcome = replace(end.value, peak_memory=end.peak)
    if outcome.status is Status.OK and outcome.outliers:
        many = f"{len(outcome.outliers)} of {len(outcome.seconds)} runs took more than {OUTLYING} times the median"
        return replace(outcome, reason=f"{many}: the machine was busy")
    return outcome


def signature_of(built: Library, function: str) -> CallSignature:
    """The signature of the function of a job, by name or the only one. Raises TuneError."""
    if function not in built and not (not function and len(built) == 1):
        name = repr(function) if function else "no function is named"
        raise TuneError(
            f"the trial runs one function: {name}, and the program has {', '.join(built)};"
            " fix: pass function= with one of these names"
        )
    return built[function or next(iter(built))].signature


def sum_length(module: ir.Module, signature: CallSignature, sizes: Mapping[str, int]) -> int:
    """How many terms a result is made of, about: the iterations of the program by its elements written, or the terms of
    the sums of its blocks, if they are more, as those of a norm, whose sums are of few elements."""
    with enter_context():
        func = _func(module, signature.name).op
        work = work_of(func, sizes)
        terms = terms_of(func, sizes)
    written = [p for p in signature.params if isinstance(p, BufferParam) and p.written]
    elements = max((int(np.prod(inputs.shape_of(p, sizes))) for p in written), default=1)
    return max(1, work // max(1, elements), terms)


def _func(module: ir.Module, name: str) -> Func:
    return next(f for f in funcs(module) if f.name == name)
