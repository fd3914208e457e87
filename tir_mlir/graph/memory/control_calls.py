"""Branches and loops in the plan of a graph: what they run, and the memory that they run it on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tir_mlir.dialect.graph import TensorType
from tir_mlir.graph.size_code import Size

if TYPE_CHECKING:
    from tir_mlir.graph.memory.buffer_assignment import BufferSlot, PlannedCall

STEP, CONDITION = TensorType((), "int64"), TensorType((), "bool")
"""The types of the number of a step, and of what decides."""

Copy = tuple["BufferSlot", "BufferSlot"]


@dataclass(frozen=True)
class RegionSteps:
    """What a region does: calls in order, then copies."""

    calls: tuple[PlannedCall, ...] = ()
    copies: tuple[Copy, ...] = ()


@dataclass(frozen=True)
class PlannedBranch:
    """if condition: then, else: otherwise."""

    condition: BufferSlot
    then: RegionSteps
    otherwise: RegionSteps


@dataclass(frozen=True)
class PlannedLoop:
    """Steps that are repeated, on a state in memory.

    steps: their number, a position that has it, or None.
    condition: tested before each step, if there is one.
    index: where the number of the step is put.
    before: copies to the state.
    rows: of what is scanned, each with where it is put before a step; body.
    after: copies to the state after it.
    stacked: rows, and the tensors that they become a part of.
    """

    steps: Size | BufferSlot | None
    condition: BufferSlot | None
    index: BufferSlot
    before: tuple[Copy, ...]
    rows: tuple[Copy, ...]
    body: RegionSteps
    after: tuple[Copy, ...]
    stacked: tuple[Copy, ...]
    backward: bool = False


@dataclass(frozen=True)
class SizeCount:
    """A number in memory becomes the size of a name, limited to the least and a bound."""

    size: str
    number: BufferSlot
    least: int
    bound: Size


Control = PlannedBranch | PlannedLoop | SizeCount


def every_call(calls: Sequence[PlannedCall]) -> Iterator[PlannedCall]:
    """The calls of functions, also those in branches and loops."""
    for call in calls:
        if call.control is None:
            yield call
        for steps in regions(call.control):
            yield from every_call(steps.calls)


def regions(control: Control | None) -> list[RegionSteps]:
    """What a branch or a loop runs."""
    if control is None or isinstance(control, SizeCount):
        return []
    return [control.then, control.otherwise] if isinstance(control, PlannedBranch) else [control.body]


def copies(control: Control) -> list[Copy]:
    """The copies of whole tensors, and of rows, that a branch or a loop makes besides its regions."""
    if isinstance(control, PlannedBranch | SizeCount):
        return []
    return [*control.before, *control.rows, *control.after, *control.stacked]


def slots_of(calls: Sequence[PlannedCall]) -> Iterator[BufferSlot]:
    """The memory that calls read and write, in order."""
    for call in calls:
        yield from call.inputs
        yield from call.outputs
        if (control := call.control) is not None:
            for steps in regions(control):
                yield from slots_of(steps.calls)
                yield from (slot for copy in steps.copies for slot in copy)
            yield from (slot for copy in copies(control) for slot in copy)
            yield from _own_slots(control)


def _own_slots(control: Control) -> list[BufferSlot]:
    if isinstance(control, PlannedBranch):
        return [control.condition]
    if isinstance(control, SizeCount):
        return [control.number]
    slots = [control.index, control.condition, control.steps]
    return [slot for slot in slots if slot is not None and not isinstance(slot, (int, str))]


def remap_steps(steps: RegionSteps, to: Callable[[BufferSlot], BufferSlot]) -> RegionSteps:
    """The steps of a region with each slot replaced by `to(slot)`."""
    return RegionSteps(tuple(_remap_call(call, to) for call in steps.calls), _remap_copies(steps.copies, to))


def _remap_copies(pairs: Sequence[Copy], to: Callable[[BufferSlot], BufferSlot]) -> tuple[Copy, ...]:
    return tuple((to(source), to(target)) for source, target in pairs)


def _remap_call(call: PlannedCall, to: Callable[[BufferSlot], BufferSlot]) -> PlannedCall:
    inputs, outputs = tuple(map(to, call.inputs)), tuple(map(to, call.outputs))
    control = None if call.control is None else _remap_control(call.control, to)
    scratch = None if call.scratch is None else to(call.scratch)
    return replace(call, inputs=inputs, outputs=outputs, control=control, scratch=scratch)


def _remap_control(control: Control, to: Callable[[BufferSlot], BufferSlot]) -> Control:
    if isinstance(control, SizeCount):
        return replace(control, number=to(control.number))
    if isinstance(control, PlannedBranch):
        return PlannedBranch(to(control.condition), remap_steps(control.then, to), remap_steps(control.otherwise, to))
    lists = {name: _remap_copies(getattr(control, name), to) for name in ("before", "rows", "after", "stacked")}
    steps = control.steps if control.steps is None or isinstance(control.steps, (int, str)) else to(control.steps)
    condition = None if control.condition is None else to(control.condition)
    return replace(
        control, steps=steps, condition=condition, index=to(control.index), body=remap_steps(control.body, to), **lists
    )


def slot_remapping(
    given: Mapping[tuple[str, int], BufferSlot], weights: Callable[[int], int], spaces: tuple[str, str]
) -> Callable:
    """Where the positions of a region lie in the memory of what runs it. given: its inputs and outputs; weights: from
    the offset of a weight there; spaces: the words for a weight and for a slot of the arena, which remains as it is."""
    weight_space, arena_space = spaces

    def to(slot: BufferSlot) -> BufferSlot:
        if slot.space == arena_space:
            return slot
        if slot.space == weight_space:
            return replace(slot, index=weights(slot.index))
        return replace(given[slot.space, slot.index], type=slot.type)

    return to
