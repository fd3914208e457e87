"""`interpret(..., machine=m)`: a program runs on the model of an accelerator, instruction by instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr

if TYPE_CHECKING:
    from mlir import ir

    from tir_mlir.interpreter.codegen import Breakpoint
    from tir_mlir.runtime.call.signature import CallSignature

Reported = TypeVar("Reported", covariant=True)


@runtime_checkable
class MachineModel(Protocol[Reported]):
    """An accelerator that runs programs on a model of itself: `accel.Machine`."""

    def interpret(
        self,
        module: ir.Module,
        signature: CallSignature,
        arrays: Sequence[object],
        breakpoints: Mapping[str, Breakpoint],
    ) -> Reported:
        """Run a function of a module on arrays, which get the results. Errors: ArgumentError, LoweringError,
        MachineError."""
        ...


def run_instructions(
    machine: MachineModel[Reported],
    module: ir.Module,
    signature: CallSignature,
    arrays: Sequence[object],
    breakpoints: Mapping[str, Breakpoint] | Sequence[str],
    refused: Mapping[str, object],
) -> Reported:
    """Run a function of a module on a machine.

    refused: the options of `interpret` that a machine has not, with their values. Errors: as of
    `MachineModel.interpret`.
    """
    for option, value in refused.items():
        if value:
            raise ArgumentError(f"{option} is not for a machine; fix: leave it out, or leave out machine")
    if not isinstance(machine, MachineModel):
        raise ArgumentError(f"machine is an accel.Machine, not {short_repr(machine)}")
    stops = breakpoints if isinstance(breakpoints, Mapping) else dict.fromkeys(breakpoints, True)
    return machine.interpret(module, signature, arrays, stops)
