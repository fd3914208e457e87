from golden.programs import matmul

from tir_mlir import Schedule

sch = Schedule(matmul)
sch.get_loops("matmul")
