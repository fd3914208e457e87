"""`MachineFunction.verify`: a program with addresses and registers does what its schedule does.

`Schedule.verify` proves that the schedule computes what the program did. What is left: the instructions are those of
the schedule, operands are inside of their buffers, each row that is read was written last for its buffer, registers
have the values that are needed, and waits and tokens order what hardware does not. Where sizes are numbers, all
instructions of a run are looked at, without values.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.checks.all_sizes import fault_at_some_sizes
from tir_mlir.accel.checks.compare_programs import program_difference
from tir_mlir.accel.program import Issue, MachineBuffer, MachineProgram
from tir_mlir.accel.timing.clocks import UnitClocks, is_ordered_by_hardware
from tir_mlir.accel.timing.faults import first_fault
from tir_mlir.accel.timing.races import check_order
from tir_mlir.accel.timing.stream import Stream, read_stream
from tir_mlir.dialect.diagnostics import MachineError, NotProvable


@dataclass(frozen=True)
class ProgramProof:
    """Whether a program with addresses does what its schedule does; truthy if so."""

    difference: str | None
    instructions: int
    """Those of a run, or, for sizes that a call decides, of the text."""
    seconds: float
    sizes: tuple[str, ...] = ()
    """The sizes for all of which it holds."""
    undecided: str = ""
    """What is not provable."""

    def __bool__(self) -> bool:
        return self.difference is None and not self.undecided

    def __str__(self) -> str:
        head = "equal to its schedule" if self else f"not equal to its schedule: {self.difference}"
        if self.undecided:
            head = f"not provable for all sizes: {self.undecided}; fix: verify at some, lib.main.at_sizes(...).verify()"
        of = f"the text, for all {', '.join(self.sizes)}" if self.sizes else "a run"
        return (
            f"{head}\nchecked: operands, rows, registers, order of {self.instructions} instructions of {of}, "
            f"{self.seconds:.2f} s; Schedule.verify proves the schedule"
        )

    __repr__ = __str__


def verify_program(placed: PlacedProgram, scheduled: MachineProgram) -> ProgramProof:
    """Compare a program that has addresses, registers and waits with the one that was read from its schedule."""
    start = time.perf_counter()
    difference, undecided, count = program_difference(placed.program, scheduled), "", 0
    if difference is None and placed.program.sizes:
        count = sum(isinstance(n, Issue) for n in placed.program.nodes())
        try:
            difference = fault_at_some_sizes(placed)
        except NotProvable as error:
            undecided = str(error)
    elif difference is None:
        stream = read_stream(placed.program)
        count = stream.count
        difference = first_fault(stream, placed.rows) or _race(stream, placed.rows)
    return ProgramProof(difference, count, time.perf_counter() - start, tuple(placed.program.sizes), undecided)


def _race(stream: Stream, rows: Mapping[MachineBuffer, int]) -> str | None:
    """What waits and tokens do not order, and hardware neither."""
    if is_ordered_by_hardware(stream.program.machine):
        return None
    try:
        check_order(UnitClocks(stream, rows))
    except MachineError as error:
        return str(error)
    return None
