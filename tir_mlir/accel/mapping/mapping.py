"""`accel.map`: a program becomes instructions of a machine without a person, and what was chosen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.mapping.chain import Chain, chain_reason, chain_too_small, plan_chain, step_reason
from tir_mlir.accel.mapping.chain_steps import apply_chain
from tir_mlir.accel.mapping.grouping import group_terms
from tir_mlir.accel.mapping.nest import GUESSED_TILES, Nest, plan_nests, raise_block
from tir_mlir.accel.mapping.on_cores import CoreSplit, Placement, least_cycles, placements
from tir_mlir.accel.mapping.program_nests import is_elementwise, nests_of
from tir_mlir.accel.mapping.roles import Role, roles_of
from tir_mlir.accel.mapping.space import Choose
from tir_mlir.accel.mapping.steps import apply_tiling
from tir_mlir.accel.mapping.tiling import Tiling, used_rows
from tir_mlir.accel.timing import Timeline
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import InternalError, LoweringError, MachineError, ScheduleError
from tir_mlir.extensions import extension_point
from tir_mlir.runtime.library import Library
from tir_mlir.schedule import Schedule
from tir_mlir.script.module import IRModule, PrimFunc

_ALMOST_BEST = 1.05
"""Times the fewest cycles: of the sizes of instructions that cost no more, the greatest are taken."""
_TRIED = 4
"""Tilings of which steps are tried at most, the cheapest first."""


@dataclass(frozen=True)
class Trial:
    """A mapping that a search tried: its decisions, and its cycles; None with the reason why it has none."""

    decisions: dict[str, int]
    cycles: int | None
    reason: str = ""


@extension_point
def search_mapping(mapping: Mapping, trials: int, seed: int | None, progress: bool | None) -> Mapping:
    """The best mapping that a search finds, with what it tried."""
    ...


@dataclass(frozen=True, eq=False)
class Mapping:
    """A program on a machine: the schedule with its steps, and why they were chosen."""

    machine: Machine
    schedule: Schedule
    reasons: tuple[str, ...]
    program: IRModule
    """What was mapped."""
    trials: tuple[Trial, ...] = ()
    """What a search tried."""

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

    def tune(self, trials: int = 32, *, seed: int | None = None, progress: bool | None = None) -> Mapping:
        """Search for a mapping of fewer cycles: the sizes of parts, the order of loops, and the places of copies are
        free. Needs `pip install "tir-mlir[tune]"`.

        trials: how many mappings are built, this one first, and timed by the model of the machine. progress: whether to
        show it; default: in a terminal. Returns the best one, with its `trials`. Errors: TuneError; MachineError for
        sizes that a call decides.
        """
        for function in self._library.values():
            if isinstance(function, MachineFunction) and (sizes := function.placed.program.sizes):
                raise MachineError(
                    f"the cycles of {function.name} depend on {', '.join(sizes)}, which a call decides; fix: tune the "
                    "mapping of a program with numbers"
                )
        return search_mapping(self, trials, seed, progress)

    @property
    def total_cycles(self) -> int:
        """The cycles of all its functions."""
        return sum(f.cycles for f in self._library.values() if isinstance(f, MachineFunction))

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
    original = sch.mod
    return Mapping(machine, sch, map_functions(sch, machine), original)


def cheapest_program(programs: Sequence[PrimFunc], machine: Machine) -> int:
    """Which of several programs of one nest takes the fewest cycles, about, without its steps; those that cannot be
    mapped are the last ones. Returns its number. Programs that compute longer than the best one takes are not tiled."""
    planned = list[tuple[float, int, list[Nest], int]]()
    for number, program in enumerate(programs):
        sch = Schedule(program)
        try:
            ((name, last),) = blocks = nests_of(sch, next(iter(sch.mod.prim_funcs)))
            nests = plan_nests(sch, machine, roles_of(machine), sch.get_block(name), last)
        except (MachineError, LoweringError):
            continue
        cores = _cores(machine, blocks)
        planned.append((min(least_cycles(nest, cores) for nest in nests), number, nests, cores))
    best, chosen = math.inf, 0
    for least, number, nests, cores in sorted(planned, key=lambda p: p[:2]):
        if least > best:
            break
        try:
            found = _place(nests, cores)[1][0].cycles
        except MachineError:
            continue
        best, chosen = min((best, chosen), (found, number))
    return chosen


def map_functions(sch: Schedule, machine: Machine, choose: Choose = lambda _, ranked: ranked) -> tuple[str, ...]:
    """Schedule all functions of a schedule for a machine. Returns what was chosen. Errors: MachineError."""
    roles = roles_of(machine)
    reasons: list[str] = []
    for name in sch.mod.prim_funcs:
        sch.work_on(name)
        reasons += _map_function(sch, machine, roles, name, choose)
    return tuple(reasons)


def _map_function(
    sch: Schedule, machine: Machine, roles: Sequence[Role], function: str, choose: Choose
) -> Iterator[str]:
    nests = nests_of(sch, function)
    cores = _cores(machine, nests)
    for name, last in nests:
        if is_elementwise(sch, name):
            raised = raise_block(sch, sch.get_block(name))
            yield _apply_chain(sch, machine, plan_chain(machine, roles, name, raised.form, raised.iters))
            continue
        grouped = group_terms(sch, roles, sch.get_block(name))
        reason = _apply(sch, machine, plan_nests(sch, machine, roles, sch.get_block(name), last), choose, cores)
        yield "\n".join([reason, *grouped])


def _cores(machine: Machine, nests: Sequence[tuple[str, str | None]]) -> int:
    """The cores to which the tiles of a function may be given."""
    waits = any(u.is_shared and not u.is_interlocked for u in machine.units.values())
    return machine.cores if len(nests) == 1 and not waits else 1  # cores do not wait for each other


def _place(nests: Sequence[Nest], cores: int) -> tuple[Nest, list[Placement]]:
    """The nest of a block, of several ways, with its placements, the cheapest first. Errors: MachineError."""
    tiled = dict[int, list[Placement]]()
    most = math.inf
    for least, number in sorted((least_cycles(nest, cores), n) for n, nest in enumerate(nests)):
        if least <= most and (found := placements(nests[number], cores)):
            tiled[number] = found
            most = min(most, _ALMOST_BEST * found[0].cycles)
    if not tiled:
        raise MachineError(_too_small(nests[-1]))
    placed = [(nests[number], tiled[number]) for number in sorted(tiled)]
    cheap = [p for p in placed if p[1][0].cycles <= most]
    return max(cheap, key=lambda p: (math.prod(p[0].role.extents), -p[1][0].cycles))


def _apply(sch: Schedule, machine: Machine, nests: Sequence[Nest], choose: Choose, cores: int) -> str:
    """Schedule a block, in one of several ways, by the cheapest tiling of which each step is legal."""
    nest, ranked = _place(nests, cores)
    split = ranked[0].split
    part = nest if split is None else split.part(nest)
    costs = {p.tiling: p.cycles for p in ranked if p.split == split}
    refused = None
    for tiling in choose(part, list(costs))[:_TRIED]:
        try:
            sch.executor.all_or_nothing(lambda tiling=tiling: apply_tiling(sch, nest, tiling, split))
        except InternalError:
            raise
        except ScheduleError as error:
            refused = error
        else:
            return _reason(part, tiling, costs.get(tiling), len(ranked), split)
    raise MachineError(f"block {nest.block} is not mapped to {machine}: {refused}") from refused


def _apply_chain(sch: Schedule, machine: Machine, chain: Chain) -> str:
    """Schedule an elementwise block by the cheapest parts of which each step is legal."""
    refused = None
    for cycles, parts in chain.parts()[:_TRIED]:
        try:
            sch.executor.all_or_nothing(lambda parts=parts: apply_chain(sch, chain, parts))
        except InternalError:
            raise
        except ScheduleError as error:
            refused = error
        else:
            return chain_reason(chain, parts, cycles)
    if refused is None:
        raise MachineError(chain_too_small(chain))
    raise MachineError(f"block {chain.block} is not mapped to {machine}: {refused}") from refused


def _too_small(nest: Nest) -> str:
    count = len(nest.axes)
    least = Tiling((1,) * count, tuple(range(count)), (count,) * len(nest.copies), ahead=False)
    needs = [f"{n} rows of {m.name}, which has {m.rows}" for m, n in used_rows(nest, least).items() if n > m.rows]
    return f"block {nest.block}: the smallest tiles of {nest.role} need {', '.join(needs)}"


def _reason(nest: Nest, tiling: Tiling, cycles: float | None, count: int, split: CoreSplit | None) -> str:
    """What was chosen for a block, in words; nest: what one core computes."""
    tile = " x ".join(map(str, nest.role.extents))
    cost = "decided by a search" if cycles is None else f"about {round(cycles)} cycles, the least of {count} tilings"
    lines = [f"block {nest.block}: {nest.role} computes tiles of {tile}; {cost}"]
    lines += [f"  {rival} does the same, and is not cheaper" for rival in nest.rivals]
    if sizes := _whole_sizes(nest):
        lines.append(f"  it always computes whole tiles, {', '.join(sizes)}: operands are padded at edges")
    if split is not None:
        axis = nest.axes[split.axis]
        lines.append(f"  each of {split.cores} cores computes {axis.extent} of {axis.name}")
    if nest.join is not None:
        y, x = (nest.axes[a].name for a in (nest.join.outer, nest.join.inner))
        lines.append(f"  {nest.join.count} of {y} with {nest.join.size} of {x} are one axis of {nest.join.rows}, {x}")
    lines += _lost_rows(nest)
    outer = tiling.outer(nest)
    for copy, level in zip(nest.copies, tiling.levels, strict=True):
        where = f"in each iteration of {nest.axes[outer[level]].name}" if level >= 0 else "once"
        ahead = ", an iteration ahead" if tiling.planes(level) > 1 else ""
        lines.append(f"  {copy.buffer.name} is copied into {copy.buffer.memory.name} by {copy.copy} {where}{ahead}")
        if copy.by_cpu:
            lines[-1] += "; the CPU lays it out first"
    if any(axis.is_symbolic for axis in nest.axes):
        lines[0] += f", for {GUESSED_TILES} tiles where a call decides the size"
    trips = {a: "any number" if nest.axes[a].is_symbolic else tiling.trips(nest, a) for a in outer}
    loops = ", ".join(f"{nest.axes[a].name} {trips[a]} x {tiling.parts[a] * nest.axes[a].tile}" for a in outer)
    lines.append(f"  loops over parts: {loops or 'none'}; the result is in {nest.result.memory.name}")
    if nest.behind is not None:
        lines += [step_reason(nest.behind, step) for step in nest.behind.steps]
        lines += [] if nest.fill is None else [f"  {nest.fill} sets it"]
    elif nest.fill is not None:
        lines.append(f"  {nest.fill} sets it, {nest.store} stores it")
    return "\n".join(lines)


def _whole_sizes(nest: Nest) -> list[str]:
    """The sizes of what an instruction computes that are those of whole tiles, though axes end in a part of one."""
    axes = dict(enumerate(nest.pairing.axes))
    padded = {name for iterator, name in nest.role.limits.items() if nest.axes[axes[iterator]].is_padded}
    return [f"{n.name} = {n.high}" for n in nest.role.instruction.numbers if n.name in padded]


def _lost_rows(nest: Nest) -> list[str]:
    """What an instruction computes beyond the ends of axes, in words."""
    lines, role = [], nest.role
    for iterator, number in enumerate(nest.pairing.axes):
        axis = nest.axes[number]
        lost = 1 - axis.extent / (axis.tiles * axis.tile)
        if not lost or axis.is_symbolic or (axis.is_padded and iterator in role.limits):
            continue
        if axis.is_limited and role.cycles_of({iterator: axis.extent % axis.tile}) < role.cycles:
            continue
        why = "takes as long for less of one" if axis.is_limited else "has no number such as `rows: upto(n)`"
        lines.append(f"  {100 * lost:.1f} % of its tiles are beyond the {axis.extent} of {axis.name}: it {why}")
    return lines
