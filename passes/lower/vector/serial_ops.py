"""Why an op has no vector form, in the user's words."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis.certainty import from_data
from tir_mlir.dialect.ir import Buffer, data_loop_name, is_data_loop
from tir_mlir.dialect.ir.op_traits import ALLOCS, DIVISIONS, ELEMENT_ACCESSES, accessed

_ELSEWHERE = "vectorize a loop that does not contain it"


def serial_reason(op: ir.Operation) -> tuple[str, str]:
    """Why a loop around an op is serial, and the way out. Requires an op without a vector form."""
    if is_vector(op):
        return "its accesses are vectors already, and vectors have one dimension", "leave the loop serial, or unroll it"
    if op.name == "memref.store":
        where = "a loaded index" if from_data(op) else "an index that is not affine"
        return f"a store at {where} has no vector form", "vectorize a loop along a row"
    return f"{op_words(op)} has no vector form", _ELSEWHERE


def is_vector(op: ir.Operation) -> bool:
    """Whether an op takes or makes a vector value."""
    return any(isinstance(v.type, ir.VectorType) for v in (*op.operands, *op.results))


def op_words(op: ir.Operation) -> str:
    """An op as a user calls it: `a call of foo`, `the view a`, `loop k, whose bounds are data`."""
    name = op.name
    if name == "func.call":
        return f"a call of {op.attributes['callee']}"
    if name == "llvm.call_intrinsic":
        return f"a call of {ir.StringAttr(op.attributes['intrin']).value}"
    if is_data_loop(op):
        words = data_loop_name(op)
        return f"{words}," if ", " in words else words
    if name in ALLOCS:
        return f"the buffer {Buffer(op.results[0]).name}, allocated in each iteration,"
    if name == "memref.subview":
        return f"the view {Buffer(op.results[0]).name}"
    if name.startswith("memref.extract_") or name == "llvm.inttoptr":
        return "a pointer passed to a function"
    if name in ELEMENT_ACCESSES:
        return f"an access of {Buffer(accessed(op)).name}"
    return "a division of integers" if name in DIVISIONS else f"the operation {name}"
