"""`Schedule.verify`: pass the module of a schedule, and its layout changes of parameters, to the equivalence check."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mlir import ir

from tir_mlir.dialect.analysis.regions import regions
from tir_mlir.dialect.diagnostics import NotChecked, ScheduleWarning
from tir_mlir.dialect.incremental import Version
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import TENSOR_LEVEL, Block, create, direct_ops, enter_context, funcs, walk
from tir_mlir.equivalence.result import Result
from tir_mlir.equivalence.verify_schedule import (
    OVER_THE_FIELD,
    Change,
    ComparisonMethod,
    ScheduledModule,
    verify_schedule,
)
from tir_mlir.extensions import implement
from tir_mlir.passes.schedule.queries.decider import Random
from tir_mlir.schedule.executor import Executor
from tir_mlir.schedule.schedule import Schedule
from tir_mlir.schedule.trace import Trace

if TYPE_CHECKING:
    from tir_mlir.schedule.trace.instruction import Instruction
    from tir_mlir.target import AnyTarget


_MOVES = "transform_layout"


@implement(Schedule.verify)
def verify(sch: Schedule, sizes: str = "auto", *, seed: int = 0, target: str | AnyTarget | None = None) -> Result:
    """Check a scheduled program for equivalence with the original. See `Schedule.verify`."""
    executor = sch.executor
    way = OVER_THE_FIELD if target is None else _machine_comparison(target)

    def replay_changed(module: ir.Module, change: Change) -> ScheduledModule:
        fresh = Executor(Version(create.clone_module(module)), Random.from_seed(None), "detail", False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScheduleWarning)  # given when the user ran the steps
            _change_trace(executor.trace, change).run_on(fresh)
        return ScheduledModule(fresh.module, moved_parameters(fresh))

    with enter_context():
        scheduled = ScheduledModule(_programs(executor.module), moved_parameters(executor))
        original = _programs(executor.original)
    return verify_schedule(original, scheduled, replay_changed, sizes, seed, way)


def _machine_comparison(target: str | AnyTarget) -> ComparisonMethod:
    from tir_mlir.equivalence import machine_comparison  # loads the compiler for GPUs

    comparison = partial(machine_comparison.MachineComparison, gpu=machine_comparison.gpu_of(target))
    return ComparisonMethod(comparison, machine_comparison.FULL_WORK, machine_comparison.TRIED_WORK)


def _programs(module: ir.Module) -> ir.Module:
    """The module without its graphs, which schedules do not change."""
    if not any(TENSOR_LEVEL in op.attributes for op in direct_ops(module.operation)):
        return module
    clone = create.clone_module(module)
    for op in direct_ops(clone.operation):
        if TENSOR_LEVEL in op.attributes:
            op.erase()
    return clone


def _change_trace(trace: Trace, change: Change) -> Trace:
    """A copy of a trace with `change` applied to the arguments and the decision of every step."""
    steps: list[Instruction] = []
    decisions: dict[Instruction, Any] = {}
    for step in trace:
        arguments = dict(step.arguments)
        if step in trace.decisions:
            arguments["decision"] = trace.decisions[step]
        arguments = change(step.name, arguments)
        decision = arguments.pop("decision", None)
        steps.append(replace(step, arguments=arguments))
        if decision is not None:
            decisions[steps[-1]] = decision
    return Trace(steps, decisions)


def moved_parameters(executor: Executor) -> dict[tuple[str, str], IndexMap]:
    """The layout changes of parameters by `transform_layout`: {(function, parameter): index map}.

    Errors: NotChecked for a parameter whose layout changes twice, or whose name is ambiguous between functions.
    """
    moves: dict[tuple[str, str], IndexMap] = {}
    for entry in executor.history:
        if entry.instruction.name != _MOVES:
            continue
        arguments = entry.instruction.arguments
        name = _buffer_name(entry.before, arguments)
        owners = [f.name for f in funcs(entry.before) if any(p.name == name for p in f.params)]
        if len(owners) > 1:
            raise NotChecked(f"transform_layout of {name}, which is a parameter of several functions")
        if owners and (owners[0], name) in moves:
            raise NotChecked(f"the layout of parameter {name} changes twice")
        if owners:
            moves[owners[0], name] = executor.resolve_map(arguments["index_map"])
    return moves


def _buffer_name(module: ir.Module, arguments: dict[str, Any]) -> str:
    which = arguments["buffer"]
    if isinstance(which, str):
        return which
    side, number = ("read", which) if isinstance(which, int) else which
    block = walk.find(module, arguments["block"].id)
    assert block is not None
    reads, writes = regions(Block(block))
    return (reads if side == "read" else writes)[number].buffer.name
