# Indices by keyword.
# CHECK-LABEL: def keywords(
# CHECK: for ax0, ax1 in T.grid(8, 6):
# CHECK-NEXT: with T.block("B"):
# CHECK: B[v1, v0] = A[v1, v0]
@T.prim_func
def keywords(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32")):
    for i, j in T.grid(6, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
