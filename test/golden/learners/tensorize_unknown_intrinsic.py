from golden.programs import matmul, mm_desc

from tir_mlir import Schedule, TensorIntrin

TensorIntrin.register("mm16", mm_desc, mm_desc)

sch = Schedule(matmul)
i, j, k = sch.get_loops("C")
sch.tensorize(i, "mm61")
