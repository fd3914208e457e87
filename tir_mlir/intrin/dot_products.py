"""Dot product intrinsics on adjacent narrow numbers: CPU instructions (VNNI, BF16, SDOT), with a generic fallback.

    C[j] += A[0] * B[j, 0] + ... + A[group - 1] * B[j, group - 1]      for the lanes j of a register

the same with A[j, 0], ..., A[j, group - 1], and, where A is unsigned, sums of B alone. Products and sums of integers
are those of int32, exact for all values of A and B. Those of bfloat16 are added in float32 two at a time, and denormal
numbers count as 0 (Intel, Software Developer's Manual, VDPBF16PS); the descriptions, and so `verify` and the
interpreter, keep them.
"""

from __future__ import annotations

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.ir import dtypes
from tir_mlir.runtime.kernels.dot_products import BY_LANES_NAME, BY_NAME, BY_SUM_NAME, INSTRUCTIONS, PLAIN, Dot
from tir_mlir.target import Target

_DESC = """
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({group},), "{left}")
    B = T.match_buffer(b, ({lanes}, {group}), "{dtype}"{held})
    C = T.match_buffer(c, ({lanes},), "{sums}", scope="local")
    with T.block("root"):
        for j, k in T.grid({lanes}, {group}):
            with T.block("update"):
                vj, vk = T.axis.remap("SR", [j, k])
                C[vj] = C[vj] + T.Cast("{sums}", A[vk]) * T.Cast("{sums}", B[vj, vk])
"""

_CALL = """
@T.prim_func
def impl(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({group},), "{left}", strides=[1])
    B = T.match_buffer(b, ({lanes}, {group}), "{dtype}", strides=[{group}, 1]{held})
    C = T.match_buffer(c, ({lanes},), "{sums}", strides=[1], scope="local")
    with T.block("root"):
        T.reads(C[0:{lanes}], A[0:{group}], B[0:{lanes}, 0:{group}])
        T.writes(C[0:{lanes}])
        T.call_extern("int32", "{name}", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r"))
"""


_LANES_DESC = """
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({lanes}, {group}), "{left}", scope="local")
    B = T.match_buffer(b, ({lanes}, {group}), "{dtype}")
    C = T.match_buffer(c, ({lanes},), "{sums}", scope="local")
    with T.block("root"):
        for j, k in T.grid({lanes}, {group}):
            with T.block("update"):
                vj, vk = T.axis.remap("SR", [j, k])
                C[vj] = C[vj] + T.Cast("{sums}", A[vj, vk]) * T.Cast("{sums}", B[vj, vk])
"""

_LANES_CALL = """
@T.prim_func
def impl(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({lanes}, {group}), "{left}", strides=[{group}, 1], scope="local")
    B = T.match_buffer(b, ({lanes}, {group}), "{dtype}", strides=[{group}, 1])
    C = T.match_buffer(c, ({lanes},), "{sums}", strides=[1], scope="local")
    with T.block("root"):
        T.reads(C[0:{lanes}], A[0:{lanes}, 0:{group}], B[0:{lanes}, 0:{group}])
        T.writes(C[0:{lanes}])
        T.call_extern("int32", "{name}", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r"))
"""

_SUM_DESC = """
@T.prim_func
def desc(b: T.handle, c: T.handle):
    B = T.match_buffer(b, ({lanes}, {group}), "{dtype}")
    C = T.match_buffer(c, ({lanes},), "int32", scope="local")
    with T.block("root"):
        for j, k in T.grid({lanes}, {group}):
            with T.block("update"):
                vj, vk = T.axis.remap("SR", [j, k])
                C[vj] = C[vj] + T.Cast("int32", B[vj, vk])
"""

_SUM_CALL = """
@T.prim_func
def impl(b: T.handle, c: T.handle):
    B = T.match_buffer(b, ({lanes}, {group}), "{dtype}", strides=[{group}, 1])
    C = T.match_buffer(c, ({lanes},), "int32", strides=[1], scope="local")
    with T.block("root"):
        T.reads(C[0:{lanes}], B[0:{lanes}, 0:{group}])
        T.writes(C[0:{lanes}])
        T.call_extern("int32", "{name}", C.access_ptr("rw"), B.access_ptr("r"))
"""


def dot_product(
    target: Target, left: str, right: str = "", sums: str = "int32", unpacked: bool = False, widening: bool = False
) -> Dot | None:
    """The best dot product of a target for operands of 8 or 16 bits; None for other types.

    right: default the type of the left one. An operand narrower than those of the instruction is widened; `int8` may
    also be shifted to `uint8`, see `is_shifted`. unpacked: whether the right operand is unpacked in registers.
    widening: whether it may be stored narrower than the left one, and be widened in registers.
    """
    right = right or left
    fitting = [
        dot
        for dot in INSTRUCTIONS
        if dot.lanes == target.lanes(32) and dot.sums == sums and target.has(*dot.needs)
        and dot.unpacked == unpacked and (widening or dot.widening is None)
        and not target.features.intersection(dot.slow) and _takes(dot, left, right)
    ]  # fmt: skip
    if fitting:  # the first of those with the largest group, without a shift if there is one
        return min(fitting, key=lambda dot: (-dot.group, is_shifted(dot, left)))
    plain = None if unpacked else PLAIN.get(target.lanes(32))
    return plain if plain and plain.sums == sums and _takes(plain, left, right) else None


def dot_of_lanes(target: Target, left: str, right: str) -> Dot | None:
    """The best dot product of a target of which both operands have elements for each lane, `lanes_name`; None for other
    types, and without an instruction."""
    dot = dot_product(target, left, right)
    return dot if dot and dot.lanes_name in BY_LANES_NAME and dot.group > 1 else None


def is_shifted(dot: Dot, left: str) -> bool:
    """Whether the left operand must be read with the other sign for an instruction: `Schedule.shift_operand`."""
    return dot.left_dtype == f"u{left}" or left == f"u{dot.left_dtype}"


def register(name: str) -> None:
    """Register the dot product intrinsic of this name, if there is one."""
    from tir_mlir.script.parser import parse

    kinds = ((BY_NAME, _DESC, _CALL), (BY_LANES_NAME, _LANES_DESC, _LANES_CALL), (BY_SUM_NAME, _SUM_DESC, _SUM_CALL))
    for dots, desc, call in kinds:
        dot = dots.get(name)
        if dot is None:
            continue
        facts = {
            "lanes": dot.lanes,
            "group": dot.group,
            "left": dot.left_dtype,
            "dtype": dot.dtype,
            "name": name,
            "sums": dot.sums,
            "held": ', scope="local"' if dot.unpacked else "",
        }
        TensorIntrin.register(name, parse(desc.format(**facts))["desc"], parse(call.format(**facts))["impl"])


def _takes(dot: Dot, left: str, right: str) -> bool:
    """Whether the operands of an instruction represent those of a product, the left one perhaps shifted."""
    return _holds(dot.dtype, right) and (is_shifted(dot, left) or _holds(dot.left_dtype, left))


def _holds(wide: str, narrow: str) -> bool:
    """Whether operands of an instruction represent every value of a type of the same kind: a cast that costs little."""
    same = dtypes.is_float(wide) == dtypes.is_float(narrow) and narrow != "bool"
    return same and dtypes.represents(wide, narrow)
