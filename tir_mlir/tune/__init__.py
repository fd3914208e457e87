"""Search: tune a program, keep what was found, find it again. Needs `pip install "tir-mlir[tune]"` to search.

Sub-packages: `spaces` (what is searched), `trials` (one candidate: build, measure, compare), `records` (what was
found), `search` (the loop), `models` (the functions of a graph), `boards` (over SSH), `report`
(tables, progress, plots). Names are loaded when first used: looking up records needs no optuna.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tir_mlir.dialect.diagnostics import TuneError as TuneError
    from tir_mlir.dialect.diagnostics import TuneWarning as TuneWarning
    from tir_mlir.tune.models.best_model import BestOfModel as BestOfModel
    from tir_mlir.tune.models.tune_model import tune_model as tune_model
    from tir_mlir.tune.records.database import Database as Database
    from tir_mlir.tune.records.record import Record as Record
    from tir_mlir.tune.records.record import subject as subject
    from tir_mlir.tune.search.best import Best as Best
    from tir_mlir.tune.search.tune_entry import tune as tune
    from tir_mlir.tune.spaces.deciders import Defaults as Defaults
    from tir_mlir.tune.spaces.deciders import Fixed as Fixed
    from tir_mlir.tune.spaces.deciders import Recording as Recording

_DEFINING_MODULES: dict[str, str] = {
    "Best": "tir_mlir.tune.search.best",
    "BestOfModel": "tir_mlir.tune.models.best_model",
    "Database": "tir_mlir.tune.records.database",
    "Defaults": "tir_mlir.tune.spaces.deciders",
    "Fixed": "tir_mlir.tune.spaces.deciders",
    "Record": "tir_mlir.tune.records.record",
    "Recording": "tir_mlir.tune.spaces.deciders",
    "TuneError": "tir_mlir.dialect.diagnostics",
    "TuneWarning": "tir_mlir.dialect.diagnostics",
    "subject": "tir_mlir.tune.records.record",
    "tune": "tir_mlir.tune.search.tune_entry",
    "tune_model": "tir_mlir.tune.models.tune_model",
}


def __getattr__(name: str) -> object:
    if name not in _DEFINING_MODULES:
        raise AttributeError(
            f"module 'tir_mlir.tune' has no attribute {name!r}; it has {', '.join(sorted(_DEFINING_MODULES))}"
        )
    value = getattr(importlib.import_module(_DEFINING_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_DEFINING_MODULES})
