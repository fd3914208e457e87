"""Search for mappings of programs to accelerators: the objective is cycles of the model of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace

from tir_mlir.accel import Machine, Mapping
from tir_mlir.accel.mapping.mapping import Trial, map_functions, search_mapping
from tir_mlir.accel.mapping.space import FreeTilings
from tir_mlir.dialect.diagnostics import TirError, TuneError
from tir_mlir.extensions import implement
from tir_mlir.schedule import Schedule
from tir_mlir.script.module import IRModule
from tir_mlir.tune.report.progress import listener_of
from tir_mlir.tune.search.candidates import Candidate, draw_candidate
from tir_mlir.tune.search.ledger import open_ledger
from tir_mlir.tune.search.proposals import Proposals
from tir_mlir.tune.search.samplers import sampler_of
from tir_mlir.tune.search.session import Budget, Session, TrialResult
from tir_mlir.tune.spaces.deciders import Defaults, Fixed
from tir_mlir.tune.trials.outcome import Outcome, Status

CYCLE = 1e-9
"""Seconds that a cycle counts as in results: the clock of the model has 1 GHz."""


class CycleLab:
    """A lab that builds programs for a machine and times them by its model, here and at once."""

    def __init__(self, machine: Machine):
        self.machine = machine

    def start(self, schedule: Schedule, best: float | None) -> Future[Outcome]:
        answer: Future[Outcome] = Future()
        try:
            cycles = Mapping(self.machine, schedule, (), schedule.mod).total_cycles
            answer.set_result(Outcome(Status.OK, (cycles * CYCLE,)))
        except TirError as error:
            answer.set_result(Outcome(Status.BUILD_ERROR, reason=str(error)))
        return answer

    def compare(self, schedules: Sequence[Schedule], rounds: int) -> list[list[float]]:
        return [list(self.start(s, None).result().seconds) for s in schedules]


class MappingSpace:
    """The mappings of a program to a machine, as a space over its schedule."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.reasons: tuple[str, ...] = ()

    def __call__(self, sch: Schedule) -> None:
        self.reasons = map_functions(sch, self.machine, FreeTilings(sch))


@implement(search_mapping)
def find_mapping(mapping: Mapping, trials: int, seed: int | None, progress: bool | None) -> Mapping:
    """The best mapping of a search, or the one that it began with."""
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise TuneError(f"trials is a number >= 1, not {trials!r}")
    machine, space = mapping.machine, MappingSpace(mapping.machine)
    with listener_of(progress) as listener:
        ledger = open_ledger(f"mapping to {machine.name}", None, None)
        listener.begin(", ".join(mapping.program.prim_funcs), trials)
        proposals = Proposals(mapping.program, space, sampler_of("tpe", seed), seed)
        proposals.enqueue(Defaults(), "defaults")
        session = Session(proposals, ledger, CycleLab(machine), Budget(trials), _keep_nothing, listener)
        session.run()
    found = tuple(_trial(result) for result in session.results)
    best = session.best
    if best is None or round((best.median or 0.0) / CYCLE) >= mapping.total_cycles:
        return replace(mapping, trials=found)
    return _redraw(mapping.program, space, best, found)


def _keep_nothing(candidate: Candidate, result: TrialResult) -> None:
    """Searches of models of machines are short: no record is kept."""


def _trial(result: TrialResult) -> Trial:
    cycles = None if result.median is None else round(result.median / CYCLE)
    return Trial(dict(result.decisions), cycles, result.reason)


def _redraw(program: IRModule, space: MappingSpace, best: TrialResult, trials: tuple[Trial, ...]) -> Mapping:
    candidate = draw_candidate(program, space, Fixed(best.decisions))
    assert candidate.schedule is not None
    return Mapping(space.machine, candidate.schedule, space.reasons, program, trials)
