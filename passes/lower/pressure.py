"""Whether what a loop keeps in registers fits into those of the CPU."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import ceil

from mlir import ir

from tir_mlir.dialect import attrs, walk
from tir_mlir.dialect.views import Loop, is_loop
from tir_mlir.passes.lower.registry import LoweringWarning, place

REGISTERS = "tir.registers"
"""On the module while it is lowered: bits of a vector register, how many there are."""
OPERANDS = 2
"""Registers that an update needs beside its sums: what it adds."""


def check(loop: Loop, carried: Sequence[ir.Type]) -> None:
    """Warn where an innermost loop carries more than there are registers: LLVM then keeps some in memory."""
    module = walk.parents(loop.op)[-1].parent
    known = None if module is None else attrs.get(module, REGISTERS)
    if known is None or any(is_loop(o) for o in walk.ops(loop.op)[1:]):
        return
    bits, count = known
    needed = sum(_registers(type_, bits) for type_ in carried)
    if needed + OPERANDS > count:
        warnings.warn(
            f"{place(loop.op)}: loop {loop.name} keeps {needed} registers of sums and needs {OPERANDS} more for what it"
            f" adds, this CPU has {count} of {bits} bits: some sums will be in memory; make the tile smaller (unroll or"
            " vectorize less of it)",
            LoweringWarning,
            stacklevel=2,
        )


def _registers(type_: ir.Type, bits: int) -> int:
    """Vector registers that a value takes; an integer alone takes another kind."""
    if isinstance(type_, ir.VectorType):
        width = ir.IntegerType(type_.element_type).width if isinstance(type_.element_type, ir.IntegerType) else 0
        width = width or ir.FloatType(type_.element_type).width
        return ceil(type_.shape[0] * width / bits)
    return 1 if isinstance(type_, ir.FloatType) else 0
