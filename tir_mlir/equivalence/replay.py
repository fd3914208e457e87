"""Replay the trace of a schedule on another module, and record parameters whose layout it changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import funcs

Change = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Maps a primitive and its arguments (with sampling decisions) to the arguments to use instead."""


@dataclass(frozen=True)
class Replayed:
    """A scheduled module, and the layout maps of changed parameters: {(function, parameter): map}."""

    module: ir.Module
    moves: dict[tuple[str, str], IndexMap]


def replay(sch: Any, module: ir.Module, change: Change | None = None) -> Replayed:
    """Run a schedule's trace on a module. Raises errors of the steps; NotChecked if a layout changes twice."""
    moves: dict[tuple[str, str], IndexMap] = {}

    class RecordingSchedule(type(sch)):
        """A schedule that records the parameters whose layout `transform_layout` changes."""

        def _apply(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
            if name == "transform_layout":
                _note(self, kwargs, moves)
            return super()._apply(name, *args, **kwargs)

    fresh = RecordingSchedule(module)
    trace = sch.trace if change is None else _changed(sch.trace, change)
    trace.apply_to_schedule(fresh)
    return Replayed(fresh.mod.mlir, moves)


def _changed(trace: Any, change: Change) -> Any:
    steps, decisions = [], {}
    for step in trace:
        arguments = dict(step.arguments)
        if step in trace.decisions:
            arguments["decision"] = trace.decisions[step]
        arguments = change(step.name, arguments)
        decision = arguments.pop("decision", None)
        steps.append(replace(step, arguments=arguments))
        if decision is not None:
            decisions[steps[-1]] = decision
    return type(trace)(steps, decisions)


def _note(sch: Any, arguments: dict[str, Any], moves: dict[tuple[str, str], IndexMap]) -> None:
    which = arguments["buffer"]
    if not isinstance(which, str):
        info = sch.get(arguments["block"])
        side, number = which if isinstance(which, tuple | list) else ("read", which)
        which = (info.reads if side == "read" else info.writes)[number].buffer.name
    owners = [f for f in funcs(sch.mod.mlir) if any(p.name == which for p in f.params)]
    if not owners:
        return
    if len(owners) > 1:
        raise NotChecked(f"transform_layout of {which}, which is a parameter of several functions")
    key = (owners[0].name, which)
    if key in moves:
        raise NotChecked(f"the layout of parameter {which} is transformed twice")
    moves[key] = arguments["index_map"]
