"""The table of TVMScript operations and the MLIR ops they stand for, shared by the parser and the printer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScriptOperation:
    """A function of the `T` namespace, its Python operator, and its MLIR ops on floats and on integers.

    name: the function in the `T` namespace (`add`, `max`, `exp`).
    float_op, int_op: the MLIR op; None where the operation has no form on that kind of operand.
    symbol: the Python operator with the same meaning, "" if there is none.
    infix: the printer writes `a symbol b`; otherwise it writes `T.name(a, b)`.
    """

    name: str
    float_op: str | None
    int_op: str | None
    symbol: str = ""
    infix: bool = False

    @property
    def ops(self) -> tuple[str, ...]:
        """The MLIR ops of the row."""
        return tuple(dict.fromkeys(op for op in (self.float_op, self.int_op) if op))


BINARY = (
    ScriptOperation("add", "arith.addf", "arith.addi", "+", infix=True),
    ScriptOperation("subtract", "arith.subf", "arith.subi", "-", infix=True),
    ScriptOperation("multiply", "arith.mulf", "arith.muli", "*", infix=True),
    ScriptOperation("divide", "arith.divf", None, "/", infix=True),
    ScriptOperation("floordiv", None, "arith.floordivsi", "//", infix=True),
    ScriptOperation("max", "arith.maximumf", "arith.maxsi"),
    ScriptOperation("min", "arith.minimumf", "arith.minsi"),
    ScriptOperation("truncdiv", None, "arith.divsi"),
    ScriptOperation("truncmod", None, "arith.remsi"),
    ScriptOperation("ceildiv", None, "arith.ceildivsi"),
    ScriptOperation("shift_left", None, "arith.shli", "<<"),
    ScriptOperation("shift_right", None, "arith.shrsi", ">>"),
    ScriptOperation("bitwise_and", None, "arith.andi", "&"),
    ScriptOperation("bitwise_or", None, "arith.ori", "|"),
    ScriptOperation("bitwise_xor", None, "arith.xori", "^"),
)
"""Two operands of one type, a result of that type. `floormod` (`%`) is not one op: a - floordivsi(a, b) * b."""

FLOAT_FUNCTIONS = (
    *(
        ScriptOperation(name, f"math.{name}", None)
        for name in (
            "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt tanh tan sin cos atan asin acos sinh cosh asinh acosh "
            "atanh erf floor ceil trunc atan2 copysign fma"
        ).split()
    ),
    ScriptOperation("fmod", "arith.remf", None),
    ScriptOperation("round", "math.roundeven", None),
    ScriptOperation("round_half_away", "math.round", None),
    ScriptOperation("pow", "math.powf", None),
)
"""Operands and result of one float type."""

SYNONYMS = {"nearbyint": "round"}
"""Functions of the `T` namespace that print as another one."""

FLOAT_PREDICATES = tuple(ScriptOperation(name, f"math.{name}", None) for name in ("isnan", "isinf", "isfinite"))
"""One float operand, a bool result."""

INT_FUNCTIONS = (ScriptOperation("popcount", None, "math.ctpop"), ScriptOperation("clz", None, "math.ctlz"))
"""One integer operand, a result of its type."""

OTHER = (ScriptOperation("abs", "math.absf", "math.absi"), ScriptOperation("Select", "arith.select", "arith.select"))

OPERATIONS = (*BINARY, *FLOAT_FUNCTIONS, *FLOAT_PREDICATES, *INT_FUNCTIONS, *OTHER)

LOGICAL = {"and": "arith.andi", "or": "arith.ori"}
"""Python's operators on bools; on integers the same ops are `T.bitwise_and` and `T.bitwise_or`."""

COMPARISONS = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}
"""Functions of the `T` namespace that compare, and their Python operators."""

CMPI = {"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}
"""Predicates of `arith.cmpi` (signed)."""

CMPF = {"==": 1, ">": 2, ">=": 3, "<": 4, "<=": 5, "!=": 13}
"""Predicates of `arith.cmpf`: ordered, except `!=` (`une`), which is true of NaN as in Python."""

LOOPS = {"serial": "serial", "parallel": "parallel", "vectorized": "vectorized", "unroll": "unrolled"}
"""Functions of the `T` namespace that make a loop, and its `tir.kind`."""

AXES = {"spatial": "S", "reduce": "R", "opaque": "O", "scan": "O"}
"""Functions of `T.axis`, and the kind of iter in `tir.iters`. An ordered iter is printed as `T.axis.opaque`."""

ACCESS_MASKS = {1: "r", 2: "w", 3: "rw"}
"""The mask of `T.tvm_access_ptr`, and the mode of `A.access_ptr`."""

MATRIX_CALLS: dict[str, dict[str, str]] = {
    "tvm_load_matrix_sync": {"fragment": "w"},
    "tvm_store_matrix_sync": {"fragment": "r"},
    "tvm_fill_fragment": {"fragment": "w"},
    "tvm_mma_sync": {"d": "w", "a": "r", "b": "r", "c": "r"},
}
"""Matrix functions of GPUs, opaque calls: the access mode of each fragment that they take."""
