"""An intrinsic that adds one to four numbers at a multiple of four."""

from tir_mlir import TensorIntrin
from tir_mlir.script import tir as T


@T.prim_func
def desc(a: T.handle, b: T.handle) -> None:
    A = T.match_buffer(a, (4,), "float32", offset_factor=4)
    B = T.match_buffer(b, (4,), "float32", offset_factor=4)
    with T.block("root"):
        T.reads(A[0:4])
        T.writes(B[0:4])
        for i in range(4):
            with T.block("add"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] + T.float32(1)


@T.prim_func
def impl(a: T.handle, b: T.handle) -> None:
    A = T.match_buffer(a, (4,), "float32", offset_factor=4)
    B = T.match_buffer(b, (4,), "float32", offset_factor=4)
    with T.block("root"):
        T.reads(A[0:4])
        T.writes(B[0:4])
        T.evaluate(T.call_extern("int32", "add4_kernel", A.access_ptr("r"), B.access_ptr("w")))


TensorIntrin.register("add4_aligned", desc, impl)
