"""Branches and loops in the plan of a graph: what they run, and the memory that they run it on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tir_mlir.dialect.graph import TensorType
from tir_mlir.graph.size_code import Size

if TYPE_CHECKING:
    from tir_mlir.graph.memory.places import Call, Place

STEP, CONDITION = TensorType((), "int64"), TensorType((), "bool")
"""The types of the number of a step, and of what decides."""

Copy = tuple["Place", "Place"]


@dataclass(frozen=True)
class Steps:
    """What a region does: calls in order, then copies."""

    calls: tuple[Call, ...] = ()
    copies: tuple[Copy, ...] = ()


@dataclass(frozen=True)
class Branch:
    """if condition: then, else: otherwise."""

    condition: Place
    then: Steps
    otherwise: Steps


@dataclass(frozen=True)
class Loop:
    """Steps that are repeated, on a state in memory.

    steps: their number, a place that has it, or None; condition: tested before each step, if there is one; index: where
    the number of the step is put. before: copies to the state; rows: of what is scanned, each with where it is put
    before a step; body; after: copies to the state after it; stacked: rows, and the tensors that they become a part of.
    """

    steps: Size | Place | None
    condition: Place | None
    index: Place
    before: tuple[Copy, ...]
    rows: tuple[Copy, ...]
    body: Steps
    after: tuple[Copy, ...]
    stacked: tuple[Copy, ...]
    backward: bool = False


@dataclass(frozen=True)
class Count:
    """A number in memory becomes the size of a name, limited to the least and a bound."""

    size: str
    number: Place
    least: int
    bound: Size


Control = Branch | Loop | Count


def every_call(calls: Sequence[Call]) -> Iterator[Call]:
    """The calls of functions, also those in branches and loops."""
    for call in calls:
        if call.control is None:
            yield call
        for steps in regions(call.control):
            yield from every_call(steps.calls)


def regions(control: Control | None) -> list[Steps]:
    """What a branch or a loop runs."""
    if control is None or isinstance(control, Count):
        return []
    return [control.then, control.otherwise] if isinstance(control, Branch) else [control.body]


def copies(control: Control) -> list[Copy]:
    """The copies of whole tensors, and of rows, that a branch or a loop makes besides its regions."""
    if isinstance(control, Branch | Count):
        return []
    return [*control.before, *control.rows, *control.after, *control.stacked]


def places_of(calls: Sequence[Call]) -> Iterator[Place]:
    """The memory that calls read and write, in order."""
    for call in calls:
        yield from call.inputs
        yield from call.outputs
        if (control := call.control) is not None:
            for steps in regions(control):
                yield from places_of(steps.calls)
                yield from (place for copy in steps.copies for place in copy)
            yield from (place for copy in copies(control) for place in copy)
            yield from _own_places(control)


def _own_places(control: Control) -> list[Place]:
    if isinstance(control, Branch):
        return [control.condition]
    if isinstance(control, Count):
        return [control.number]
    places = [control.index, control.condition, control.steps]
    return [place for place in places if place is not None and not isinstance(place, (int, str))]


def moved(steps: Steps, to: Callable[[Place], Place]) -> Steps:
    """What a region does, on other memory: `to` is what each place becomes."""
    return Steps(tuple(_moved_call(call, to) for call in steps.calls), _moved_copies(steps.copies, to))


def _moved_copies(pairs: Sequence[Copy], to: Callable[[Place], Place]) -> tuple[Copy, ...]:
    return tuple((to(source), to(target)) for source, target in pairs)


def _moved_call(call: Call, to: Callable[[Place], Place]) -> Call:
    inputs, outputs = tuple(map(to, call.inputs)), tuple(map(to, call.outputs))
    control = None if call.control is None else _moved_control(call.control, to)
    scratch = None if call.scratch is None else to(call.scratch)
    return replace(call, inputs=inputs, outputs=outputs, control=control, scratch=scratch)


def _moved_control(control: Control, to: Callable[[Place], Place]) -> Control:
    if isinstance(control, Count):
        return replace(control, number=to(control.number))
    if isinstance(control, Branch):
        return Branch(to(control.condition), moved(control.then, to), moved(control.otherwise, to))
    lists = {name: _moved_copies(getattr(control, name), to) for name in ("before", "rows", "after", "stacked")}
    steps = control.steps if control.steps is None or isinstance(control.steps, (int, str)) else to(control.steps)
    condition = None if control.condition is None else to(control.condition)
    return replace(
        control, steps=steps, condition=condition, index=to(control.index), body=moved(control.body, to), **lists
    )


def bound(given: Mapping[tuple[str, int], Place], weights: Callable[[int], int], spaces: tuple[str, str]) -> Callable:
    """Where the places of a region lie in the memory of what runs it. given: its inputs and outputs; weights: from
    the offset of a weight there; spaces: the words for a weight and for a slot of the arena, which stays as it is."""
    weight_space, arena_space = spaces

    def to(place: Place) -> Place:
        if place.space == arena_space:
            return place
        if place.space == weight_space:
            return replace(place, index=weights(place.index))
        return replace(given[place.space, place.index], type=place.type)

    return to
