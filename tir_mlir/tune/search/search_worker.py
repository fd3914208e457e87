"""A worker: takes part in the searches of a database, one after the other, until it is stopped.

What a search is about is data of its study (`study_settings`); the space is the library's, or one that the worker was
given. Nothing that comes from the database is executed, but for the program, which is compiled and measured.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import TuneError, TuneWarning
from tir_mlir.tune.search.candidates import Space, draw_candidate
from tir_mlir.tune.search.ledger import ENDED, OUTCOME, is_of_storage, open_storage, without_password
from tir_mlir.tune.search.samplers import load_optuna, quiet
from tir_mlir.tune.search.session import REPEATED, SearchListener
from tir_mlir.tune.search.study_settings import StudySettings, program_of, settings_of
from tir_mlir.tune.search.tuner import LIBRARY_SPACE, Options, Tuner, builders_of
from tir_mlir.tune.spaces.deciders import Defaults
from tir_mlir.tune.trials.pool import TrialPool

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage

LOOK = 2.0
"""Seconds between two looks for a search that has trials left."""


@dataclass
class SearchWorker:
    """Takes part in searches.

    spaces: by name, for searches in a user's space.
    builders: as for `tune.tune`.
    idle: seconds without work after which it ends; None: never.
    tell: called with what it does, a line each.
    ssh: its boards, for searches on boards.
    """

    url: str
    spaces: Mapping[str, Space] = field(default_factory=dict)
    builders: int | None = None
    idle: float | None = None
    tell: Callable[[str], None] = lambda text: None
    ssh: tuple[str, ...] = ()
    _refused: dict[str, str] = field(default_factory=dict)
    _spent: dict[str, int] = field(default_factory=dict)
    """By study without more candidates: the trials that it asked for then."""

    def work(self, listener: SearchListener) -> int:
        """Take part until nothing was left for `idle` seconds, or Ctrl-C. Returns how many trials it ran.

        Raises TuneError if the database cannot be reached.
        """
        storage, ran, last = open_storage(self.url), 0, time.monotonic()
        with TrialPool(builders_of(self.builders, self.ssh)) as pool:
            while True:
                for name, settings in self._open_searches(storage):
                    tuner = self._tuner(name, settings, listener, pool)
                    if tuner is None:
                        continue
                    session = tuner.join_search()
                    ran, last = ran + session.launched, time.monotonic()
                    if session.proposals.exhausted:
                        self._spent[name] = settings.trials
                    if session.interrupted:
                        return ran
                if self.idle is not None and time.monotonic() - last >= self.idle:
                    return ran
                time.sleep(LOOK)

    def _open_searches(self, storage: BaseStorage) -> list[tuple[str, StudySettings]]:
        """The searches with trials left, by the name of their study."""
        optuna = load_optuna()
        searches = []
        try:
            with quiet():
                studies = [optuna.load_study(study_name=n, storage=storage) for n in _newest(storage)]
                for study in studies:
                    settings = self._settings(study)
                    if (
                        settings is not None
                        and study.user_attrs.get(ENDED) is not True
                        and _has_trials_left(study, settings)
                        and self._spent.get(study.study_name) != (settings.trials)
                    ):
                        searches.append((study.study_name, settings))
        except Exception as error:
            if not is_of_storage(error):
                raise
            lines = str(error).strip().splitlines() or [type(error).__name__]
            url = without_password(self.url)
            text = f"the storage {url} cannot be reached: {lines[0]}; fix: see to it, then start the worker again"
            raise TuneError(text) from error
        return searches

    def _settings(self, study: Study) -> StudySettings | None:
        try:
            return settings_of(study.user_attrs)
        except TuneError as error:
            self._refuse(study.study_name, str(error))
            return None

    def _tuner(self, name: str, settings: StudySettings, listener: SearchListener, pool: TrialPool) -> Tuner | None:
        """The search of a study, here; None, with a warning, if this worker cannot take part in it."""
        try:
            tuner = self._make_tuner(settings, listener, pool)
            _check(name, settings, tuner)
        except TuneError as error:
            self._refuse(name, str(error))
            return None
        self.tell(f"{name}: {', '.join(tuner.program.prim_funcs)}")
        return tuner

    def _make_tuner(self, settings: StudySettings, listener: SearchListener, pool: TrialPool) -> Tuner:
        if settings.boards != bool(self.ssh):
            where = "on boards" if settings.boards else "where it was begun, without boards"
            raise TuneError(f"it is measured {where}; fix: a worker {'with' if settings.boards else 'without'} --ssh")
        space = None if settings.space == LIBRARY_SPACE else self._space(settings.space)
        options = Options(
            settings.trials, None, space, self.url, settings.sampler, settings.seed, settings.timeout, None,
            self.builders, settings.target, settings.threads, True, dict(settings.sizes), self.ssh, settings.space,
            settings.card,
        )  # fmt: skip
        return Tuner(program_of(settings.program), options, listener, pool)

    def _space(self, name: str) -> Space:
        last = name.rpartition(".")[2]
        if last not in self.spaces:
            raise TuneError(f"its space is {name}; fix: start the worker with --space FILE.py:{last}")
        return self.spaces[last]

    def _refuse(self, name: str, reason: str) -> None:
        """Tell once why this worker takes no part in a search."""
        if self._refused.get(name) != reason:
            self._refused[name] = reason
            warnings.warn(f"no part in the search {name}: {reason}", TuneWarning, stacklevel=4)


def _newest(storage: BaseStorage) -> list[str]:
    """The studies of the last search of each kind: `name#2` rather than `name`."""
    newest: dict[str, int] = {}
    for name in load_optuna().get_all_study_names(storage):
        base, _, number = name.partition("#")
        newest[base] = max(newest.get(base, 1), int(number) if number.isdigit() else 1)
    return [f"{base}#{number}" if number > 1 else base for base, number in newest.items()]


def _has_trials_left(study: Study, settings: StudySettings) -> bool:
    """Whether a search has trials left: not begun, or begun by a process that may be gone."""
    outcomes = [t.user_attrs.get(OUTCOME) for t in study.get_trials(deepcopy=False) if t.state.is_finished()]
    return sum(isinstance(o, dict) and o.get("status") != REPEATED for o in outcomes) < settings.trials


def _check(name: str, settings: StudySettings, tuner: Tuner) -> None:
    """Raise TuneError unless candidates mean the same here as where the search began."""
    if tuner.study_name != name.partition("#")[0]:
        local, origin = tuner.settings.about, settings.about
        if local == origin:
            raise TuneError(
                f"the program or the space {settings.space} differs here; "
                "fix: the same versions of tir-mlir and Python, and the same file of the space, on all machines"
            )
        raise TuneError(f"it is for {origin}; this machine is {local}; fix: alike machines, or target= in the search")
    decided = draw_candidate(tuner.program, tuner.space, Defaults())
    if tuple((c.name, c.count) for c in decided.choices) != settings.defaults:
        raise TuneError(
            f"the space {settings.space} here has other decisions than where the search began; "
            "fix: the same file of the space on all machines"
        )
