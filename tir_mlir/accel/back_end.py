"""The back end of machines: a scheduled program becomes instructions with addresses, for a model of the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from tir_mlir.accel.addresses import Placement, place_buffers
from tir_mlir.accel.c_source import print_c
from tir_mlir.accel.configuration import configure
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.program import MachineProgram, read_program
from tir_mlir.accel.simulate import Simulator, Timeline
from tir_mlir.runtime.call.signature import CallSignature, positional_arguments
from tir_mlir.runtime.drivers.compiled_code import CompiledCode
from tir_mlir.runtime.drivers.exporting import check_suffix
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.tools import files
from tir_mlir.targets import BackEnd, Compilation, Stage, register_kind

PROGRAMS = "programs"
"""The value that is the program of each function, with its addresses."""


@dataclass(frozen=True)
class PlacedProgram:
    """A program whose buffers have addresses, and which sets the registers that it needs."""

    program: MachineProgram
    addresses: Placement

    @property
    def source(self) -> str:
        """Its C."""
        return print_c(self.program, self.addresses.rows)


def stages(compilation: Compilation) -> list[Stage]:
    return [Stage("lower", _lower, PROGRAMS)]


def _lower(compilation: Compilation) -> dict[str, PlacedProgram]:
    machine = cast(Machine, compilation.options.target)
    placed = {}
    for name in compilation.names:
        program = configure(read_program(compilation.program, machine, name))
        placed[name] = PlacedProgram(program, place_buffers(program))
    return placed


class MachineFunction:
    """A function of a library for a machine: a call runs it on the model of the machine. Errors: MachineError."""

    def __init__(self, signature: CallSignature, placed: PlacedProgram):
        self.signature, self.name, self.placed = signature, signature.name, placed

    def __call__(self, *args: object, **named: object) -> None:
        self.simulate(*map(np.asarray, positional_arguments(self.signature, args, named)))

    def simulate(self, *arrays: np.ndarray[Any, Any]) -> Timeline:
        """Run it on arrays, as a call, and return when its units were busy."""
        return Simulator(self.placed.program, self.placed.addresses.rows).run(arrays)

    @cached_property
    def timeline(self) -> Timeline:
        """When its units are busy; no value is computed."""
        program = self.placed.program
        arrays = [np.zeros(p.shape, p.dtype) for p in program.params]
        return Simulator(program, self.placed.addresses.rows, computes=False).run(arrays)

    @property
    def cycles(self) -> int:
        """The cycles that it takes on the model of the machine."""
        return self.timeline.cycles

    @property
    def addresses(self) -> Placement:
        """Where its buffers are in the memories of the machine."""
        return self.placed.addresses

    @property
    def source(self) -> str:
        """Its C."""
        return self.placed.source

    def __repr__(self) -> str:
        return f"{self.name}{self.signature}"


class MachineCode(CompiledCode):
    """The code of a library for a machine: C."""

    def __init__(self, programs: Mapping[str, PlacedProgram]):
        self.programs = programs

    def source(self) -> str:
        return "\n".join(p.source for p in self.programs.values())

    def assembly(self) -> str:
        return self.source()

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write the C source, see `Library.export`."""
        check_suffix(path, name, ".c", "a machine")
        files.write_whole({path: self.source().encode()})
        return [path]


def load(compilation: Compilation) -> Library:
    programs: dict[str, PlacedProgram] = compilation.values[PROGRAMS]
    code = MachineCode(programs)
    functions = {s.name: MachineFunction(s, programs[s.name]) for s in compilation.signatures}
    return Library(
        compilation.source,
        lambda: compilation.program,
        code,
        functions,
        compilation.timing,
        code,
        compilation.origin,
        code.source,
    )


BACK_END = BackEnd(stages=stages, load=load)
register_kind(Machine.kind, BACK_END)
