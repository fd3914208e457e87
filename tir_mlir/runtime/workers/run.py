"""Run tasks: what the cache has is read, equal ones are computed once, results are stored as soon as they are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tir_mlir.runtime.cache import store
from tir_mlir.runtime.workers.tasks import Done, Task, computed


def run(tasks: Sequence[Task], *, cache: bool = True, progress: Callable[[Done], None] | None = None) -> list[bytes]:
    """The results of the tasks, in order.

    Tasks of one kind and key are computed once. cache: read and store results by kind and key. progress: called once a
    task, in this thread. Errors: what a task raises; what was computed before it is in the cache.
    """
    results: dict[tuple[str, str], bytes] = {}
    return [_result(task, results, cache, progress or (lambda done: None)) for task in tasks]


def _result(task: Task, results: dict[tuple[str, str], bytes], cache: bool, progress: Callable[[Done], None]) -> bytes:
    name = (task.kind, task.key)
    found = results.get(name) if task.key else None
    if found is None and task.key and cache:
        found = store.load(*name)
    if found is not None:
        progress(Done(task.label, 0.0, cached=True))
    else:
        found, seconds = computed(task.function, task.payload)
        if task.key and cache:
            store.save(*name, found)
        progress(Done(task.label, seconds))
    if task.key:
        results[name] = found
    return found
