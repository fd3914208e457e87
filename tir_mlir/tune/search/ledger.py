"""The ledger of a search: an optuna study in a file or a database, which outlives the process.

A trial is one entry when it starts (RUNNING, with all its decisions) and two when it ends. Suggestions are made by a
study in memory, see `proposals`: a file is written three times a trial, not once a decision. Trials in a database give
signs of life, by optuna's heartbeats: what a dead process left running is taken up by another one.
"""

from __future__ import annotations

import os
import socket
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.tune.search.samplers import load_optuna, quiet
from tir_mlir.tune.search.server_storage import CONNECTION, server_storage, wait_for_server
from tir_mlir.tune.search.suggestions import SpaceChoice

if TYPE_CHECKING:
    from types import FrameType

    from optuna import Study
    from optuna.storages import BaseStorage
    from optuna.storages.journal import JournalFileOpenLock, JournalFileSymlinkLock
    from optuna.trial import FrozenTrial


import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial


import signal

JOURNAL = "study.journal"
OUTCOME, DECISIONS, OWNER, POSITIONS = "outcome", "decisions", "owner", "places"
MEMORY = "memory"
ENDED = "ended"
"""Whether the process that began a search has ended it, though it may have trials left."""
METRIC = "seconds of a run"
_OPEN_LEDGERS: set[str] = set()
"""The ledgers of this process that are open."""


