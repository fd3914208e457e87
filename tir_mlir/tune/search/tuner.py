"""`tune`: search for the best schedule of one function."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ScheduleError, TuneError, TuneWarning, short_repr
from tir_mlir.dialect.ir import held_module
from tir_mlir.runtime.progress import log
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import LARGE, block_info
from tir_mlir.script.module import IRModule, module_text
from tir_mlir.target import AnyTarget, resolved
from tir_mlir.tune.boards import boards_of
from tir_mlir.tune.records.comparison import verify_schedule
from tir_mlir.tune.records.database import Database
from tir_mlir.tune.records.record import Record, Subject, subject
from tir_mlir.tune.report.matmul_libraries import matmul_seconds
from tir_mlir.tune.search.best import Best
from tir_mlir.tune.search.candidates import Candidate, Space, draw_candidate
from tir_mlir.tune.search.finals import FINALISTS, LIBRARY, ROUNDS, Finals, finals
from tir_mlir.tune.search.lab import PoolLab, job_options
from tir_mlir.tune.search.ledger import ENDED, Ledger, open_ledger
from tir_mlir.tune.search.proposals import Proposals
from tir_mlir.tune.search.samplers import sampler_of
from tir_mlir.tune.search.screening import Screening
from tir_mlir.tune.search.session import Budget, SearchListener, Session, TrialResult
from tir_mlir.tune.search.stages import stages
from tir_mlir.tune.search.study_settings import SETTINGS, StudySettings, text_of
from tir_mlir.tune.spaces.deciders import Defaults, Fixed
from tir_mlir.tune.spaces.kernels import kernels
from tir_mlir.tune.spaces.library import library
from tir_mlir.tune.trials.pool import TrialPool
from tir_mlir.tune.trials.predicting_measurer import has_model, predictor

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage


NEIGHBORS = 6
"""Records of other sizes that are replayed first."""
UNKNOWN = 1.0
"""Seconds that a program counts with that was not measured."""
LIBRARY_SPACE = "library"
PREDICTED = "times are predicted for {}, nothing was measured: differences below 20 % say nothing"


@dataclass(frozen=True)
class Options:
    """How to search; see `tune`."""

    trials: int = 64
    work_dir: Path | None = None
    space: Space | None = None
    storage: str | BaseStorage | None = None
    sampler: str | BaseSampler = "tpe"
    seed: int | None = None
    timeout: float | None = None
    stop_after: float | None = None
    builders: int | None = None
    target: AnyTarget | str | None = None
    threads: int | None = None
    resume: bool = True
    sizes: Mapping[str, int] = field(default_factory=dict)
    ssh: tuple[str, ...] = ()
    named: str = ""
    """The name of the space in the process that began the search; "": its own name."""
    card: str = ""
    """The GPU or the core for which times are predicted, as this machine has none; "": they are measured."""
    predict: bool | None = None
    """Whether candidates are ranked by predicted times before they are measured; None: where that saves time."""
    ends_workers: bool = False
    """Whether other processes are to leave the search when this one does."""

    def __post_init__(self) -> None:
        for name, least in (("trials", 1), ("builders", 1), ("threads", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is None and name != "trials":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise TuneError(f"{name} is a number >= {least}, not {short_repr(value)}")
        for name in ("timeout", "stop_after"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0):
                raise TuneError(f"{name} is a number of seconds, more than 0, not {short_repr(value)}")
        if self.space is not None and not callable(self.space):
            raise TuneError(f"space is a function that takes a Schedule, not {short_repr(self.space)}")

    @property
    def space_name(self) -> str:
        """The name of the space in records and studies."""
        if self.space is None:
            return LIBRARY_SPACE
        if self.named:
            return self.named
        qualname = getattr(self.space, "__qualname__", type(self.space).__qualname__)
        return f"{getattr(self.space, '__module__', '')}.{qualname}"

    @property
    def space_code(self) -> str:
        """What the function of the space does, hashed; "" for the library's space and for callable objects."""
        code = getattr(self.space, "__code__", None)
        return "" if code is None else hashlib.sha256("\n".join(_code_texts(code)).encode()).hexdigest()[:16]


