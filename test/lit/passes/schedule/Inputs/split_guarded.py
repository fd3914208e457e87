# The guard excludes the iterations that the factors add.
# CHECK-LABEL: def guarded(
# CHECK: for i_0, i_1 in T.grid(3, 4):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi = T.axis.spatial(7, i_0 * 4 + i_1)
# CHECK-NEXT: T.where(i_0 * 4 + i_1 < 7)
@T.prim_func
def guarded(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(10):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            T.where(i < 7)
            B[vi] = A[vi]
