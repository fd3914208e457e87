from golden.programs import matmul

from tir_mlir import Schedule

sch = Schedule(matmul)
i, j, k = sch.get_loops("C")
sch.reorder(k, i, j)
sch.decompose_reduction("C", j)
