from tir_mlir import Schedule
from tir_mlir.script import tir as T


@T.prim_func
def wave(A: T.Buffer((64, 64), "float32")):
    for i, j in T.grid(63, 63):
        with T.block("A"):
            vi, vj = T.axis.remap("OO", [i, j])
            A[vi + 1, vj] = A[vi, vj + 1] + 1.0


sch = Schedule(wave)
i, j = sch.get_loops("A")
sch.reorder(j, i)
