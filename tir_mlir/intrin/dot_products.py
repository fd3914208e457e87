"""Dot product intrinsics on adjacent integers: CPU instructions (VNNI, SDOT), with a generic fallback.

    C[j] += A[0] * B[j, 0] + ... + A[group - 1] * B[j, group - 1]      for the lanes j of a register

A is the same for all lanes. Products and sums are those of int32, exact for all values of A and B.
"""

from __future__ import annotations

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.intrin.kernels.dot_products import BY_NAME, INSTRUCTIONS, PLAIN, Dot
from tir_mlir.target import Target

_DESC = """
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({group},), "{dtype}")
    B = T.match_buffer(b, ({lanes}, {group}), "{dtype}")
    C = T.match_buffer(c, ({lanes},), "int32", scope="local")
    with T.block("root"):
        for j, k in T.grid({lanes}, {group}):
            with T.block("update"):
                vj, vk = T.axis.remap("SR", [j, k])
                C[vj] = C[vj] + T.Cast("int32", A[vk]) * T.Cast("int32", B[vj, vk])
"""

_CALL = """
@T.prim_func
def impl(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({group},), "{dtype}", strides=[1])
    B = T.match_buffer(b, ({lanes}, {group}), "{dtype}", strides=[{group}, 1])
    C = T.match_buffer(c, ({lanes},), "int32", strides=[1], scope="local")
    with T.block("root"):
        T.reads(C[0:{lanes}], A[0:{group}], B[0:{lanes}, 0:{group}])
        T.writes(C[0:{lanes}])
        T.call_extern("int32", "{name}", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r"))
"""


def dot_product(target: Target, dtype: str) -> Dot | None:
    """The best dot product of a target for int8 or int16; None for other types."""
    best = (d for d in INSTRUCTIONS if d.lanes == target.lanes(32) and target.has(*d.needs) and _holds(d.dtype, dtype))
    plain = PLAIN.get(target.lanes(32))
    return next(best, plain if plain and _holds(plain.dtype, dtype) else None)


def register(name: str) -> None:
    """Register the dot product intrinsic of this name, if there is one."""
    from tir_mlir.script.parser import parse

    dot = BY_NAME.get(name)
    if dot is not None:
        facts = {"lanes": dot.lanes, "group": dot.group, "dtype": dot.dtype, "name": name}
        TensorIntrin.register(name, parse(_DESC.format(**facts))["desc"], parse(_CALL.format(**facts))["impl"])


def _holds(wide: str, narrow: str) -> bool:
    return narrow in ("int8", "int16") and int(wide.removeprefix("int")) >= int(narrow.removeprefix("int"))
