from golden.programs import relu

from tir_mlir import Schedule

sch = Schedule(relu)
i, j, k = sch.get_loops("C")
sch.compute_at("C", k)
