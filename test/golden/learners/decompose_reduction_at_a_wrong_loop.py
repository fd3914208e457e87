from golden.programs import relu

from tir_mlir import Schedule

sch = Schedule(relu)
sch.decompose_reduction("C", sch.get_loops("D")[1])
