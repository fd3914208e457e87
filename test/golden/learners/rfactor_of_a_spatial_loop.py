from golden.programs import matmul

from tir_mlir import Schedule

sch = Schedule(matmul)
i, j, k = sch.get_loops("C")
sch.rfactor(i, 0)
