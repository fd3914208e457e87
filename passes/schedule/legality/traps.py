"""Operations that may fail, or access memory out of bounds, on other values than those the program computes."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Block, ops
from tir_mlir.dialect.ir.op_traits import COMPUTED_ACCESSES, DIVISIONS

TRAPS = DIVISIONS | {"func.call", "llvm.intr.assume"}
_OR_GATHERS = TRAPS | COMPUTED_ACCESSES  # at indices that are not affine, thus may be data


def trapping_op(block: Block, gathers: bool = False) -> ir.Operation | None:
    """The first op of a block that may trap on unexpected values; with `gathers`, also accesses at loaded indices."""
    names = _OR_GATHERS if gathers else TRAPS
    return next((op for op in ops(block.op) if op.name in names), None)
