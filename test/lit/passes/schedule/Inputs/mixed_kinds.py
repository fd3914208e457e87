@T.prim_func
def mixed_kinds(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]