def _code_texts(code: CodeType) -> Iterator[str]:
    """The bytecode of a function and of those in it, with their constants and names but not their lines."""
    yield code.co_code.hex()
    yield " ".join([*code.co_names, *code.co_varnames, *code.co_freevars])
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_texts(constant)
        else:  # the order of a set differs between processes
            yield repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


class Tuner:
    """The search for one function: its parts, and their order."""

    def __init__(self, program: IRModule, options: Options, listener: SearchListener, pool: TrialPool):
        self.program, self.options, self.listener = program, options, listener
        self.target = resolved(options.target)
        self.library = library_space(self.target, options.threads)
        self.space = options.space or self.library
        self.about: Subject = subject(program, options.target, options.threads)
        self.database = None if options.work_dir is None else Database(options.work_dir, threads=options.threads)
        predicts = predictor(options.target, options.card) if options.card else None
        jobs = job_options(options.target, options.threads, options.timeout, options.seed, predicts)
        self.lab = PoolLab(pool, options.sizes, boards_of(options.ssh), **jobs)
        self.records: dict[int, Record] = {}

    @cached_property
    def baseline(self) -> Candidate:
        """The library's choice."""
        return draw_candidate(self.program, self.library, Defaults(), origin=LIBRARY)

    def library_seconds(self) -> float:
        """Seconds of the library's choice, or a very long time if it cannot be run."""
        if self.baseline.schedule is None:
            return UNKNOWN
        return self.lab.start(self.baseline.schedule, None).result().median or UNKNOWN

    def run(self) -> Best:
        """Search, then the finals."""
        session = self.begin()
        resumed = len(session.results) + len(session.proposals.waiting)
        session.begin_stages(stages(self.defaults.choices, self._work, self.options.trials, resumed))
        try:
            session.run()
        finally:
            if self.options.ends_workers:
                session.ledger.publish(ENDED, True)
        best = self._best(session, session.ledger)
        self.keep(best.record)
        return best

    def begin(self) -> Session:
        """Open the ledger, take up what earlier runs left, and compute what candidates are compared with."""
        options = self.options
        self.listener.begin(", ".join(IRModule(held_module(self.program)).prim_funcs), options.trials)
        self._phase("reference")
        _ = self.defaults  # errors of the space and of the storage are raised before anything is built
        ledger = open_ledger(self.study_name, options.work_dir, options.storage, options.resume, self._description())
        with ledger.closed_by_errors():
            self.lab.refer_to(self.program, self.baseline.schedule)
        if ledger.heartbeats.enabled:
            ledger.publish(ENDED, False)
            ledger.publish(SETTINGS, self.settings.as_json())
        proposals = Proposals(self.program, self.space, sampler_of(options.sampler, options.seed), options.seed)
        session = self._session(proposals, ledger)
        self._phase("search")
        session.resume()
        self._enqueue_first_candidates(proposals)
        return session

    def advance(self, session: Session, trials: int, seconds: float | None) -> None:
        """Try further candidates: those that wait, each block alone by its work, then all together."""
        finished = len(session.results)
        waiting = min(trials, len(session.proposals.waiting))
        session.extend(trials, seconds)
        session.begin_stages(stages(self.defaults.choices, self._work, finished + trials, finished + waiting))
        session.advance()

    def finish(self, session: Session, skipped: bool = False) -> Best:
        """The finals, unless they are skipped, of a session that is closed. What is found is to be kept by `keep`."""
        return self._best(session, session.ledger, alone=False, skipped=skipped)

    def keep(self, record: Record) -> None:
        """Add the record of a winner to the database."""
        if self.database is not None and record.seconds:
            self.database.add(record)

    def library_record(self, best: Best) -> Record:
        """A record that the library's schedule is the best one, with its times of the finals."""
        assert self.baseline.schedule is not None
        seconds = {LIBRARY: best.finals.get(LIBRARY, [])}
        return self._record_of(Finals(self.baseline, seconds, verify_schedule(self.baseline.schedule)))

    def join_search(self) -> Session:
        """Search with the process that began this search, which tries the defaults and has the finals."""
        options = self.options
        self.lab.refer_to(self.program, self.baseline.schedule)
        ledger = open_ledger(self.study_name, options.work_dir, options.storage)
        proposals = Proposals(self.program, self.space, sampler_of(options.sampler, None), None)
        session = self._session(proposals, ledger)
        session.resume()
        session.begin_stages(stages(self.defaults.choices, self._work, options.trials, len(session.results)))
        session.run()
        return session

    @cached_property
    def settings(self) -> StudySettings:
        """What a worker needs to take part."""
        options, about = self.options, self.about
        versions = ", ".join(f"{name} {version}" for name, version in sorted(about.versions.items()))
        return StudySettings(
            text_of(self.program), options.trials, options.space_name,
            tuple((c.name, c.count) for c in self.defaults.choices), options.target, options.threads,
            tuple(sorted(options.sizes.items())), options.sampler if isinstance(options.sampler, str) else "tpe",
            options.seed, options.timeout, bool(options.ssh), options.card,
            about=f"{about.target}; {versions}",
        )  # fmt: skip

    @cached_property
    def defaults(self) -> Candidate:
        """The default candidate of the space: its decisions tell the blocks."""
        if self.options.space is None:
            return self.baseline
        candidate = draw_candidate(self.program, self.space, Defaults())
        candidate.number = 0
        return candidate

    def _work(self, block: str) -> float:
        """How many iterations a block has; symbolic extents count as those that are measured, or as many."""
        plain = Schedule(self.program)
        try:
            extents = [it.dom.extent for it in block_info(plain, plain.get_block(block)).iter_vars]
        except ScheduleError:  # no block has this name
            return 0.0
        many = max([LARGE, *self.options.sizes.values()])
        return float(prod(many if extent is None else extent for extent in extents))

    @property
    def study_name(self) -> str:
        """The name of the study: of the program, the target with its threads, the versions, the space and its code, the
        sizes.
        """
        about, options = self.about, self.options
        where = [
            *filter(None, [options.space_code]),
            *(["boards"] if options.ssh else []),
            *filter(None, [options.card]),
        ]
        settings = sorted(about.versions.items()), options.space_name, sorted(options.sizes.items()), *where
        facts = repr((about.target, *settings))
        return f"{about.identity.program[:12]}-{hashlib.sha256(facts.encode()).hexdigest()[:8]}"

    def _description(self) -> dict[str, str]:
        """What the study is about, to be read by people."""
        module = IRModule(held_module(self.program))
        about = {"program": module.script(), "function": ", ".join(module.prim_funcs), "target": self.about.target}
        return about | {"space": self.options.space_name}

    def _session(self, proposals: Proposals, ledger: Ledger) -> Session:
        options = self.options
        budget = Budget(options.trials, options.stop_after, builders_of(options.builders, options.ssh))
        screening = Screening(proposals, self.lab.predict, self._is_screened())
        return Session(proposals, ledger, self.lab, budget, self._record, self.listener, screening)

    def _is_screened(self) -> bool | None:
        """Whether candidates are ranked by predicted times; None: if measuring them takes longer than that."""
        options = self.options
        if options.card or (options.predict is None and not has_model(self.target)):
            return False
        few_boards = 0 < len(options.ssh) <= (os.cpu_count() or 1)  # each has a core that predicts while it measures
        return True if few_boards and options.predict is None else options.predict

    def _enqueue_first_candidates(self, proposals: Proposals) -> None:
        """What to try before the sampler is asked: the defaults, then what was best for neighbors."""
        proposals.enqueue(Defaults(), LIBRARY if self.options.space is None else "defaults")
        if self.database is None:
            return
        near = self.database.nearest(
            self.program, self.options.target, NEIGHBORS, threads=self.options.threads, space=self.options.space_name
        )
        for record in near:
            proposals.enqueue(Fixed(record.decisions), "neighbor")

    def _record(self, candidate: Candidate, result: TrialResult) -> None:
        about = replace(self.about, machine=result.machine or self.about.machine)
        record = about.record(
            space=self.options.space_name,
            decisions=result.decisions,
            trace=[] if candidate.schedule is None else candidate.schedule.trace.as_json(),
            status=result.status,
            seconds=result.seconds,
            stages=result.stages,
            reason=result.reason,
        )
        self.records[result.number] = record
        if self.database is not None:
            self.database.add(record)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _best(self, session: Session, ledger: Ledger, alone: bool = True, skipped: bool = False) -> Best:
        """What was found. alone: this is all that is searched, so that other libraries are looked at, too."""
        ranked = sorted((r for r in session.results if r.ok), key=lambda r: r.median or 0.0)
        candidates = [self._redraw_candidate(r) for r in ranked[: FINALISTS + 1]]
        for same in (c for c in (*candidates, self.defaults) if _text(c) == _text(self.baseline)):
            self.baseline.choices, self.baseline.number = same.choices, same.number
        others = [c for c in candidates if c.schedule is not None and _text(c) != _text(self.baseline)]
        entered = others[:FINALISTS]
        finals = self._skip_finals(entered) if skipped else self._finals(entered, session.interrupted)
        finals.notes[:0] = self._notes(session)
        record = self._record_of(finals)
        libraries = self._references() if alone and not session.interrupted else {}
        return Best(finals, record, session.results, ledger.study, libraries, session.interrupted)

    def _references(self) -> dict[str, float]:
        """The times of the library's schedule and of other libraries for this program."""
        cpu = self.target.as_cpu() if self.target.is_cpu else None
        if cpu is None or not cpu.runs_here or self.options.ssh:
            return {}
        self._phase("other libraries")
        return matmul_seconds(self.program, self.options.threads or cpu.cores)

    def _phase(self, text: str) -> None:
        """Say what the search does now."""
        self.listener.phase(text)
        log("INFO", "search: %s", text)

    def _notes(self, session: Session) -> list[str]:
        notes = [PREDICTED.format(self.options.card)] if self.options.card else []
        if session.results and not any(r.ok for r in session.results):
            first = min(session.results, key=lambda r: r.number)
            notes.append(f"no candidate of the space ran; trial {first.number}: {first.status}: {first.reason}")
        if session.interrupted:
            done = f"{len(session.results)} of {self.options.trials} trials"
            notes.append(f"stopped by Ctrl-C after {done}; the same call goes on, if it has a work_dir or a storage")
        if session.proposals.exhausted:
            notes.append(f"the space has no more candidates than these {len(session.results)}")
        return notes

    def _redraw_candidate(self, result: TrialResult) -> Candidate:
        candidate = draw_candidate(self.program, self.space, Fixed(result.decisions), origin=result.origin)
        candidate.number = result.number
        return candidate

    def _finals(self, candidates: list[Candidate], interrupted: bool) -> Finals:
        """The finals; after Ctrl-C they run as well, and a second one skips them."""
        self._phase("finals: a second Ctrl-C skips them" if interrupted else "finals")
        try:
            return finals(candidates, self.baseline, self.lab, ROUNDS)
        except KeyboardInterrupt:
            return self._skip_finals(candidates)

    def _skip_finals(self, candidates: list[Candidate]) -> Finals:
        """The best candidate without finals."""
        text = "the finals were skipped: the best is that of single measurements, and is not verified"
        warnings.warn(text, TuneWarning, stacklevel=5)
        return Finals(next(iter(candidates), self.baseline), notes=[text])

    def _record_of(self, finals: Finals) -> Record:
        """The record of the winner, with its times of the finals."""
        winner = finals.winner
        label_of = f"trial {winner.number}" if winner.origin != LIBRARY else LIBRARY
        seconds = tuple(finals.seconds.get(label_of, ()))
        record = self.records.get(-1 if winner.number is None else winner.number)
        about = replace(self.about, machine=self.lab.machine or self.about.machine)
        return about.record(
            space=self.options.space_name if record or self.options.space is None else LIBRARY_SPACE,
            decisions=winner.decisions,
            trace=[] if winner.schedule is None else winner.schedule.trace.as_json(),
            seconds=seconds or (record.seconds if record else ()),
            stages=record.stages if record else {},
            verified=finals.verified,
        )


def _text(candidate: Candidate) -> str:
    module = None if candidate.schedule is None else held_module(candidate.schedule)
    return "" if module is None else module_text(module)


def builders_of(builders: int | None, ssh: Sequence[str]) -> int:
    """How many processes build: those that were asked for, else one a core, and one a board, which waits for it."""
    return builders or (os.cpu_count() or 1) + len(ssh)


def library_space(target: AnyTarget, threads: int | None) -> Callable[[Schedule], None]:
    """The schedules of the library with their parameters free, and generic rules for what they leave."""

    def space(sch: Schedule) -> None:
        if target.nvidia is not None:
            kernels(sch, target.nvidia)
        else:
            library(sch, target.as_cpu(), threads)

    return space
