"""The state of a schedule as data: its modules as text, each once, and everything else as it is.

A schedule that comes back has the same module, trace, history, random numbers and handles; no step is run again, so
intrinsics that only the first process knows are no obstacle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from mlir import ir

from tir_mlir.script.module import module_text, parsed_module

from .history import Entry

_MODULES = ("_module", "_original")
_FIELDS = tuple(field.name for field in fields(Entry))


def dumped(state: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a schedule with numbers in place of modules, and the texts that the numbers stand for."""
    texts: list[str] = []
    numbers: dict[int, int] = {}  # by the identity of a module: steps share them

    def number(module: ir.Module) -> int:
        if id(module) not in numbers:
            numbers[id(module)] = len(texts)
            texts.append(module_text(module))
        return numbers[id(module)]

    def plain(value: Any) -> Any:
        return number(value) if isinstance(value, ir.Module) else value

    kept = {key: plain(value) if key in _MODULES else value for key, value in state.items()}
    kept["_history"] = [{name: plain(getattr(entry, name)) for name in _FIELDS} for entry in state["_history"]]
    return {"state": kept, "modules": texts}


def loaded(data: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that `dumped` was given."""
    state = dict(data["state"])
    modules = [parsed_module(text) for text in data["modules"]]
    for key in _MODULES:
        state[key] = modules[state[key]]
    state["_history"] = [
        Entry(**(entry | {key: modules[entry[key]] for key in ("before", "after")})) for entry in state["_history"]
    ]
    return state
