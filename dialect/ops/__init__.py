"""One record for each op: what the language, the passes, the interpreter, the checks and the printers know of it.

`functions` and `operators` have the scalar operations, `memory` the other ops of MLIR that programs consist of,
`lowering` those that programs are read from and lowered to. The records are plain data: they import nothing of the
project, and no MLIR.
"""

from tir_mlir.dialect.ops import functions, lowering, memory, operators
from tir_mlir.dialect.ops.record import MlirOp, ScalarFunction, Trait

__all__ = ["MLIR_OPS", "SCALAR_FUNCTIONS", "MlirOp", "ScalarFunction", "Trait"]

SCALAR_FUNCTIONS: dict[str, ScalarFunction] = {
    one.name: one
    for group in (
        functions.FLOAT_FUNCTIONS,
        functions.FLOAT_PREDICATES,
        functions.INT_FUNCTIONS,
        functions.COMPOSED,
        functions.OTHERS,
        operators.BINARY,
        (operators.FLOORMOD, operators.SELECT),
        operators.COMPARISONS,
        operators.LOGIC,
    )
    for one in group
}
"""The functions and operators of `T`, by name."""

MLIR_OPS: dict[str, MlirOp] = {
    op.name: op
    for op in (
        *memory.OPS,
        *lowering.OPS,
        *(op for one in SCALAR_FUNCTIONS.values() for op in (one.on_floats, one.on_integers) if op),
        *functions.MLIR_ONLY,
        *operators.MLIR_ONLY,
    )
}
"""The ops of MLIR, by name."""
