"""A storage on a database server: what is asked of it waits while the server is away, as in a restart."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.diagnostics import TuneWarning
from tir_mlir.tune.search.samplers import load_optuna

if TYPE_CHECKING:
    from optuna.storages import RDBStorage

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
    "set_trial_system_attr", "set_trial_user_attr", "record_heartbeat", "_get_stale_trial_ids",
)  # fmt: skip


def wait_for_server(storage: RDBStorage, location: str) -> None:
    """Make the calls of a storage wait while its server is away, up to `PATIENCE` seconds, with a TuneWarning.

    A call that the server may have done before the connection was lost is done again: a state that is set already
    counts as set; a trial that is entered twice remains for `Ledger.claim`. location: in the warning.
    """
    nested = threading.local()
    for name in _CALLS:
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
            if lost_at is None or call.__name__ != "set_trial_state_values":
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
