"""Pickling of schedules: modules as text, each stored once, everything else unchanged.

The unpickled schedule has the same module, trace, history, RNG state and handles. No step is replayed, so tensor
intrinsics need not be registered in the new process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from mlir import ir

from tir_mlir.schedule.history import Entry, Refusal
from tir_mlir.script.module import module_text, parsed_module

_MODULES = ("module", "original")
_RECORDS: dict[str, Any] = {"history": Entry, "refused": Refusal}


class _ModuleIndex(int):
    """Index of a module in the pickled state."""


def dumped(state: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of an executor, with indices in place of modules, and the texts of the modules."""
    texts: list[str] = []
    numbers: dict[int, _ModuleIndex] = {}  # by identity of the module: steps share modules

    def plain(value: Any) -> Any:
        if not isinstance(value, ir.Module):
            return value
        if id(value) not in numbers:
            numbers[id(value)] = _ModuleIndex(len(texts))
            texts.append(module_text(value))
        return numbers[id(value)]

    kept = {
        key: plain(value) if key in _MODULES else value
        for key, value in state.items()
        if key not in ("check", "decider")
    }
    for key, kind in _RECORDS.items():
        kept[key] = [{f.name: plain(getattr(record, f.name)) for f in fields(kind)} for record in state[key]]
    return {"state": kept, "modules": texts}


def loaded(data: Mapping[str, Any]) -> dict[str, Any]:
    """Inverse of `dumped`."""
    state = dict(data["state"])
    modules = [parsed_module(text) for text in data["modules"]]

    def module(value: Any) -> Any:
        return modules[value] if isinstance(value, _ModuleIndex) else value

    for key in _MODULES:
        state[key] = module(state[key])
    for key, kind in _RECORDS.items():
        state[key] = [kind(**{name: module(value) for name, value in record.items()}) for record in state[key]]
    return state
