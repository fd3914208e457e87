"""Searches in tests: a small program, a space with decisions that change nothing, a lab with given times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.tune.search.ledger import open_ledger
from tir_mlir.tune.search.proposals import Proposals
from tir_mlir.tune.search.samplers import sampler_of
from tir_mlir.tune.search.session import Budget, Session, TrialResult
from tir_mlir.tune.trials.outcome import Outcome, Status


@I.ir_module
class Copy:
    @T.prim_func
    def copy(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = A[vi]


def three_by_four(sch: Schedule) -> None:
    """Twelve candidates; the default is x=1, y=10."""
    x = sch.get(sch.sample_categorical([0, 1, 2], [0.2, 0.6, 0.2], name="B.x"))
    y = sch.get(sch.sample_categorical([0, 10, 20, 30], [0.2, 0.4, 0.2, 0.2], name="B.y"))
    sch.annotate(sch.get_loops("B")[0], "speed", x + y)


def decided(schedule: Schedule) -> dict[str, int]:
    """The decisions of a schedule of a search."""
    return {c.name: c.value for c in schedule.executor.decider.choices}


def bowl(decisions: dict[str, int]) -> float:
    """Seconds: least at x=2, y=20."""
    return 1e-3 * (1 + abs(decisions["B.x"] - 2) + abs(decisions["B.y"] - 20) / 10)


class FakeLab:
    """Has times by decisions at once, and keeps what it was asked."""

    def __init__(self, time: Callable[[dict[str, int]], float | Outcome] = bowl):
        self.time = time
        self.asked: list[dict[str, int]] = []
        self.compared: list[list[dict[str, int]]] = []

    def start(self, schedule: Schedule, best: float | None) -> Future[Outcome]:
        self.asked.append(decided(schedule))
        return self.predict(schedule)

    def predict(self, schedule: Schedule) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        took = self.time(decided(schedule))
        future.set_result(took if isinstance(took, Outcome) else Outcome(Status.OK, (took,)))
        return future

    def compare(self, schedules: Sequence[Schedule], rounds: int) -> list[list[float]]:
        self.compared.append([decided(s) for s in schedules])
        times = [self.time(d) for d in self.compared[-1]]
        return [[] if isinstance(t, Outcome) else [t] * rounds for t in times]


class Silent:
    """A listener."""

    def begin(self, title: str, trials: int) -> None:
        pass

    def report_trial(self, trial: TrialResult, best: TrialResult | None) -> None:
        pass

    def phase(self, text: str) -> None:
        pass


def session(
    space: Any = three_by_four, *, lab: Any = None, trials: int = 8, sampler: str = "tpe", work_dir: Any = None,
    seed: int = 1, listener: Any = None, record: Any = None, lanes: int = 1, storage: Any = None,
    ledger: Any = None,
) -> Session:  # fmt: skip
    """A session over the small program, before its first candidate."""
    proposals = Proposals(Copy, space, sampler_of(sampler, seed), seed)
    ledger = ledger or open_ledger("copy", work_dir, storage)
    keep = record or (lambda candidate, result: None)
    return Session(proposals, ledger, lab or FakeLab(), Budget(trials, None, lanes), keep, listener or Silent())
