"""Code for registers of variable length (SVE, RISC-V's vectors): the least length that it is generated for."""

from __future__ import annotations

from mlir import ir


def promise(lowered: ir.Module, vscale: tuple[int, int] | None) -> None:
    """Set the range of `vscale` on every function of a module in the llvm dialect: LLVM keeps fixed vectors of the
    least length in scalable registers. None, for CPUs whose registers are fixed, changes nothing."""
    if vscale is None:
        return
    limits = ir.Attribute.parse("#llvm.vscale_range<minRange = {} : i32, maxRange = {} : i32>".format(*vscale))
    for op in lowered.body.operations:
        if op.operation.name == "llvm.func" and len(op.operation.regions[0].blocks):
            op.attributes["vscale_range"] = limits
