"""The table of instructions: name -> how it is compiled for the machine, and what it may be followed by."""

from tir_mlir.ptx.instructions.async_copies import ASYNC_COPY_ROWS
from tir_mlir.ptx.instructions.barriers import BARRIERS
from tir_mlir.ptx.instructions.control import CONTROL
from tir_mlir.ptx.instructions.conversions import CONVERSION_ROWS
from tir_mlir.ptx.instructions.integers import INTEGER_ROWS
from tir_mlir.ptx.instructions.loads import ATOMIC_ROWS, LOAD_ROWS
from tir_mlir.ptx.instructions.matrices import MATRIX_ROWS
from tir_mlir.ptx.instructions.mbarriers import MBARRIER_ROWS
from tir_mlir.ptx.instructions.numbers import ACCURACY, NUMBER_ROWS
from tir_mlir.ptx.instructions.predicates import PREDICATE_ROWS
from tir_mlir.ptx.instructions.rows import InstructionRow
from tir_mlir.ptx.instructions.warpgroups import WARPGROUP_ROWS
from tir_mlir.ptx.instructions.warps import WARP_ROWS
from tir_mlir.ptx.instructions.wmma import WMMA_ROWS
from tir_mlir.ptx.parser import PtxInstruction

ROWS: dict[str, InstructionRow] = {
    **INTEGER_ROWS, **NUMBER_ROWS, **PREDICATE_ROWS, **CONVERSION_ROWS, **LOAD_ROWS, **CONTROL, **BARRIERS, **WARP_ROWS,
    **ATOMIC_ROWS, **MATRIX_ROWS, **WARPGROUP_ROWS, **MBARRIER_ROWS, **WMMA_ROWS, **ASYNC_COPY_ROWS,
}  # fmt: skip

_PURE = frozenset([*INTEGER_ROWS, *NUMBER_ROWS, *PREDICATE_ROWS, "mov", "cvt"])


def is_pure(ins: PtxInstruction) -> bool:
    """Whether an instruction only computes its first operand from the others."""
    return ins.parts[0] in _PURE and "cc" not in ins.parts and ins.parts[0] not in ("addc", "subc")


__all__ = ["ACCURACY", "ROWS", "InstructionRow", "is_pure"]
