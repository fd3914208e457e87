from golden.programs import matmul

from tir_mlir import Schedule, TensorIntrin
from tir_mlir.script import tir as T


@T.prim_func
def mm_desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float16", offset_factor=1)
    B = T.match_buffer(b, (16, 16), "float16", offset_factor=1)
    C = T.match_buffer(c, (16, 16), "float32", offset_factor=1)
    for i, j, k in T.grid(16, 16, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "float32") * T.cast(B[vk, vj], "float32")


TensorIntrin.register("mm16", mm_desc, mm_desc)

sch = Schedule(matmul)
i, j, k = sch.get_loops("C")
(i0, i1), (j0, j1), (k0, k1) = (sch.split(x, [None, 16]) for x in (i, j, k))
sch.reorder(i0, j0, k0, i1, j1, k1)
sch.decompose_reduction("C", k0)
sch.tensorize(i1, "mm16")
