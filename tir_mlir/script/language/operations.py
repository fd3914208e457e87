"""The words of TVMScript that the parser and the printer share; the scalar ones are records of `dialect.ops`."""

from __future__ import annotations

from tir_mlir.dialect.ops import SCALAR_FUNCTIONS, ScalarFunction
from tir_mlir.dialect.ops.functions import FLOAT_FUNCTIONS, FLOAT_PREDICATES, INT_FUNCTIONS
from tir_mlir.dialect.ops.operators import BINARY
from tir_mlir.dialect.ops.operators import COMPARISONS as _COMPARISONS

__all__ = ["BINARY", "FLOAT_FUNCTIONS", "FLOAT_PREDICATES", "INT_FUNCTIONS"]

OPERATIONS: tuple[ScalarFunction, ...] = tuple(one for one in SCALAR_FUNCTIONS.values() if one.ops and not one.synonym)
"""What the printer writes for an op, one function for each."""

LOGICAL = {"and": "arith.andi", "or": "arith.ori"}
"""Python's operators on bools; on integers the same ops are `T.bitwise_and` and `T.bitwise_or`."""

COMPARISONS = {one.name: one.symbol for one in _COMPARISONS}
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
