"""`interpret(..., machine=m)`: run a program on the model of a machine, with breakpoints; what it read and wrote."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.program import For, Issue, When
from tir_mlir.accel.simulate import Simulator, stop_values
from tir_mlir.accel.timing import Timeline
from tir_mlir.accel.timing.accesses import used_elements
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.extensions import implement
from tir_mlir.interpreter.interpret import show_source

if TYPE_CHECKING:
    from mlir import ir

    from tir_mlir.accel.program import MachineProgram, Node
    from tir_mlir.accel.timing.stream import Stream
    from tir_mlir.interpreter.codegen import Breakpoint
    from tir_mlir.runtime.call.signature import CallSignature

_count = itertools.count(1)


@dataclass(frozen=True)
class ElementCounts:
    """How many elements of a buffer instructions read, and how many they wrote."""

    reads: int = 0
    writes: int = 0


@dataclass(frozen=True)
class MachineReport:
    """What a run of a program did, without the statements of the CPU: the elements of each buffer that instructions
    read and wrote, and when units were busy."""

    name: str
    buffers: dict[str, ElementCounts]
    timeline: Timeline

    def __getitem__(self, buffer: str) -> ElementCounts:
        return self.buffers[buffer]

    @property
    def runs(self) -> dict[str, int]:
        """How often each instruction was issued."""
        return dict(self.timeline.issued)

    @property
    def cycles(self) -> int:
        return self.timeline.cycles

    def __str__(self) -> str:
        rows = [(self.name, "reads", "writes")]
        rows += [(name, f"{c.reads:,}", f"{c.writes:,}") for name, c in self.buffers.items()]
        widths = [max(len(row[n]) for row in rows) for n in range(3)]
        lines = [f"{r[0]:{widths[0]}}  {r[1]:>{widths[1]}}  {r[2]:>{widths[2]}}" for r in rows]
        return "\n".join([*lines, str(self.timeline)])

    __repr__ = __str__


@implement(Machine.interpret)
def interpret_on_machine(
    machine: Machine,
    module: ir.Module,
    signature: CallSignature,
    arrays: Sequence[object],
    breakpoints: Mapping[str, Breakpoint],
) -> MachineReport:
    """Run a function of a module on arrays, and stop before the instructions of `breakpoints` where their conditions
    hold, in the debugger of Python's `breakpoint`: loops are variables there, memories and buffers arrays.

    Errors: as of `build`; ArgumentError, MachineError.
    """
    function = build(module, target=machine)[signature.name]
    assert isinstance(function, MachineFunction)
    function = function.for_arrays(arrays)
    program = function.placed.program
    _check_stops(program, breakpoints)
    simulator = Simulator(function.checked_stream, function.placed.rows, breakpoints)
    for name, source in simulator.write(list(map(np.asarray, arrays))):
        filename = f"<{name} in Python, {next(_count)}>"
        show_source(filename, source)
        exec(compile(source, filename, "exec"), simulator.scope)
    return MachineReport(program.name, _count_elements(function.checked_stream), function.timeline)


def _check_stops(program: MachineProgram, breakpoints: Mapping[str, Breakpoint]) -> None:
    """Check that each breakpoint is an instruction of a program, whose values its condition takes."""
    sites = list(_sites(program.body))
    names = list(dict.fromkeys(issue.instruction.name for issue, _ in sites))
    for name, condition in breakpoints.items():
        if name not in names:
            near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
            way = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
            raise ArgumentError(f'breakpoints: no instruction "{name}" in {program.name}; {way}')
        own = [(issue, loops) for issue, loops in sites if issue.instruction.name == name]
        if callable(condition) and all(stop_values(condition, *site) is None for site in own):
            known = "; or ".join(
                dict.fromkeys(", ".join((*loops, *issue.numbers)) or "nothing" for issue, loops in own)
            )
            raise ArgumentError(f"breakpoints: the condition of {name} takes a name that is not there; it has {known}")


def _sites(body: Sequence[Node], loops: tuple[str, ...] = ()) -> list[tuple[Issue, tuple[str, ...]]]:
    """The instructions of a text, each with the loops around it."""
    found: list[tuple[Issue, tuple[str, ...]]] = []
    for node in body:
        if isinstance(node, Issue):
            found.append((node, loops))
        elif isinstance(node, For | When):
            found += _sites(node.body, (*loops, node.var) if isinstance(node, For) else loops)
    return found


def _count_elements(stream: Stream) -> dict[str, ElementCounts]:
    counts = {b.name: [0, 0] for b in stream.program.params}
    for executions in stream.tables:
        for tile in executions.issue.instruction.tiles:
            entry = counts.setdefault(executions.issue.tiles[tile.name].buffer.name, [0, 0])
            used = int(used_elements(tile, executions).sum())
            for access in tile.access:
                entry["rw".index(access)] += used
    return {name: ElementCounts(*entry) for name, entry in counts.items()}
