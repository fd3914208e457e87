# Views of the buffer follow.
# CHECK-LABEL: def views(
# CHECK: Y = T.alloc_buffer((16,), "float16")
# CHECK: V = T.match_buffer(Y[vi * 4:vi * 4 + 4], (4,), "float16", offset_factor=4)
# CHECK: V[j] = T.Cast("float16", A[vi * 4 + j])
# CHECK: B[vi] = T.Cast("float32", Y[vi])
@T.prim_func
def views(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    Y = T.alloc_buffer((16,), "float32")
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            V = T.match_buffer(Y[vi * 4:vi * 4 + 4], (4,), "float32", offset_factor=4)
            for j in range(4):
                V[j] = A[vi * 4 + j]
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = Y[vi]
