"""A worker process: builds candidates that come through a pipe and has them measured, one after the other.

To the worker: (what, payload), answered by messages (kind, ...) that end with ("done", result):

    trial      Job                     -> ("ready", lane), waits for "go", ("done", Outcome)
    compare    (jobs, rounds)          -> ("building", n) ..., ("ready", lane), waits for "go",
                                          ("done", seconds or TuneError)
    reference  (Job, folder, by)       -> ("ready", lane), waits for "go", ("done", Reference or Outcome)
"""

from __future__ import annotations

import gc
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from tir_mlir.dialect.diagnostics import TirError, TuneError
from tir_mlir.processes.limits import die_with_parent
from tir_mlir.runtime.call import fast_entry
from tir_mlir.tune.trials.job import Job, Measurer
from tir_mlir.tune.trials.local_measurer import LocalMeasurer, NoReference
from tir_mlir.tune.trials.outcome import MachineLost, Outcome, Status
from tir_mlir.tune.trials.reference import Reference


def main(handle: int) -> None:
    """Serve the pipe at this file descriptor until it closes."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the coordinator decides
    warnings.simplefilter("ignore")
    fast_entry.entry()  # now, not in a thread of the first build
    gc.freeze()
    gc.set_threshold(20_000, 10, 100)  # a build makes much that lives as long as it does: collecting takes 7 % of it
    with Connection(handle) as pipe:
        pipe.send(("hello",))
        while _serve(pipe):
            pass


def _serve(pipe: Connection) -> bool:
    """Answer one request; False at the end."""
    try:
        what, payload = pipe.recv()
    except EOFError:
        return False
    except Exception as error:  # a runner whose class this process cannot import
        reason = f"the worker cannot read the job: {type(error).__name__}: {error}; fix: define its runner in a module"
        pipe.send(("done", Outcome(Status.REFUSED, reason=reason)))
        return True
    pipe.send(("done", _ANSWERS[what](payload, pipe)))
    return True


def measurer_of(job: Job) -> Measurer:
    """What builds and measures a job."""
    return job.runner if job.runner is not None else LocalMeasurer()


def _build_library(job: Job) -> tuple[Any, dict[str, float]] | Outcome:
    """What was built of a job and the CPU seconds by stage, or why there is none."""
    start = time.process_time()
    status = Status.BUILD_ERROR
    try:
        built = measurer_of(job).build(job)
    except TirError as error:
        reason = str(error)
    except MemoryError as error:
        status, reason = Status.OUT_OF_MEMORY, f"building it takes too much memory: {error}"
    except Exception as error:  # a fault of ours, or of a runner: it costs this trial
        reason = f"{type(error).__name__}: {error}"
    else:
        stages = {f"build.{stage}": took for stage, took in built.timing.cpu.items()}
        return built, {"build.parse": time.process_time() - start - sum(stages.values()), **stages}
    return Outcome(status, (), {"build": time.process_time() - start}, reason)


def _wait_for_lane(pipe: Connection, lane: str) -> None:
    """Wait until this worker may use what candidates are measured on."""
    pipe.send(("ready", lane))
    pipe.recv()


def _trial(job: Job, pipe: Connection) -> Outcome:
    compiled = _build_library(job)
    if isinstance(compiled, Outcome):
        return compiled
    built, stages = compiled
    _wait_for_lane(pipe, measurer_of(job).lane)
    try:
        outcome = measurer_of(job).measure(built, job)
    except MachineLost as error:
        return Outcome(Status.LOST, (), stages, str(error))
    except TirError as error:
        return Outcome(Status.BUILD_ERROR, (), stages, str(error))
    except OSError as error:
        return Outcome(Status.CRASHED, (), stages, f"it cannot be measured: {error}")
    return replace(outcome, stages={**stages, **outcome.stages})


def _compare(payload: tuple[list[Job], int], pipe: Connection) -> list[list[float]] | TuneError:
    jobs, rounds = payload
    built: dict[int, Any] = {}
    for n, job in enumerate(jobs):
        pipe.send(("building", n))
        compiled = _build_library(job)
        if not isinstance(compiled, Outcome):
            built[n] = compiled[0]
    timings: list[list[float]] = [[] for _ in jobs]
    if built:
        runner = measurer_of(jobs[0])
        _wait_for_lane(pipe, runner.lane)
        try:
            times = runner.compare(list(built.values()), [jobs[n] for n in built], rounds)
        except TuneError as error:
            return error
        for n, seconds in zip(built, times, strict=True):
            timings[n] = seconds
    return timings


def _reference(payload: tuple[Job, str, str], pipe: Connection) -> Reference | Outcome:
    job, folder, by = payload
    compiled = _build_library(job)
    if isinstance(compiled, Outcome):
        return compiled
    _wait_for_lane(pipe, LocalMeasurer().lane)
    try:
        return LocalMeasurer().reference(compiled[0], job, folder, by)
    except NoReference as missing:
        return missing.outcome
    except (TirError, OSError) as error:
        return Outcome(Status.REFUSED, reason=str(error))


_ANSWERS: dict[str, Callable[[Any, Connection], Any]] = {"trial": _trial, "compare": _compare, "reference": _reference}
