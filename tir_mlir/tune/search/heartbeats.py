"""Signs of life in a database, by optuna's heartbeats: what a dead process left running is taken up by another one."""

from __future__ import annotations

import threading
import time
import warnings
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

    for left in reversed(range(TRIES)):
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
            if not left:
                raise
            time.sleep(0.25)
    raise AssertionError("unreachable")


class Heartbeats:
    """Signs of life of the trials that this process runs; none where the storage has no heartbeats."""

    def __init__(self, study: Study):
        from optuna.storages._heartbeat import is_heartbeat_enabled

        self._study, self._storage = study, study._storage
        self.enabled: bool = is_heartbeat_enabled(self._storage)
        self._running: set[int] = set()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

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
        stale = set(self._any_storage._get_stale_trial_ids(self._study._study_id)) - self._running
        mine = []
        for trial in running:
            if trial._trial_id in stale or is_dead(trial):
                with suppress(optuna.exceptions.UpdateFinishedTrialError):  # another process was first
                    self._storage.set_trial_state_values(trial._trial_id, optuna.trial.TrialState.FAIL)
                    mine.append(trial)
        return mine

    @property
    def _any_storage(self) -> Any:
        return self._storage

    def _beat(self, trial_id: int) -> None:
        self._any_storage.record_heartbeat(trial_id)

    def _beat_on(self) -> None:
        optuna = load_optuna()
        from sqlalchemy.exc import SQLAlchemyError

        while not self._stop.wait(self._any_storage.get_heartbeat_interval()):
            for trial_id in list(self._running):
                with suppress(SQLAlchemyError, optuna.exceptions.StorageInternalError), quiet():  # the search tells
                    self._beat(trial_id)