class Ledger:
    """The trials of one program and one space, kept in a study."""

    def __init__(
        self, storage: BaseStorage, name: str, path: str, resume: bool = True, about: Mapping[str, object] | None = None
    ):
        self.path, self.name = path, name
        self.shared = path != MEMORY
        """Whether other processes may add trials."""
        self.token = f"{socket.gethostname()}:{os.getpid()}:{_process_start(os.getpid())}:{uuid.uuid4().hex[:8]}"
        _OPEN_LEDGERS.add(self.token)
        optuna = load_optuna()
        with self._explain_errors():
            self.name = name = _numbered_name(name, set(optuna.get_all_study_names(storage)), resume)
            self.study: Study = optuna.create_study(
                storage=storage, study_name=name, load_if_exists=True, direction="minimize"
            )
            self._storage, self._study_id = storage, storage.get_study_id_from_name(name)
            self.heartbeats = Heartbeats(self.study, storage)
            self._describe(about or {})

    def _describe(self, about: Mapping[str, object]) -> None:
        """Say what the study is about, for those who look at it with tools of optuna."""
        attributes = self.study.user_attrs
        for key in about.keys() - attributes.keys():
            self.study.set_user_attr(key, about[key])
        if self.study.metric_names is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", load_optuna().exceptions.ExperimentalWarning)
                self.study.set_metric_names([METRIC])

    def trials(self) -> list[FrozenTrial]:
        """All trials, by number."""
        with self._explain_errors():
            return self.study.get_trials(deepcopy=False)

    def start(self, choices: list[SpaceChoice], decisions: dict[str, int], origin: str) -> int:
        """Enter a candidate that is about to run. Returns the number of its trial."""
        with self._explain_errors():
            template = entry(choices, {DECISIONS: decisions, OWNER: self.token, "origin": origin})
            trial_id = self._storage.create_new_trial(self._study_id, template_trial=template)
            self.heartbeats.begin(trial_id, new=True)
            return self._storage.get_trial_number_from_id(trial_id)

    def finish(self, number: int, seconds: float | None, outcome: dict[str, object]) -> None:
        """Enter how a trial ended: COMPLETE with its seconds, or PRUNED. One that ended meanwhile remains."""
        optuna = load_optuna()
        with self._explain_errors():
            trial_id = self._storage.get_trial_id_from_study_id_trial_number(self._study_id, number)
            state = optuna.trial.TrialState.PRUNED if seconds is None else optuna.trial.TrialState.COMPLETE
            self.heartbeats.end(trial_id)
            values = None if seconds is None else [seconds]
            end_trial = getattr(self._storage, "end_trial", None)
            with suppress(optuna.exceptions.UpdateFinishedTrialError):
                if end_trial is not None and end_trial(trial_id, state, values, OUTCOME, outcome):
                    return
                self._storage.set_trial_user_attr(trial_id, OUTCOME, outcome)
                self._storage.set_trial_state_values(trial_id, state, values)

    def orphans(self) -> list[FrozenTrial]:
        """The running trials of processes of this machine that are no more."""
        return [t for t in self.trials() if t.state.name == "RUNNING" and _is_abandoned(t)]

    def claim(self) -> list[FrozenTrial]:
        """The running trials that their processes left, of whatever machine, failed: this process is to run them again.

        Nobody else gets them. None without heartbeats: then `orphans` are taken up under their numbers.
        """
        if not self.heartbeats.enabled:
            return []
        running = [t for t in self.trials() if t.state.name == "RUNNING" and OWNER in t.user_attrs]
        with self._explain_errors():
            self.heartbeats.fail_doubles([t for t in running if t.user_attrs[OWNER] == self.token])
            return self.heartbeats.claim_abandoned(_is_abandoned, running)

    def count_foreign_trials(self, trials: list[FrozenTrial]) -> int:
        """How many of all trials other processes run, as far as their heartbeats tell."""
        if not self.heartbeats.enabled:
            return 0
        owners = [t.user_attrs.get(OWNER) for t in trials if t.state.name == "RUNNING"]
        return sum(owner is not None and owner != self.token for owner in owners)

    def publish(self, name: str, value: object) -> None:
        """Keep an attribute of the study, a value of JSON."""
        with self._explain_errors():
            self.study.set_user_attr(name, value)

    def is_ended(self) -> bool:
        """Whether the process that began the search has ended it."""
        with self._explain_errors():
            return self.study.user_attrs.get(ENDED) is True

    def take_up(self, number: int) -> None:
        """Make a running trial this process's own."""
        with self._explain_errors():
            trial_id = self._storage.get_trial_id_from_study_id_trial_number(self._study_id, number)
            self._storage.set_trial_user_attr(trial_id, OWNER, self.token)
            self.heartbeats.begin(trial_id)

    def close(self) -> None:
        """End the work: trials that still run may be taken up."""
        self.heartbeats.close()
        _OPEN_LEDGERS.discard(self.token)

    @contextmanager
    def closed_by_errors(self) -> Iterator[None]:
        """Close the ledger if what is done here fails."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Errors of the storage as TuneErrors that say how to go on. Ctrl-C waits: no lock is left behind."""
        try:
            with interrupts_deferred(), quiet():
                yield
        except TuneError:
            raise
        except OSError as error:
            raise TuneError(
                f"the study in {self.path} cannot be kept: {error.strerror or error}; fix: make space or rights "
                "there, then run again with the same work_dir: what was tried is taken up"
            ) from error
        except Exception as error:
            if not is_of_storage(error):
                raise
            rows = str(error).strip().splitlines() or [type(error).__name__]
            raise TuneError(
                f"the study in {self.path} cannot be reached: {rows[0]}; fix: see to the storage, then run again with "
                "the same storage and work_dir: what was tried is taken up"
            ) from error


def open_ledger(
    name: str,
    work_dir: Path | None,
    storage: str | BaseStorage | None,
    resume: bool = True,
    about: Mapping[str, object] | None = None,
) -> Ledger:
    """The ledger of a search: in `storage` (a URL, or a storage of optuna), else in work_dir, else in memory.

    resume=False: a new one, next to those of earlier searches. about: attributes of the study. Raises TuneError if it
    cannot be opened.
    """
    opened, location = _storage(work_dir, storage)
    return Ledger(opened, name, location, resume, about)


def study_names(work_dir: Path | None, storage: str | BaseStorage | None) -> set[str]:
    """The names of the searches that are kept in `storage` or work_dir, those begun anew (`name#2`) as `name`."""
    opened, location = _storage(work_dir, storage)
    try:
        with quiet():
            return {name.partition("#")[0] for name in load_optuna().get_all_study_names(opened)}
    except Exception as error:
        if not is_of_storage(error):
            raise
        raise TuneError(f"the studies in {location} cannot be read: {str(error).splitlines()[0]}") from error


def open_storage(url: str) -> BaseStorage:
    """The storage at a URL. Raises TuneError if it cannot be opened."""
    return _by_url(url, without_password(url))


