from golden.programs import matmul

from tir_mlir import Schedule

sch = Schedule(matmul)
i, j, k = sch.get_loops("C")
j_0, j_1 = sch.split(j, [None, 16])
sch.undo()
sch.vectorize(j_1)
