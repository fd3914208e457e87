"""Records as schedules: of the program that they are about, or of the same operator at other sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.dialect.ir import held_module
from tir_mlir.schedule import Schedule
from tir_mlir.tune.records.program_identity import identity
from tir_mlir.tune.records.program_names import names_of
from tir_mlir.tune.records.record import Record
from tir_mlir.tune.records.recorded_program import recorded_program, replay
from tir_mlir.tune.spaces.deciders import Fixed, Recording

if TYPE_CHECKING:
    from tir_mlir.script.module import IRModule, PrimFunc
    from tir_mlir.tune.records.program_identity import Program


def replayed(record: Record, program: Program) -> Schedule:
    """The schedule of a record, with its trace, on the program that it is about.

    A trace names blocks: if those of `program` have other names, the schedule starts from the program that the trace
    makes of it, and has no trace. Raises TuneError for a record of another program, and see `recorded_program`.
    """
    if identity(program).program != record.program:
        raise TuneError(f"{record} is about another program; fix: for other sizes, `resized`")
    module = held_module(program)
    assert module is not None  # it has an identity
    if not record.names or record.names == names_of(program):
        return replay(record, module)[0]
    return Schedule(recorded_program(record, module))


def resized(
    record: Record, program: IRModule | PrimFunc, space: Callable[[Schedule], object]
) -> tuple[Schedule, dict[str, int]]:
    """The schedule of a program with the decisions of a record of another size, and these decisions as they became.

        decisions of 512^3: {"C.kc": 512}, space(sch) on 127^3, whose candidates are 32, 64, 127  ->  {"C.kc": 127}

    A value that is not a candidate becomes the nearest one, a decision that the record lacks its default. Raises what
    the space raises.
    """
    decider = Recording(Fixed(record.decisions))
    sch = Schedule(program, decider=decider)
    scheduled = space(sch)
    return scheduled if isinstance(scheduled, Schedule) else sch, decider.decisions
