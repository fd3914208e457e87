@T.prim_func
def declared_only(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(B[vi], X[vi])
            B[vi] = A[vi]
