"""The words of TVMScript that parser and printer share (scalar ones are records of `dialect.ops`), and refused ones."""

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
    "ptx_ldmatrix": {"fragment": "w"},
    "ptx_mma": {"d": "w", "a": "r", "b": "r", "c": "r"},
}
"""Matrix functions of GPUs, opaque calls: the access mode of each fragment that they take."""


# What a program cannot say: names of TVM's `T` namespace and statements of Python, and what to write instead.


_LOWERED = "it is only used after lowering; write loops and blocks"
_INSTRUCTIONS = "T.call_llvm_pure_intrin calls an intrinsic of LLVM on values"

REFUSED = {
    **dict.fromkeys(("allocate", "allocate_const", "buffer_store", "attr", "realize", "tvm_storage_sync"), _LOWERED),
    "env_thread": 'write tx = T.launch_thread("threadIdx.x", n), or a loop over T.thread_binding(n, "threadIdx.x")',
    **dict.fromkeys(("call_packed", "call_cpacked", "tvm_call_packed"), "call a C function by T.call_extern"),
    **dict.fromkeys(("call_intrin", "call_llvm_intrin"), _INSTRUCTIONS),
    "undef": "omit the store instead",
    "complex64": "store real and imaginary parts in two float32 buffers",
    "complex128": "store real and imaginary parts in two float64 buffers",
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3", "e4m3_float8", "e5m2_float8"), "use float16"),
    **dict.fromkeys(("int4", "uint4"), "pack two values into an int8, and shift"),
    **dict.fromkeys(("uint1", "int1"), "use bool"),
}
"""Name -> what to write instead. The page of the `T` namespace shows it as a table."""

REFUSED_STATEMENTS = {
    "Return": "a prim_func cannot return a value: store the result to a buffer parameter",
    "Try": "try is not supported",
    "FunctionDef": "a function cannot be defined inside a prim_func",
    "ClassDef": "a class cannot be defined inside a prim_func",
    "Import": "import outside the prim_func",
    "ImportFrom": "import outside the prim_func",
    "Break": "break is not supported: loops run to their end",
    "Continue": "continue is not supported: guard the skipped statements with if",
    "Assert": "assert is not supported",
    "Raise": "raise is not supported",
    "Delete": "del is not supported",
    "Global": "global is not supported",
    "Nonlocal": "nonlocal is not supported",
}
"""Statement of Python, by the name of its AST class -> why a program has none."""
