"""The coordinator of trials: a queue of jobs, workers that build side by side, one measurement at a time."""

from __future__ import annotations

import hashlib
import os
import pickle
import queue
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.processes.child import Child
from tir_mlir.processes.commands import death
from tir_mlir.processes.watch import PATIENCE, Watch, resident_bytes
from tir_mlir.tune.trials.job import Job, TrialLimits
from tir_mlir.tune.trials.outcome import Outcome, Status
from tir_mlir.tune.trials.reference import STAND_IN, UNSCHEDULED, Reference

TICK = 0.05
"""Seconds between two looks at a worker."""
START = 60.0
"""Seconds in which a worker starts, on a busy machine."""
_CODE = "from tir_mlir.tune.trials.worker import main; main(int(sys.argv[1]))"


class WorkerLost(Exception):
    """A worker that died or was ended, and the trial with it. last: its last message."""

    def __init__(self, status: Status, reason: str, last: tuple[Any, ...] = ()):
        super().__init__(reason)
        self.status, self.reason, self.last = status, reason, last


class WorkerProcess(Child):
    """A running worker. Its limits are those of a stage, which begins when it is sent a message. Raises TuneError if it
    does not start."""

    def __init__(self) -> None:
        super().__init__(_CODE, (), {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONFAULTHANDLER": ""})
        self._last: tuple[Any, ...] = ()
        self._begin_stage()
        try:
            self.receive_within(TrialLimits(build=START))
        except WorkerLost as lost:
            raise TuneError(f"a worker process does not start: {lost.reason}") from None

    def send(self, message: object) -> None:
        """Send a message. Raises WorkerLost."""
        self._begin_stage()
        try:
            super().send(message)
        except (BrokenPipeError, ConnectionResetError):
            raise self._dead() from None

    def receive_within(self, limits: TrialLimits) -> tuple[Any, ...]:
        """Its next message. Raises WorkerLost if it dies, or passes the limits of a build."""
        while not self.pipe.poll(TICK):
            if (over := self._watch.excess(limits.build, limits.memory)) is not None:
                self.close()
                status = Status.OUT_OF_MEMORY if over.of_memory else Status.TIMED_OUT
                raise WorkerLost(status, over.reason, self._last)
        try:
            self._last = self.receive()
        except (EOFError, ConnectionResetError):
            raise self._dead() from None
        if self._last[0] == "building":
            self._begin_stage()
        return self._last

    def _begin_stage(self) -> None:
        self._watch = Watch(self.id, TICK, ("building it takes", "building it takes", "building it waits"))

    def _dead(self) -> WorkerLost:
        """How it died, with the last words of an abort."""
        code, words = self.wait() or 0, self.last_words()
        self.close()
        return WorkerLost(Status.CRASHED, death("its worker", code) + (f": {words}" if words else ""), self._last)


LOCAL_LANE = "local"
"""The lane of this machine: what runs there needs its other workers to be quiet."""
LARGE = 2 << 30
"""Bytes; a worker that has grown to this is replaced after its trial."""
TRIES = 2
"""How often what is not a trial is asked for, if its worker is lost."""
GRACE_SECONDS = 60.0
"""Seconds after the limit of a runner, in which it must have noticed."""


class _Task:
    """A request to a worker, and the future of its answer."""

    def __init__(self, what: str, payload: object, limits: TrialLimits):
        self.what, self.payload, self.limits = what, payload, limits
        self.future: Future[Any] = Future()


class TrialPool:
    """Workers that try candidates; ended by `close`, or as a context manager.

    builders: how many build side by side, default one a core. quiet: while one measures, the others are stopped.
    A candidate that crashes, hangs, eats memory or is wrong is an Outcome with its reason; if its worker is lost, a
    new one replaces it. Raises TuneError if no worker starts.
    """

    def __init__(self, builders: int | None = None, *, quiet: bool = True):
        count = (os.cpu_count() or 1) if builders is None else builders
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise TuneError(f"builders is a number of processes, at least 1, not {builders!r}")
        self.quiet = quiet
        self._folder = tempfile.TemporaryDirectory(prefix="tir-trials-", ignore_cleanup_errors=True)
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._workers: list[WorkerProcess | None] = [None] * count
        self._building: set[int] = set()
        self._lanes: dict[str, threading.Lock] = {}
        self._references: dict[str, Future[Reference]] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._serve, args=(n,), name=f"tir_mlir trials {n}", daemon=True)
            for n in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> Future[Outcome]:
        """Try a candidate: the future of its outcome."""
        return self._put(_Task("trial", job, job.limits)).future

    def compare(self, jobs: Sequence[Job], rounds: int = 15) -> list[list[float]]:
        """Measure candidates again, in turns, in one process: seconds by job and round, for times that are compared.

        A job that fails has none. All have one runner. Raises TuneError, MachineLost if what they run on is lost.
        """
        if not isinstance(rounds, int) or isinstance(rounds, bool) or rounds < 1:
            raise TuneError(f"rounds is a number of measurements of each job, at least 1, not {rounds!r}")
        if len({job.runner for job in jobs}) > 1:
            raise TuneError("compare takes jobs of one runner: times of different machines are not compared")
        timings: list[list[float]] = [[] for _ in jobs]
        pending = list(range(len(jobs)))
        losses = 0
        while pending:
            task = _Task("compare", ([jobs[n] for n in pending], rounds), _largest([jobs[n].limits for n in pending]))
            try:
                times = self._put(task).future.result()
                if isinstance(times, TuneError):
                    raise times
            except WorkerLost as lost:
                if lost.last[:1] == ("building",):
                    del pending[lost.last[1]]
                elif (losses := losses + 1) == TRIES:
                    raise TuneError(f"candidates cannot be compared: {lost.reason}") from None
                continue
            for n, seconds in zip(pending, times, strict=True):
                timings[n] = seconds
            break
        return timings

    def reference(self, job: Job, stand_in: Job | None = None) -> Reference:
        """Arguments and results of the unscheduled program, computed once for a job, to compare candidates with.

        stand_in: computes the results if the unscheduled program passes the limits: a schedule that is verified.
        Raises TuneError with the reason if there are no results.
        """
        key = hashlib.sha256(
            repr((job.text, job.kernels, job.libs, job.function, job.sizes, job.seed)).encode()
        ).hexdigest()[:16]
        with self._lock:
            mine = key not in self._references
            future = self._references.setdefault(key, Future())
        if mine:
            try:
                future.set_result(self._compute_reference(key, job, stand_in))
            except BaseException as error:
                with self._lock:
                    del self._references[key]
                future.set_exception(error)
        return future.result()

    def close(self) -> None:
        """End all workers; jobs that wait are cancelled, those that run are lost."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            workers = [worker for worker in self._workers if worker is not None]
        for _ in self._threads:
            self._tasks.put(None)
        for worker in workers:
            worker.kill()
        for thread in self._threads:
            thread.join()
        self._folder.cleanup()

    def __enter__(self) -> TrialPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def workers(self) -> list[int]:
        """The process ids of the workers that run."""
        with self._lock:
            return [worker.id for worker in self._workers if worker is not None]

    def _compute_reference(self, key: str, job: Job, stand_in: Job | None) -> Reference:
        folder = Path(self._folder.name) / key
        folder.mkdir(exist_ok=True)
        tries = [(job, UNSCHEDULED)] + ([(stand_in, STAND_IN)] if stand_in is not None else [])
        for tried, by in tries:
            reference_job = replace(tried, target="llvm", runner=None, reference=None, best=None, seed=job.seed)
            reply = self._try_reference(reference_job, str(folder), by)
            if isinstance(reply, Reference):
                return reply
            late = reply.status in (Status.TIMED_OUT, Status.OUT_OF_MEMORY)
            if not late or tried is tries[-1][0]:
                fix = "; fix: a larger limit, or a verified schedule as stand_in" if late else ""
                raise TuneError(f"{by} has no result to compare candidates with: {reply.status}: {reply.reason}{fix}")
        raise AssertionError("unreachable")

    def _try_reference(self, job: Job, folder: str, by: str) -> Reference | Outcome:
        """A reference, or why there is none; tried again if its worker is lost."""
        lost = None
        for _ in range(TRIES):
            try:
                return self._put(_Task("reference", (job, folder, by), job.limits)).future.result()
            except WorkerLost as error:
                lost = error
        assert lost is not None
        return Outcome(lost.status, reason=lost.reason)

    def _put(self, task: _Task) -> _Task:
        with self._lock:
            if self._closed:
                raise TuneError("the pool is closed; fix: submit inside its `with` block")
            self._tasks.put(task)
        return task

    # --- in the thread of a worker ---------------------------------------------------------------------------------

    def _serve(self, slot: int) -> None:
        """Give the tasks of the queue to a worker, until the pool is closed."""
        self._start(slot)
        while (task := self._tasks.get()) is not None:
            if self._closed:
                task.future.cancel()
            elif task.future.set_running_or_notify_cancel():
                self._answer(slot, task)
        self._end(slot)

    def _start(self, slot: int) -> None:
        """Start a worker ahead of its first task; what is wrong shows at that task."""
        try:
            self._worker(slot)
        except (TuneError, OSError):
            return

    def _answer(self, slot: int, task: _Task) -> None:
        try:
            task.future.set_result(self._run(slot, task))
        except WorkerLost as lost:
            self._end(slot)
            if task.what == "trial":
                task.future.set_result(Outcome(lost.status, reason=lost.reason))
            else:
                task.future.set_exception(lost)
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            fix = "fix: define the class of its runner in a module"
            task.future.set_exception(TuneError(f"the job cannot be sent to a worker: {error}; {fix}"))
        except Exception as error:  # no process can be started
            task.future.set_exception(error if isinstance(error, TuneError) else TuneError(str(error)))
        worker = self._workers[slot]
        if worker is not None and resident_bytes(worker.id) > LARGE:
            self._end(slot)

    def _run(self, slot: int, task: _Task) -> Any:
        """The answer of a worker. Raises WorkerLost."""
        worker = self._worker(slot)
        with ExitStack() as stack:
            if self.quiet:
                with self._lane(LOCAL_LANE):
                    pass  # a build does not start while another worker measures
            self._building.add(slot)
            stack.callback(self._building.discard, slot)
            worker.send((task.what, task.payload))
            limits = task.limits
            while (message := worker.receive_within(limits))[0] != "done":
                if message[0] == "ready":
                    self._building.discard(slot)
                    stack.enter_context(self._measuring(slot, message[1]))
                    limits = _worker_limits(task.limits)
                    worker.send("go")
            return message[1]

    def _worker(self, slot: int) -> WorkerProcess:
        worker = self._workers[slot]
        if worker is None:
            worker = WorkerProcess()
            with self._lock:
                self._workers[slot] = worker
                if self._closed:
                    worker.kill()
        return worker

    def _end(self, slot: int) -> None:
        with self._lock:
            worker, self._workers[slot] = self._workers[slot], None
        if worker is not None:
            worker.close()

    def _lane(self, lane: str) -> threading.Lock:
        with self._lock:
            return self._lanes.setdefault(lane, threading.Lock())

    @contextmanager
    def _measuring(self, slot: int, lane: str) -> Iterator[None]:
        """A lane for this worker; on this machine the others are stopped meanwhile."""
        with self._lane(lane):
            others = (
                [self._workers[n] for n in list(self._building) if n != slot]
                if (self.quiet and lane == LOCAL_LANE)
                else []
            )
            try:
                for worker in others:
                    if worker is not None:
                        worker.pause(True)
                yield
            finally:
                for worker in others:
                    if worker is not None:
                        worker.pause(False)


def compare(jobs: Sequence[Job], rounds: int = 15) -> list[list[float]]:
    """Measure candidates in turns, in one process of their own: seconds by job and round; see `Pool.compare`."""
    with TrialPool(1) as pool:
        return pool.compare(jobs, rounds)


def _largest(limits: Sequence[TrialLimits]) -> TrialLimits:
    run, memory = sum(limit.run for limit in limits), max(limit.memory for limit in limits)
    return TrialLimits(max(limit.build for limit in limits), run, memory)


def _worker_limits(limits: TrialLimits) -> TrialLimits:
    """The limits of a worker while its runner watches those of the run: it comes to them only if the runner hangs."""
    return TrialLimits(PATIENCE * limits.run + GRACE_SECONDS, limits.run, 2 * limits.memory)
