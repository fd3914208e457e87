# RUN: %python %s | FileCheck %s
# Sampling changes no program, so it is not a pass: the schedule is made here.
from tir_mlir import Schedule
from tir_mlir.script import tir as T


@T.prim_func
def main(A: T.Buffer((48,), "float32")):
    for i in range(48):
        with T.block("A"):
            vi = T.axis.spatial(48, i)
            A[vi] = T.float32(0)


def tile(**options):
    sch = Schedule(main, seed=1)
    loop = sch.get_loops("A")[0]
    try:
        sch.split(loop, sch.sample_partitioned_tile(loop, **options))
        print(sch.trace)
        sch.show()
    except ValueError as error:
        print("refused:", error)


# CHECK: v2, v3, v4 = sch.sample_partitioned_tile(loop=l1, n=3, partition_pos=1, innerpart_factor=8, decision=[3, 4, 4])
# CHECK: for i_0, i_1, i_2 in T.grid(3, 4, 4):
tile(n=3, partition_pos=1, innerpart_factor=8, decision=[3, 4, 4])

# An inner part that is not a multiple of 8 becomes 8, 1.
# CHECK: decision=[6, 8, 1])
# CHECK: for i_0, i_1, i_2 in T.grid(6, 8, 1):
tile(n=3, partition_pos=1, innerpart_factor=8, decision=[12, 4, 1])

# No product of 48 has a part that 5 divides.
# CHECK: _, v2, v3 = sch.sample_partitioned_tile({{.*}}, decision=[-1, 1, 1])
# CHECK: for i_0, i_1, i_2 in T.grid(48, 1, 1):
tile(n=3, partition_pos=1, innerpart_factor=5)

# CHECK: refused: partition_pos must be in [0, 2); it is 2
tile(n=2, partition_pos=2)
# CHECK: refused: innerpart_factor must be positive; it is 0
tile(n=2, innerpart_factor=0)
# CHECK: refused: sample_partitioned_tile needs n in [1, 256]; n is 0
tile(n=0)