def _storage(work_dir: Path | None, storage: str | BaseStorage | None) -> tuple[BaseStorage, str]:
    optuna = load_optuna()
    if storage is not None:
        location = without_password(storage) if isinstance(storage, str) else type(storage).__name__
        return (_by_url(storage, location) if isinstance(storage, str) else storage), location
    if work_dir is None:
        return optuna.storages.InMemoryStorage(), MEMORY
    path = work_dir / JOURNAL
    journal = optuna.storages.journal
    try:
        work_dir.mkdir(parents=True, exist_ok=True)
        lock = journal.JournalFileSymlinkLock(str(path))
        backend = journal.JournalFileBackend(str(path), lock_obj=lock)
        mend(path, lock)
        return optuna.storages.JournalStorage(backend), str(path)
    except OSError as error:
        raise TuneError(f"the study cannot be kept in {path}: {error.strerror}; fix: another work_dir") from error
    except ValueError as error:
        raise TuneError(f"{path} is not a journal of optuna: {error}; fix: another work_dir, or remove it") from error


def _by_url(storage: str, location: str) -> BaseStorage:
    optuna = load_optuna()
    try:
        if storage.startswith(("redis", "journal")):
            return optuna.storages.get_storage(storage)
        return open_database(storage)
    except Exception as error:
        if not (is_of_storage(error) or isinstance(error, (ImportError, OSError, ValueError))):
            raise
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise TuneError(
            f"the storage {location} cannot be opened: {lines[0]}; fix: a URL of SQLAlchemy, such as postgresql://..."
        ) from error


def is_of_storage(error: Exception) -> bool:
    """Whether an error is one of a storage of optuna, or of what it is built on."""
    return type(error).__module__.startswith(("sqlalchemy", "psycopg", "optuna", "redis", "json"))


def without_password(url: str) -> str:
    """A URL as it may be shown."""
    scheme, sign, address = url.partition("://")
    login, at_sign, host = address.rpartition("@")
    return f"{scheme}{sign}{login.partition(':')[0]}{at_sign}{host}"


def mend(path: Path, lock: JournalFileOpenLock | JournalFileSymlinkLock) -> None:
    """Cut a last line that its writer did not finish: optuna would append to it, and read neither."""
    with open(path, "r+b") as file:
        if _ends_well(file):
            return
        lock.acquire()  # no writer is at work now
        try:
            if not _ends_well(file):
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
        finally:
            lock.release()


def _ends_well(file: BinaryIO) -> bool:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    return not size or file.read(1) == b"\n"


def entry(choices: list[SpaceChoice], attrs: dict[str, object]) -> FrozenTrial:
    """A running trial of a ledger: its parameters are the values, as people read them; POSITIONS has the positions."""
    optuna = load_optuna()
    return optuna.trial.create_trial(
        state=optuna.trial.TrialState.RUNNING,
        params={c.name: c.value for c in choices},
        distributions={c.name: optuna.distributions.IntDistribution(*_bounds(c)) for c in choices},
        user_attrs=attrs | {POSITIONS: {c.name: [c.position, c.count] for c in choices}},
    )


def frozen(choices: list[SpaceChoice], state: str, attrs: dict[str, object], value: float | None = None) -> FrozenTrial:
    """A trial of optuna with these decisions, for a sampler: its parameters are positions."""
    optuna = load_optuna()
    return optuna.trial.create_trial(
        state=optuna.trial.TrialState[state],
        value=value,
        params={c.name: c.position for c in choices},
        distributions={c.name: optuna.distributions.IntDistribution(0, c.count - 1) for c in choices},
        user_attrs=attrs,
    )


def choices_of(trial: FrozenTrial) -> list[SpaceChoice]:
    """The decisions of a trial of a ledger, in order."""
    decisions: dict[str, int] = trial.user_attrs.get(DECISIONS, {})
    positions: dict[str, tuple[int, int]] = trial.user_attrs.get(POSITIONS, {})
    choices = []
    for name, value in decisions.items():
        if name in positions:
            domain: Any = trial.distributions[name]
            choices.append(SpaceChoice(name, *positions[name], value, domain.low, domain.high))
    return choices


