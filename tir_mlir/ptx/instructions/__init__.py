"""The table of instructions: name -> how it is compiled for the machine, and what it may be followed by."""

from tir_mlir.ptx.instructions.barriers import BARRIERS
from tir_mlir.ptx.instructions.control import CONTROL
from tir_mlir.ptx.instructions.conversions import CONVERSION_ROWS
from tir_mlir.ptx.instructions.integers import INTEGER_ROWS
from tir_mlir.ptx.instructions.loads import LOAD_ROWS
from tir_mlir.ptx.instructions.numbers import ACCURACY, NUMBER_ROWS
from tir_mlir.ptx.instructions.predicates import PREDICATE_ROWS
from tir_mlir.ptx.instructions.rows import Row
from tir_mlir.ptx.instructions.warps import WARP_ROWS

ROWS: dict[str, Row] = {
    **INTEGER_ROWS, **NUMBER_ROWS, **PREDICATE_ROWS, **CONVERSION_ROWS, **LOAD_ROWS, **CONTROL, **BARRIERS, **WARP_ROWS,
}  # fmt: skip

__all__ = ["ACCURACY", "ROWS", "Row"]
