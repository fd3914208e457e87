from golden.programs import matmul, mm_desc

from tir_mlir import Schedule, TensorIntrin

TensorIntrin.register("mm16", mm_desc, mm_desc)

sch = Schedule(matmul)
i, j, k = sch.get_loops("C")
(i0, i1), (j0, j1), (k0, k1) = (sch.split(x, [None, 16]) for x in (i, j, k))
sch.reorder(i0, j0, k0, i1, j1, k1)
sch.tensorize(i1, "mm16")
