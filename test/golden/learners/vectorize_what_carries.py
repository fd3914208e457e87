from tir_mlir import Schedule
from tir_mlir.script import tir as T


@T.prim_func
def running_sum(A: T.Buffer((64,), "float32")):
    for i in range(63):
        with T.block("A"):
            vi = T.axis.opaque(63, i)
            A[vi + 1] = A[vi + 1] + A[vi]


sch = Schedule(running_sum)
(i,) = sch.get_loops("A")
sch.vectorize(i)
