from golden.programs import relu

from tir_mlir import Schedule

sch = Schedule(relu)
sch.compute_inline("C")
