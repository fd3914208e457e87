"""Run tasks side by side: what the cache has is read, the rest is computed by worker processes and by this one."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir.memo import given_operations
from tir_mlir.runtime import progress as builds
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.progress import Done
from tir_mlir.runtime.workers import pool
from tir_mlir.runtime.workers.pool import Worker
from tir_mlir.runtime.workers.tasks import BUSY, CACHED, CRASHED, FAILED, Task, TaskRequest, TaskResult, attempt


def run(tasks: Sequence[Task], *, cache: bool = True, progress: Callable[[Done], None] | None = None) -> list[bytes]:
    """The results of the tasks, in order.

    Tasks of one kind and key are computed once. cache: read and store results by kind and key. progress: called once a
    task, in this thread; the build that is followed (`runtime.progress`) is notified too. Errors: what a task raises;
    what was computed before it is in the cache.
    """
    jobs: dict[object, _Job] = {}
    for task in tasks:
        jobs.setdefault(_identity(task), _Job(task, [])).labels.append(task.label)
    answers: dict[int, bytes] = {}
    build = builds.current()
    if build is not None:
        build.expect(len(tasks))

    def finish_job(job: _Job, answer: TaskResult) -> None:
        answers[id(job)] = answer.result
        for number, label in enumerate(job.labels):
            seconds, cached = (0.0, True) if number else (answer.seconds, answer.status == CACHED)
            report = Done(label, seconds, cached, job.task.kind)
            for note in (progress, build and build.note):
                if note is not None:
                    note(report)

    missing = []
    for job in jobs.values():
        stored = store.load(job.task.kind, job.task.key) if cache and job.task.key else None
        if stored is None:
            missing.append(job)
        else:
            finish_job(job, TaskResult(CACHED, 0.0, stored))
    if missing:
        _TaskRun(missing, cache and fingerprint.package_unchanged(), finish_job).complete()
    return [answers[id(jobs[_identity(task)])] for task in tasks]


def start(work: float, functions: Sequence[str]) -> None:
    """Start worker processes early, where `work` CPU seconds of tasks that call these functions will come."""
    pool.pool.start(work, functions)


def _identity(task: Task) -> object:
    return (task.kind, task.key) if task.key else id(task)


@dataclass(eq=False)
class _Job:
    """A task, and the labels of all that are equal to it. insist: compute it though another build is at it; here: a
    worker failed on it."""

    task: Task
    labels: list[str]
    insist: bool = False
    here: bool = False

    def request(self, cache: bool, operations: int | None) -> TaskRequest:
        task = self.task
        return TaskRequest(task.function, task.kind, task.key, cache, self.insist, operations, task.payload)


_LOOK = 0.05
"""CPU seconds of work after which idle workers are looked for again."""


class _TaskRun:
    """The jobs of one call of `run`. A thread for each worker sends requests and puts answers into `_arrived`; all
    else, and the jobs that are computed here, is done by the thread that called."""

    def __init__(self, jobs: list[_Job], cache: bool, done: Callable[[_Job, TaskResult], None]):
        self._jobs, self._cache, self._done = jobs, cache, done
        self._operations = given_operations()  # of this thread
        self._waiting = deque(sorted(jobs, key=lambda job: -len(job.task.payload)))  # the longest first
        self._later: deque[_Job] = deque()
        self._arrived: queue.SimpleQueue[tuple[_Job, TaskResult] | None] = queue.SimpleQueue()
        self._lock, self._process = threading.Lock(), os.getpid()
        self._unfinished = dict.fromkeys(jobs)
        self._threads, self._spent, self._next_look = 0, 0.0, 0.0

    def complete(self) -> None:
        """Return when all jobs are done."""
        try:
            while self._unfinished:
                if os.getpid() != self._process:
                    self._restart()
                self._employ()
                while not self._arrived.empty():
                    self._arrive()
                if (job := self._take(here=True)) is not None:
                    self._finish(job, attempt(job.request(self._cache, self._operations)))
                elif self._unfinished:
                    self._arrive()
        finally:
            with self._lock:
                self._waiting.clear()
                self._later.clear()

    def _restart(self) -> None:
        """In the child of a fork: the workers answer its parent, and a thread that is gone may hold the lock."""
        self._lock, self._process, self._arrived = threading.Lock(), os.getpid(), queue.SimpleQueue()
        self._waiting, self._later, self._threads = deque(self._unfinished), deque(), 0

    def _employ(self) -> None:
        """Start workers if the jobs that are left are worth it, judged by those that are done; take those there are."""
        computed = len(self._jobs) - len(self._unfinished)
        waiting_jobs = len(self._waiting) + len(self._later)
        if waiting_jobs < 2 or self._spent < self._next_look:
            return
        self._next_look = self._spent + _LOOK
        if computed and self._threads == 0:
            pool.pool.start(self._spent / computed * waiting_jobs, sorted({job.task.function for job in self._jobs}))
        for worker in pool.pool.take():
            try:
                threading.Thread(target=self._feed, args=(worker,), daemon=True).start()
                self._threads += 1
            except RuntimeError:  # no thread can start, as at the end of the process
                pool.pool.give_back(worker)

    def _take(self, here: bool = False) -> _Job | None:
        """The next job; those that another build claims come last."""
        with self._lock:
            for jobs in (self._waiting, self._later):
                for job in jobs:
                    if here or not job.here:
                        jobs.remove(job)
                        return job
        return None

    def _finish(self, job: _Job, answer: TaskResult) -> None:
        """Note an answer, or put a job back. Raises BuildError for one that crashed its worker."""
        if answer.status == CRASHED:
            raise BuildError(
                f"{job.labels[0]}: MLIR or LLVM crashed ({answer.result.decode()}) in the process that computed "
                f"{job.task.function}; fix: please report it; another schedule of the function may avoid it"
            )
        if answer.status in (BUSY, FAILED):
            job.insist, job.here = True, answer.status == FAILED
            with self._lock:
                (self._later if answer.status == BUSY else self._waiting).append(job)
        elif job in self._unfinished:
            del self._unfinished[job]
            self._spent += answer.seconds
            self._done(job, answer)

    def _arrive(self) -> None:
        """Wait for an answer of a worker."""
        arrived = self._arrived.get()
        if arrived is not None:
            builds.worker_time.seconds += arrived[1].seconds
            self._finish(*arrived)

    def _receive(self, worker: Worker, sent: deque[_Job]) -> None:
        answer = worker.receive()
        self._arrived.put((sent.popleft(), answer))

    def _feed(self, worker: Worker) -> None:
        """Keep a worker busy until no job is left; while many are, one request ahead, as this process may be slow."""
        sent: deque[_Job] = deque()
        try:
            worker.greet()
            room = worker.room
            while True:
                while len(sent) < (2 if len(self._waiting) > 4 else 1) and (job := self._take()) is not None:
                    sent.append(job)
                    request = job.request(self._cache, self._operations)
                    while len(sent) > 1 and len(request.payload) > room:  # else both may wait for the other to read
                        self._receive(worker, sent)
                    worker.send(request)
                if not sent:
                    break
                self._receive(worker, sent)
            pool.pool.give_back(worker)
        except (OSError, EOFError, ValueError):
            signal_name = worker.crash()
            pool.pool.drop(worker)
            if sent and signal_name:
                self._arrived.put((sent.popleft(), TaskResult(CRASHED, 0.0, signal_name.encode())))
        finally:  # of a dead worker: its jobs are done by this process
            for job in sent:
                self._arrived.put((job, TaskResult(FAILED)))
            self._arrived.put(None)
