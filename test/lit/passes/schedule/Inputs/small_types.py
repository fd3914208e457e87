@T.prim_func
def of_bools(B: T.Buffer((14,), "bool"), A: T.Buffer((14,), "float32")):
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi] = A[vi] > T.float32(0)


# -----


@T.prim_func
def of_integers(B: T.Buffer((14,), "int8"), A: T.Buffer((14,), "int8")):
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi] = A[vi]