def _bounds(choice: SpaceChoice) -> tuple[int, int]:
    low, high = choice.low, choice.high
    return choice.value if low is None else low, choice.value if high is None else high


def _numbered_name(name: str, names: set[str], resume: bool) -> str:
    """The name of the last search, `name#2` after `name`; of the next one if not `resume`."""
    number = next(n for n in count(1) if (f"{name}#{n}" if n > 1 else name) not in names)
    number -= resume and number > 1
    return f"{name}#{number}" if number > 1 else name


def _is_abandoned(trial: FrozenTrial) -> bool:
    return OWNER in trial.user_attrs and not is_alive(str(trial.user_attrs[OWNER]))


def is_alive(token: str) -> bool:
    """Whether the search with this token (host:process:start of the process:search) may still run.

    One of another machine may.
    """
    host, number, started, _ = (token.split(":") + [""] * 4)[:4]
    if host != socket.gethostname() or not number.isdigit():
        return True
    if int(number) == os.getpid():
        return token in _OPEN_LEDGERS
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return _process_start(int(number)) == started


def _process_start(process: int) -> str:
    """The start of a process in ticks since boot; "" where the system does not tell."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


# --- signs of life in a database --------------------------------------------------------------------------------------


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
                storage = server_storage()(
                    url,
                    engine_kwargs=_engine_options(url),
                    heartbeat_interval=interval,
                    grace_period=grace,
                )
        except (IntegrityError, ProgrammingError):  # another process creates the same tables
            if not remaining:
                raise
            time.sleep(0.25)
        else:
            if not url.startswith("sqlite"):
                wait_for_server(storage, without_password(url))
            return storage
    raise AssertionError("unreachable")


def _engine_options(url: str) -> dict[str, object]:
    """A connection that the server closed is opened again, and one to a machine that is off is noticed."""
    options: dict[str, object] = {"pool_pre_ping": True}
    return options | ({"connect_args": CONNECTION} if url.startswith("postgres") else {})


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

    def take_trials(self, study: Study) -> list[FrozenTrial]:
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

    def begin(self, trial_id: int, new: bool = False) -> None:
        """A trial runs here from now on. new: it was entered just now."""
        if not self.enabled:
            return
        if not (new and getattr(self._storage, "enters_heartbeats", False)):
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

    def claim_abandoned(self, is_dead: Callable[[FrozenTrial], bool], running: list[FrozenTrial]) -> list[FrozenTrial]:
        """The running trials that no process runs any more, which are this process's now: nobody else gets them.

        Those without a sign of life, and those of `running` that `is_dead` knows better. They are failed in the study.
        """
        optuna = load_optuna()
        for trial_id in list(self._running):
            self._beat(trial_id)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            optuna.storages.fail_stale_trials(self._study)
        mine = self._database.get_heartbeat_stale_trial_callback().take_trials(self._study)
        study_id = self._storage.get_study_id_from_name(self._study.study_name)
        for trial in filter(is_dead, running):
            trial_id = self._storage.get_trial_id_from_study_id_trial_number(study_id, trial.number)
            with suppress(optuna.exceptions.UpdateFinishedTrialError):  # it has ended, or another process was first
                self._storage.set_trial_state_values(trial_id, optuna.trial.TrialState.FAIL)
                mine.append(trial)
        return mine

    def fail_doubles(self, mine: list[FrozenTrial]) -> None:
        """Fail those of this process's running trials that do not run: entered again as the connection was lost."""
        optuna = load_optuna()
        study_id = self._storage.get_study_id_from_name(self._study.study_name)
        for trial in mine:
            trial_id = self._storage.get_trial_id_from_study_id_trial_number(study_id, trial.number)
            if trial_id not in self._running:
                with suppress(optuna.exceptions.UpdateFinishedTrialError):
                    self._storage.set_trial_state_values(trial_id, optuna.trial.TrialState.FAIL)

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


# --- Ctrl-C that waits until what must not be left half done is done --------------------------------------------------


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Raise the KeyboardInterrupt of a Ctrl-C that comes in here at the end; a second Ctrl-C raises it at once.

    Does nothing in other threads than the main one, or where SIGINT has a handler that is not Python's own: one of the
    user's, or none where it is ignored, as by commands in the background (`nohup python search.py &`).
    """
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
