"""The back end of machines: a scheduled program becomes instructions with addresses, for a model of the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from mlir import ir

from tir_mlir.accel.addresses import PlacedProgram, check_clears, place_buffers
from tir_mlir.accel.c_source import print_c
from tir_mlir.accel.configuration import configure
from tir_mlir.accel.cores import check_cores
from tir_mlir.accel.firmware import model_of_functions, write_firmware
from tir_mlir.accel.immediate_rows import unroll_immediate_rows
from tir_mlir.accel.limits import check_limits
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.memory_chart import MemoryChart
from tir_mlir.accel.program import TO_LOOPS, MachineProgram, read_program
from tir_mlir.accel.simulate import Simulator
from tir_mlir.accel.substitution import at_sizes
from tir_mlir.accel.timing import Timeline, measure
from tir_mlir.accel.timing.clocks import UnitClocks, is_ordered_by_hardware
from tir_mlir.accel.timing.faults import first_fault
from tir_mlir.accel.timing.races import check_order
from tir_mlir.accel.timing.roofline import Roofline
from tir_mlir.accel.timing.stream import Stream, read_stream
from tir_mlir.accel.timing.synchronize import synchronize
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import BuildError, MachineError
from tir_mlir.runtime.call.arrays import Packer
from tir_mlir.runtime.call.signature import CallSignature, positional_arguments
from tir_mlir.runtime.drivers.c_entry import identifier
from tir_mlir.runtime.drivers.compiled_code import CompiledCode
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.tools import files
from tir_mlir.targets import BackEnd, Compilation, Passes, Stage, register_kind

if TYPE_CHECKING:
    from tir_mlir.accel.checks.verify_program import ProgramProof

LOOPS = "loops"
"""The value that is the module of loops around instructions."""
_KEPT = 32
"""Sizes for which a function is kept at most."""
PROGRAMS = "programs"
"""The value that is the program of each function, with its addresses."""


def stages(compilation: Compilation) -> list[Stage]:
    return [
        Stage("lower", Passes(lambda _: TO_LOOPS), LOOPS),
        Stage("lower", _place, PROGRAMS),
    ]


def _place(compilation: Compilation) -> dict[str, PlacedProgram]:
    machine = cast(Machine, compilation.options.target)
    placed: dict[str, PlacedProgram] = {}
    for name in compilation.names:
        program = _scheduled_program(compilation.values[LOOPS], machine, name)
        placed[name] = synchronize(check_clears(place_buffers(check_limits(configure(program)))))
    return placed


def _scheduled_program(loops: ir.Module, machine: Machine, name: str) -> MachineProgram:
    """The program of a schedule, without registers, waits and addresses."""
    return unroll_immediate_rows(check_cores(read_program(loops, machine, name)))


class MachineFunction:
    """A function of a library for a machine: a call runs it on the model of the machine. Errors: MachineError."""

    def __init__(self, signature: CallSignature, placed: PlacedProgram, scheduled: Callable[[], MachineProgram]):
        self.signature, self.name, self.placed, self._scheduled = signature, signature.name, placed, scheduled
        self._at: dict[tuple[int, ...], MachineFunction] = {}
        """What it is with numbers for its sizes."""

    def change_programs(self, change: Callable[[MachineProgram], MachineProgram]) -> MachineFunction:
        """The function with other programs of the same buffers: with its addresses, and as it was scheduled."""
        placed = replace(self.placed, program=change(self.placed.program))
        return MachineFunction(self.signature, placed, lambda: change(self._scheduled()))

    def __call__(self, *args: object, **named: object) -> None:
        self.simulate(*map(np.asarray, positional_arguments(self.signature, args, named)))

    def at_sizes(self, **sizes: int) -> MachineFunction:
        """The function with numbers for the sizes that a call decides: `lib.main.at_sizes(m=100).cycles`. Errors:
        MachineError for sizes that it does not have, or of which one is missing."""
        wanted = self.placed.program.sizes
        if {*wanted} != {*sizes} or any(n < 0 for n in sizes.values()):
            given = ", ".join(f"{name}={n}" for name, n in sizes.items())
            raise MachineError(f"sizes of {self.name} are {', '.join(wanted) or 'numbers'}, at least 0; not {given}")
        numbers = tuple(sizes[name] for name in wanted)
        if not wanted:
            return self
        if numbers not in self._at:
            found = self.change_programs(lambda program: at_sizes(program, sizes))
            self._at = {**dict(list(self._at.items())[-_KEPT:]), numbers: found}
        return self._at[numbers]

    def for_arrays(self, arrays: Sequence[object]) -> MachineFunction:
        """The function with the sizes of arrays. Errors: ArgumentError."""
        sizes = self.placed.program.sizes
        if not sizes:
            return self
        found = Packer(self.signature).sizes(arrays)
        return self.at_sizes(**{name: found[name] for name in sizes})

    def simulate(self, *arrays: np.ndarray[Any, Any]) -> Timeline:
        """Run it on arrays, as a call, and return when its units were busy."""
        function = self.for_arrays(arrays)
        Simulator(function.checked_stream, function.placed.rows).run(arrays)
        return function.timeline

    @cached_property
    def checked_stream(self) -> Stream:
        """The instructions of a run. Errors: MachineError for the first one that is wrong, with its loops and line."""
        stream = read_stream(self.placed.program)
        if not is_ordered_by_hardware(self.placed.program.machine):
            check_order(UnitClocks(stream, self.placed.rows))
        if (fault := first_fault(stream, self.placed.rows)) is not None:
            raise MachineError(fault)
        return stream

    def verify(self) -> ProgramProof:
        """Prove that the program with its addresses and registers does what its schedule does: each instruction of a
        run has the operands of the schedule, inside of their buffers, each row that it reads was written last for the
        same buffer, registers have the values it needs, and waits and tokens order what hardware does not.
        `Schedule.verify` proves the schedule. The result is true if so; else its text names instruction, row, loops and
        line, and what wrote or set the wrong value."""
        from tir_mlir.accel.checks.verify_program import verify_program

        return verify_program(self.placed, self._scheduled())

    @cached_property
    def timeline(self) -> Timeline:
        """When its units are busy; no value is computed."""
        return measure(self.placed.program, self.placed.rows)

    @property
    def cycles(self) -> int:
        """The cycles that it takes on the model of the machine."""
        return self.timeline.cycles

    @property
    def roofline(self) -> Roofline:
        """What limits it: the cycles for which each part of the machine is busy at least."""
        return self.timeline.roofline

    def show_memory(self) -> MemoryChart:
        """Which rows its buffers have, and when: text, and a picture by `.plot()`."""
        return MemoryChart(self.placed)

    @property
    def addresses(self) -> PlacedProgram:
        """Where its buffers are in the memories of the machine."""
        return self.placed

    @property
    def source(self) -> str:
        """Its C."""
        return print_c(self.placed.program.machine.header, {self.name: self.placed})

    def __repr__(self) -> str:
        return str(self.signature)


def show_memory(program: object, machine: Machine) -> MemoryChart:
    """Which rows of a machine's memories the buffers of a program have, and when: text, and a picture by `.plot()`.

    program: a schedule, a function, or a module of one function. Errors: those of `build`.
    """
    library = build(program, target=machine)
    functions = [f for f in library.values() if isinstance(f, MachineFunction)]
    if len(functions) > 1:
        raise ValueError(f"the program has {len(functions)} functions; show_memory is for one: lib[name].show_memory()")
    return functions[0].show_memory()


class MachineCode(CompiledCode):
    """The code of a library for a machine: C."""

    def __init__(self, programs: Mapping[str, PlacedProgram]):
        self.programs = programs

    def source(self) -> str:
        return self._named_source({name: name for name in self.programs})

    def _named_source(self, names: Mapping[str, str]) -> str:
        header = next(iter(self.programs.values())).program.machine.header
        return print_c(header, {names[f]: placed for f, placed in self.programs.items()})

    def assembly(self) -> str:
        return self.source()

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write the C source, see `Library.export`: a function called main has the name of the file, or this one."""
        if path.suffix != ".c":
            raise BuildError(f"{path.name}: the library of a machine is written as C; fix: a name that ends in .c")
        if name is not None and len(self.programs) > 1:
            raise BuildError(f"this library has {len(self.programs)} functions; name= is for one")
        names = self._names(name or path.stem, name)
        files.write_whole({path: self._named_source(names).encode()})
        return [path]

    def write_bare_metal(self, folder: Path, name: str | None, constants: Mapping[str, object]) -> list[Path]:
        """Write firmware to a folder, see `Library.export`."""
        for placed in self.programs.values():
            if sizes := placed.program.sizes:
                raise BuildError(
                    f"{placed.program.name} has sizes that a call decides, {', '.join(sizes)}; firmware has arrays for "
                    'its arguments; fix: a program for each size, or the C of the function alone, export("name.c")'
                )
        name = name or identifier(folder.resolve().name)
        names = self._names(name)
        functions = {names[f]: placed for f, placed in self.programs.items()}
        return write_firmware(folder, model_of_functions(name, functions, constants), functions)

    def _names(self, of_main: str, of_only: str | None = None) -> dict[str, str]:
        """The names of the functions in C."""
        names = {f: of_only or (of_main if f == "main" else f) for f in self.programs}
        if wrong := [n for n in names.values() if identifier(n).rstrip("_") != n.rstrip("_")]:
            raise BuildError(f"{wrong[0]!r} is not the name of a function of C; fix: name=")
        return names


def load(compilation: Compilation) -> Library:
    programs: dict[str, PlacedProgram] = compilation.values[PROGRAMS]
    code = MachineCode(programs)
    loops, machine = compilation.values[LOOPS], cast(Machine, compilation.options.target)
    functions = {
        s.name: MachineFunction(s, programs[s.name], partial(_scheduled_program, loops, machine, s.name))
        for s in compilation.signatures
    }
    return Library(
        compilation.source,
        lambda: compilation.values[LOOPS],
        code,
        functions,
        compilation.timing,
        code,
        compilation.origin,
        code.source,
    )


BACK_END = BackEnd(stages=stages, load=load)
register_kind(Machine.kind, BACK_END)
