# RUN: %python %s | FileCheck %s
# A mark in the trace is not a pass: the schedule is made here.
from tir_mlir import Schedule
from tir_mlir.script import tir as T


@T.prim_func
def main(A: T.Buffer((48,), "float32")):
    for i in range(48):
        with T.block("A"):
            vi = T.axis.spatial(48, i)
            A[vi] = T.float32(0)


sch = Schedule(main)
loop = sch.get_loops("A")[0]
sch.annotate(loop, "key", 1)
sch.enter_postproc()
sch.parallel(loop)
# CHECK: sch.annotate(
# CHECK-NEXT: sch.enter_postproc()
# CHECK-NEXT: sch.parallel(
print(sch.trace)
# CHECK: sch.annotate(
# CHECK-NOT: enter_postproc
# CHECK-NOT: parallel
# CHECK: done
print(sch.trace.simplified(remove_postproc=True))
print("done")
