"""`accel.map`: a program becomes instructions of a machine without a person, and what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.mapping.nest import Nest, plan_nest
from tir_mlir.accel.mapping.roles import Role, roles_of
from tir_mlir.accel.mapping.steps import apply_tiling
from tir_mlir.accel.mapping.tiling import Tiling, tilings, used_rows
from tir_mlir.accel.timing import Timeline
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import InternalError, MachineError, ScheduleError
from tir_mlir.runtime.library import Library
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.script.module import IRModule, PrimFunc

_TRIED = 4
"""Tilings of which steps are tried at most, the cheapest first."""


@dataclass(frozen=True, eq=False)
class Mapping:
    """A program on a machine: the schedule with its steps, and why they were chosen."""

    machine: Machine
    schedule: Schedule
    reasons: tuple[str, ...]

    def build(self) -> Library:
        """The library that runs on the model of the machine. Errors: as of `build`."""
        return self._library

    @cached_property
    def _library(self) -> Library:
        return build(self.schedule, target=self.machine)

    @property
    def function(self) -> MachineFunction:
        """The function of the program. Errors: MachineError if there are several: they are in `build()`."""
        names = list(self.schedule.mod.prim_funcs)
        if len(names) != 1:
            raise MachineError(f"the program has {len(names)} functions: {', '.join(names)}; fix: build()[name]")
        found = self._library[names[0]]
        assert isinstance(found, MachineFunction)
        return found

    @property
    def cycles(self) -> int:
        """The cycles that it takes on the model of the machine."""
        return self.function.cycles

    @property
    def addresses(self) -> PlacedProgram:
        """Where its buffers are in the memories of the machine."""
        return self.function.addresses

    @property
    def timeline(self) -> Timeline:
        """When the units of the machine are busy."""
        return self.function.timeline

    @property
    def source(self) -> str:
        """Its C."""
        return self.function.source

    def __str__(self) -> str:
        return "\n".join(self.reasons)

    __repr__ = __str__


def map_program(program: PrimFunc | IRModule | Schedule, machine: Machine) -> Mapping:
    """Schedule a program for a machine: its blocks are matched with the instructions, tiled so that all buffers fit the
    memories, and copied there ahead of what computes with them.

    program: its blocks have a loop for each iter. The result has a schedule of ordinary steps, which can be edited.
    Errors: MachineError for a block that no instruction computes, with the nearest one and its differences, and for
    tiles that do not fit.
    """
    sch = program.copy() if isinstance(program, Schedule) else Schedule(program)
    roles = roles_of(machine)
    reasons: list[str] = []
    for name in sch.mod.prim_funcs:
        sch.work_on(name)
        reasons += _map_function(sch, machine, roles, name)
    return Mapping(machine, sch, tuple(reasons))


def _map_function(sch: Schedule, machine: Machine, roles: Sequence[Role], function: str) -> list[str]:
    reasons = []
    done: set[str] = set()
    blocks = sch.get_child_blocks(sch.get_block("root", function))
    for name in [sch.get(block).name for block in blocks]:
        if name in done:
            continue
        last = _inline_epilogue(sch, sch.get_block(name), done)
        nest = plan_nest(sch, machine, roles, sch.get_block(name), last)
        reasons.append(_apply(sch, machine, nest))
    return reasons


def _inline_epilogue(sch: Schedule, block: BlockHandle, done: set[str]) -> str | None:
    """Make one block of the elementwise ones that follow a block, each alone. Returns its name."""
    last: BlockHandle | None = None
    while True:
        readers = sch.get_consumers(block if last is None else last)
        if len(readers) != 1 or any(i.kind != "S" for i in sch.get(readers[0]).iter_vars):
            break
        if last is not None:
            sch.compute_inline(last)
        last = readers[0]
        done.add(sch.get(last).name)
    return None if last is None else sch.get(last).name


def _apply(sch: Schedule, machine: Machine, nest: Nest) -> str:
    """Schedule a nest by the cheapest tiling of which each step is legal."""
    ranked = tilings(nest)
    if not ranked:
        raise MachineError(_too_small(nest))
    refused = None
    for cycles, tiling in ranked[:_TRIED]:
        try:
            sch.executor.all_or_nothing(lambda tiling=tiling: apply_tiling(sch, nest, tiling))
        except InternalError:
            raise
        except ScheduleError as error:
            refused = error
        else:
            return _reason(nest, tiling, cycles, len(ranked))
    raise MachineError(f"block {nest.block} is not mapped to {machine}: {refused}") from refused


def _too_small(nest: Nest) -> str:
    least = Tiling((1,) * len(nest.axes), tuple(range(len(nest.axes))), (len(nest.axes) - 1,) * len(nest.copies))
    needs = ", ".join(
        f"{rows} of {memory.name}, which has {memory.rows}" for memory, rows in used_rows(nest, least).items()
    )
    return f"block {nest.block}: the smallest tiles of {nest.role} need {needs} rows"


def _reason(nest: Nest, tiling: Tiling, cycles: float, count: int) -> str:
    """What was chosen for a block, in words."""
    tile = " x ".join(map(str, nest.role.extents))
    lines = [
        f"block {nest.block}: {nest.role} computes tiles of {tile}; about {round(cycles)} cycles, of {count} tilings"
    ]
    outer = tiling.outer(nest)
    for copy, level in zip(nest.copies, tiling.levels, strict=True):
        where = f"in each iteration of {nest.axes[outer[level]].name}" if level >= 0 else "once"
        ahead = ", an iteration ahead" if tiling.planes(level) > 1 else ""
        lines.append(f"  {copy.buffer.name} is copied into {copy.buffer.memory.name} by {copy.copy} {where}{ahead}")
    loops = ", ".join(
        f"{nest.axes[a].name} {tiling.trips(nest, a)} x {tiling.parts[a] * nest.axes[a].tile}" for a in outer
    )
    lines.append(f"  loops over parts: {loops or 'none'}; the result is in {nest.result.memory.name}")
    if nest.fill is not None:
        lines.append(f"  {nest.fill} sets it, {nest.store} stores it")
    return "\n".join(lines)
