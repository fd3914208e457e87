# RUN: %python %s | FileCheck %s
# Sampling changes no program, so it is not a pass: the schedule is made here.
from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script import tir as T


@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8, 4), "float32")
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0.0
            C[vi] += B[vi, vk]


def move(decision):
    sch = Schedule(main)
    sch.compute_at("B", sch.sample_compute_location("B", decision))
    print(sch.trace)
    sch.show()


# CHECK: l1 = sch.sample_compute_location(block=b0, decision=0)
# CHECK: sch.compute_at(block=b2, loop=l1, preserve_unit_loops=False, index=-1)
# CHECK: for i in range(8):
# CHECK-NEXT: for ax0 in range(4):
# CHECK-NEXT: with T.block("B"):
# CHECK: for k in range(4):
# CHECK-NEXT: with T.block("C"):
move(0)

# The innermost reduction is not a candidate: the next lower one is taken.
# CHECK: decision=0)
move(1)

# -1: it stays; -2: it is inlined.
# CHECK: decision=-1)
# CHECK: for i, j in T.grid(8, 4):
# CHECK-NEXT: with T.block("B"):
move(-1)
# CHECK: decision=-2)
# CHECK-NOT: T.block("B")
# CHECK: C[vi] = C[vi] + A[vi, vk] * T.float32(2.0)
move(-2)

# A place that is not a loop is good for a move only.
# CHECK: refused: this handle is not a loop: sample_compute_location chose inline
sch = Schedule(main, error_render_level="fast")
try:
    sch.parallel(sch.sample_compute_location("B", -2))
except ScheduleError as error:
    print(error)
