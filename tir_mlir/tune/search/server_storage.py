"""A storage on a database server: a trial takes few statements, and what is asked of it waits while the server is away,
as in a restart.
"""

from __future__ import annotations

import functools
import json
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.diagnostics import TuneWarning
from tir_mlir.tune.search.samplers import load_optuna

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial

    _Base = RDBStorage
else:
    _Base = object

PATIENCE = 600.0
"""Seconds for which a server may be away."""
PAUSE = 1.0
"""Seconds between two attempts to reach it."""
CONNECTION = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""Seconds, and a count, after which libpq takes a connection for lost: a machine that is off says nothing."""

_CALLS = (
    "create_new_study", "get_all_studies", "get_study_directions", "get_study_id_from_name",
    "get_study_name_from_id", "get_study_system_attrs", "get_study_user_attrs", "set_study_system_attr",
    "set_study_user_attr", "_create_new_trial", "_get_trials", "get_all_trials", "get_trial",
    "get_trial_id_from_study_id_trial_number", "get_trial_number_from_id", "set_trial_state_values",
    "set_trial_system_attr", "set_trial_user_attr", "end_trial", "record_heartbeat", "_get_stale_trial_ids",
)  # fmt: skip


_EXTENDED = ("_create_new_trial", "_get_prepared_new_trial")
"""The methods of optuna's storage that ours extends, none of which it makes public."""


class _KnownNumbers(_Base):
    """Remembers the numbers of the trials that this process enters."""

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **named)
        self._numbers: dict[int, int] = {}
        self._ids: dict[tuple[int, int], int] = {}

    def _create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> FrozenTrial:
        trial = super()._create_new_trial(study_id, template_trial)
        self._numbers[trial._trial_id] = trial.number
        self._ids[study_id, trial.number] = trial._trial_id
        return trial

    def get_trial_number_from_id(self, trial_id: int) -> int:
        known = self._numbers.get(trial_id)
        return super().get_trial_number_from_id(trial_id) if known is None else known

    def get_trial_id_from_study_id_trial_number(self, study_id: int, trial_number: int) -> int:
        known = self._ids.get((study_id, trial_number))
        if known is not None:
            return known
        return super().get_trial_id_from_study_id_trial_number(study_id, trial_number)


@functools.cache
def server_storage() -> type[RDBStorage]:
    """optuna's storage in a database, whose new trials are few statements: the study is locked for less time.

    optuna asks for each parameter and each attribute what there was before: 42 statements under the lock for a trial
    of nine parameters. A trial that is new has none, and its rows go in together, with its first sign of life. That
    needs what optuna does not make public: where it is not there, optuna's own storage.
    """
    storage = load_optuna().storages.RDBStorage
    try:
        from optuna.storages._rdb import models
    except ImportError:
        return storage
    return _extend(storage, models) if all(hasattr(storage, name) for name in _EXTENDED) else storage


def _extend(storage: type[RDBStorage], models: Any) -> type[RDBStorage]:
    from sqlalchemy import insert

    class ServerStorage(_KnownNumbers, storage):  # type: ignore[valid-type, misc]
        """Enters a trial with all that is known of it."""

        enters_heartbeats = True

        def _get_prepared_new_trial(self, study_id: int, template_trial: FrozenTrial | None, session: Any) -> Any:
            if template_trial is None or template_trial.state.is_finished():
                return super()._get_prepared_new_trial(study_id, template_trial, session)
            trial: Any = super()._get_prepared_new_trial(study_id, None, session)
            trial.state = template_trial.state
            for kind, rows in _rows(models, trial.trial_id, template_trial):
                if rows:
                    session.execute(insert(kind), rows)
            return trial

        def end_trial(self, trial_id: int, state: Any, values: Any, key: str, value: object) -> bool:
            """Set an attribute and the state in one transaction. False: nothing is set, as the trial has the attribute.

            Raises UpdateFinishedTrialError.
            """
            row = models.TrialUserAttributeModel(trial_id=trial_id, key=key, value_json=json.dumps(value))
            self.scoped_session().add(row)  # the session of this thread, which the call commits
            return self.set_trial_state_values(trial_id, state, values)

    return ServerStorage


def _rows(models: Any, trial_id: int, trial: FrozenTrial) -> list[tuple[Any, list[dict[str, object]]]]:
    """The rows of the parameters and attributes of a running trial, and of its first sign of life, by table."""
    to_json = load_optuna().distributions.distribution_to_json
    params = [
        {"param_name": name, "param_value": d.to_internal_repr(trial.params[name]), "distribution_json": to_json(d)}
        for name, d in trial.distributions.items()
    ]
    user, system = (
        [{"key": key, "value_json": json.dumps(value)} for key, value in attributes.items()]
        for attributes in (trial.user_attrs, trial.system_attrs)
    )
    tables = [
        (models.TrialParamModel, params),
        (models.TrialUserAttributeModel, user),
        (models.TrialSystemAttributeModel, system),
        (models.TrialHeartbeatModel, [{}]),
    ]
    return [(kind, [{"trial_id": trial_id, **row} for row in rows]) for kind, rows in tables]


_ENDS = ("set_trial_state_values", "end_trial")
"""What may have been done though its answer was lost."""


def wait_for_server(storage: RDBStorage, location: str) -> None:
    """Make the calls of a storage wait while its server is away, up to `PATIENCE` seconds, with a TuneWarning.

    A call that the server may have done before the connection was lost is done again: a state that is set already
    counts as set; a trial that is entered twice remains for `Ledger.claim`. location: in the warning.
    """
    nested = threading.local()
    for name in filter(partial(hasattr, storage), _CALLS):
        setattr(storage, name, _repeat_calls(getattr(storage, name), location, nested))


def _repeat_calls(call: Callable[..., Any], location: str, nested: threading.local) -> Callable[..., Any]:
    @wraps(call)
    def call_again(*args: Any, **named: Any) -> Any:
        if getattr(nested, "depth", 0):
            return call(*args, **named)
        nested.depth = 1
        try:
            return _call_until_reached(call, location, args, named)
        finally:
            nested.depth = 0

    return call_again


def _call_until_reached(
    call: Callable[..., Any], location: str, args: tuple[Any, ...], named: dict[str, Any]
) -> Any:  # Any: of optuna
    finished_before = load_optuna().exceptions.UpdateFinishedTrialError
    lost_at: float | None = None
    while True:
        try:
            return call(*args, **named)
        except finished_before:
            if lost_at is None or call.__name__ not in _ENDS:
                raise
            return True  # set by the call whose answer was lost
        except Exception as error:
            now = time.monotonic()
            if not is_lost_connection(error) or (lost_at is not None and now - lost_at > PATIENCE):
                raise
            if lost_at is None:
                lost_at = now
                reason = str(error.__cause__ or error).strip().splitlines()[0]
                text = f"the storage {location} does not answer: {reason}; waiting {PATIENCE / 60:.0f} minutes for it"
                warnings.warn(text, TuneWarning, stacklevel=3)
            time.sleep(PAUSE)


def is_lost_connection(error: BaseException) -> bool:
    """Whether a server could not be reached, or was lost during a call."""
    from sqlalchemy.exc import InterfaceError, OperationalError

    lost = (OperationalError, InterfaceError)
    return isinstance(error, lost) or isinstance(error.__cause__, lost)
