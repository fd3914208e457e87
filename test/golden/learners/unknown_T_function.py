from tir_mlir.script import tir as T


@T.prim_func
def soft(A: T.Buffer((64,), "float32")):
    for i in range(64):
        with T.block("A"):
            vi = T.axis.spatial(64, i)
            A[vi] = T.expp(A[vi])
