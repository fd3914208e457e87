"""`interpret(..., target="cuda")`: build a program for a GPU, and run its kernels on the PTX machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.ptx.program import ProgramReport, run
from tir_mlir.runtime.call.arrays import Packer
from tir_mlir.runtime.call.signature import CallSignature
from tir_mlir.target import ptx_target

if TYPE_CHECKING:
    from tir_mlir.target import AnyTarget


def run_kernels(
    module: ir.Module, signature: CallSignature, args: Sequence[object], target: str | AnyTarget, **refused: object
) -> ProgramReport:
    """Run a function of a module on arrays in main memory, which get the results.

    refused: the options of `interpret` that only the interpreter in Python has, with their values. Raises
    ArgumentError, LoweringError, and PtxError for what the machine finds; the arrays are then unchanged.
    """
    for option, value in refused.items():
        if value:
            raise ArgumentError(f"{option} is for the interpreter in Python; fix: leave it out, or leave out target")
    gpu = ptx_target(target)
    if gpu is None:
        raise ArgumentError(
            f'target is a GPU, "cuda" or CUDA("sm_80"), not {short_repr(target)}; fix: without target, programs are '
            "interpreted as on a CPU"
        )
    packed = Packer(signature).pack(args)
    arrays = list(args)
    for slot, array in zip(packed.plan, packed.arrays, strict=True):
        arrays[slot.index] = array
    function = build(module, target=gpu)[signature.name]
    return run(function, arrays)
