"""Matrix product intrinsics of 64-bit ARM, two rows by two rows: i8mm (`smmla`) and bf16 (`bfmmla`).

    C[i, j] += A[i, 0] * B[j, 0] + ... + A[i, group - 1] * B[j, group - 1]      for i, j < 2

The rows of A, those of B, and those of C are adjacent. Integers are exact. `bfmmla` rounds to odd after each two
terms and takes denormals as zero, unless the CPU has FEAT_EBF16: its sums differ from the description's in the last
bits.
"""

from __future__ import annotations

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.runtime.kernels.matrix_products import MATRIX_PRODUCTS, MatrixProduct
from tir_mlir.target import Target

_DESC = """
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (2, {group}), "{left}")
    B = T.match_buffer(b, (2, {group}), "{right}")
    C = T.match_buffer(c, (2, 2), "{sums}", scope="local")
    with T.block("root"):
        for i, j, k in T.grid(2, 2, {group}):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + T.Cast("{sums}", A[vi, vk]) * T.Cast("{sums}", B[vj, vk])
"""

_CALL = """
@T.prim_func
def impl(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (2, {group}), "{left}", strides=[{group}, 1])
    B = T.match_buffer(b, (2, {group}), "{right}", strides=[{group}, 1])
    C = T.match_buffer(c, (2, 2), "{sums}", strides=[2, 1], scope="local")
    with T.block("root"):
        T.reads(C[0:2, 0:2], A[0:2, 0:{group}], B[0:2, 0:{group}])
        T.writes(C[0:2, 0:2])
        T.call_extern("int32", "{name}", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r"))
"""


def matrix_product(target: Target, left: str, right: str, sums: str) -> MatrixProduct | None:
    """The matrix product of a target for operands of these types as they are; None without one."""
    types = (left, right, sums)
    found = (one for one in MATRIX_PRODUCTS.values() if (one.left_dtype, one.dtype, one.sums) == types)
    return next((one for one in found if target.has(*one.needs)), None)


def register(name: str) -> None:
    """Register the matrix product intrinsic of this name, if there is one."""
    from tir_mlir.script.parser import parse

    product = MATRIX_PRODUCTS.get(name)
    if product is not None:
        facts = {
            "group": product.group,
            "left": product.left_dtype,
            "right": product.dtype,
            "sums": product.sums,
            "name": name,
        }
        TensorIntrin.register(name, parse(_DESC.format(**facts))["desc"], parse(_CALL.format(**facts))["impl"])
