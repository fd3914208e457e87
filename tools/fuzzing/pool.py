"""Run items in several workers; a crashed or hung worker is replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from multiprocessing.connection import wait

from fuzzing.items import Item, Outcome
from fuzzing.kinds import Kind
from fuzzing.worker import Worker

LIFE, MIB = 400, 2000
"""A worker is replaced after this many items, or above this memory use."""


class Pool:
    """A context manager for workers, which are stopped on exit."""

    def __init__(self, kinds: Mapping[str, Kind], jobs: int, limit: float):
        self.kinds, self.limit = kinds, limit
        self.workers: list[Worker | None] = [None] * jobs

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            if worker is not None:
                worker.stop()
        self.workers = [None] * len(self.workers)

    def run(self, items: Iterable[Item]) -> Iterator[Outcome]:
        """Yield the outcomes as they arrive."""
        todo = iter(items)
        busy: dict[int, Worker] = {}
        free = list(range(len(self.workers)))
        while True:
            while free and (item := next(todo, None)) is not None:
                place = free.pop()
                busy[place] = self._worker(place)
                busy[place].start(item)
            if not busy:
                return
            wait([w.child.pipe for w in busy.values()], max(0.0, min(w.left for w in busy.values())))
            for place, worker in list(busy.items()):
                outcome = worker.outcome()
                if outcome is not None:
                    del busy[place]
                    free.append(place)
                    self._look_after(place, worker, outcome)
                    yield outcome

    def _worker(self, place: int) -> Worker:
        worker = self.workers[place]
        if worker is None:
            worker = self.workers[place] = Worker(self.kinds, self.limit)
        return worker

    def _look_after(self, place: int, worker: Worker, outcome: Outcome) -> None:
        if not worker.alive or worker.done >= LIFE or outcome.rss > MIB:
            if not worker.child.pipe.closed:
                worker.stop()
            self.workers[place] = None
