# RUN: %python %s | FileCheck %s
# Sampling changes no program, so it is not a pass: the schedule is made here.
from tir_mlir import Schedule
from tir_mlir.script import tir as T


@T.prim_func
def main(A: T.Buffer((48,), "float32"), b: T.handle):
    n = T.int32()
    B = T.match_buffer(b, (n,), "float32")
    for i in range(48):
        with T.block("A"):
            vi = T.axis.spatial(48, i)
            A[vi] = T.float32(0)
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = T.float32(0)


def tile(name, **options):
    sch = Schedule(main, seed=1)
    loop = sch.get_loops(name)[0]
    try:
        sch.split(loop, sch.sample_perfect_tile(loop, **options))
        print(sch.trace)
        sch.show()
    except ValueError as error:
        print("refused:", error)


# CHECK: v2, v3, v4 = sch.sample_perfect_tile(loop=l1, n=3, max_innermost_factor=16, decision=[4, 3, 4])
# CHECK-NEXT: sch.split(loop=l1, factors=[v2, v3, v4], preserve_unit_iters=True, disable_predication=False)
# CHECK: for i_0, i_1, i_2 in T.grid(4, 3, 4):
# CHECK-NEXT: with T.block("A"):
tile("A", n=3, decision=[4, 3, 4])

# From the inside, what does not divide takes the rest.
# CHECK: decision=[1, 6, 8])
# CHECK: for i_0, i_1, i_2 in T.grid(1, 6, 8):
tile("A", n=3, decision=[4, 4, 8])

# The innermost one remains within its limit.
# CHECK: decision=[12, 4])
tile("A", n=2, max_innermost_factor=4, decision=[4, 5])

# split infers the first factor of an extent that is not known.
# CHECK: _, v2, v3 = sch.sample_perfect_tile(loop=l1, n=3, max_innermost_factor=16, decision=[-1, 1, 1])
# CHECK-NEXT: sch.split(loop=l1, factors=[None, v2, v3]
# CHECK: for i_0, i_1, i_2 in T.grid(n, 1, 1):
tile("B", n=3)

# CHECK: refused: a single factor is the extent itself and cannot be limited; pass max_innermost_factor=-1
tile("A", n=1)
# CHECK: refused: max_innermost_factor must be positive, or -1 for no limit; it is 0
tile("A", n=2, max_innermost_factor=0)
# CHECK: refused: a decision of sample_perfect_tile has 2 factors; [48] has 1
tile("A", n=2, decision=[48])
# CHECK: refused: the factors of a decision must be positive; they are [48, 0]
tile("A", n=2, decision=[48, 0])
