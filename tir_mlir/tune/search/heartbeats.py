"""Signs of life in a database, by optuna's heartbeats: what a dead process left running is taken up by another one."""

from __future__ import annotations

import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tir_mlir.tune.search.samplers import load_optuna, quiet

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

INTERVAL, GRACE = 15, 60
"""Seconds between two signs of life of a trial, and without one until it counts as left."""
TRIES = 8
"""Of opening a database whose tables other processes create at the same time."""


def open_database(url: str, interval: int = INTERVAL, grace: int = GRACE) -> BaseStorage:
    """The storage of optuna at a URL of SQLAlchemy, with heartbeats. Raises what the database raises."""
    optuna = load_optuna()
    from sqlalchemy.exc import IntegrityError, ProgrammingError

    for remaining in reversed(range(TRIES)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                return optuna.storages.RDBStorage(
                    url,
                    engine_kwargs={"pool_pre_ping": True},  # a connection that the server closed is opened again
                    heartbeat_interval=interval,
                    grace_period=grace,
                )
        except (IntegrityError, ProgrammingError):  # another process creates the same tables
            if not remaining:
                raise
            time.sleep(0.25)
    raise AssertionError("unreachable")


class Abandoned:
    """A callback of optuna: the trials that this process failed for want of a sign of life, by study. A callback that
    the storage had is called, too."""

    def __init__(self, callback: Callable[[Study, FrozenTrial], None] | None):
        self._before = callback
        self._trials: dict[str, list[FrozenTrial]] = defaultdict(list)

    def __call__(self, study: Study, trial: FrozenTrial) -> None:
        self._trials[study.study_name].append(trial)
        if self._before is not None:
            self._before(study, trial)

    def taken(self, study: Study) -> list[FrozenTrial]:
        """Those of a study since the last call."""
        return self._trials.pop(study.study_name, [])


class Heartbeats:
    """Signs of life of the trials that this process runs; none where the storage has no heartbeats."""

    def __init__(self, study: Study, storage: BaseStorage):
        self._study, self._storage = study, storage
        interval = getattr(storage, "get_heartbeat_interval", lambda: None)()  # only databases have heartbeats
        self.enabled = interval is not None
        self._interval: float = interval or INTERVAL
        self._running: set[int] = set()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        if self.enabled and not isinstance(self._database.get_heartbeat_stale_trial_callback(), Abandoned):
            callback = self._database.get_heartbeat_stale_trial_callback()
            self._database.heartbeat_stale_trial_callback = Abandoned(callback)

    def begin(self, trial_id: int) -> None:
        """A trial runs here from now on."""
        if not self.enabled:
            return
        self._beat(trial_id)
        self._running.add(trial_id)
        if self._thread is None:
            self._thread = threading.Thread(target=self._beat_on, name="tir_mlir heartbeats", daemon=True)
            self._thread.start()

    def end(self, trial_id: int) -> None:
        """A trial has ended."""
        self._running.discard(trial_id)

    def close(self) -> None:
        """No more signs of life."""
        self._running.clear()
        self._stop.set()

    def left(self, is_dead: Callable[[FrozenTrial], bool], running: list[FrozenTrial]) -> list[FrozenTrial]:
        """The running trials that no process runs any more, which are this process's now: nobody else gets them.

        Those without a sign of life, and those of `running` that `is_dead` knows better. They are failed in the study.
        """
        optuna = load_optuna()
        for trial_id in list(self._running):
            self._beat(trial_id)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            optuna.storages.fail_stale_trials(self._study)
        mine = self._database.get_heartbeat_stale_trial_callback().taken(self._study)
        study_id = self._storage.get_study_id_from_name(self._study.study_name)
        for trial in filter(is_dead, running):
            trial_id = self._storage.get_trial_id_from_study_id_trial_number(study_id, trial.number)
            with suppress(optuna.exceptions.UpdateFinishedTrialError):  # it has ended, or another process was first
                self._storage.set_trial_state_values(trial_id, optuna.trial.TrialState.FAIL)
                mine.append(trial)
        return mine

    @property
    def _database(self) -> Any:
        """The storage, which has heartbeats."""
        return self._storage

    def _beat(self, trial_id: int) -> None:
        self._database.record_heartbeat(trial_id)

    def _beat_on(self) -> None:
        optuna = load_optuna()
        from sqlalchemy.exc import SQLAlchemyError

        while not self._stop.wait(self._interval):
            for trial_id in list(self._running):
                with suppress(SQLAlchemyError, optuna.exceptions.StorageInternalError), quiet():  # the search tells
                    self._beat(trial_id)
