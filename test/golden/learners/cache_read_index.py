from golden.programs import matmul

from tir_mlir import Schedule

sch = Schedule(matmul)
sch.cache_read("C", 2, "global")
