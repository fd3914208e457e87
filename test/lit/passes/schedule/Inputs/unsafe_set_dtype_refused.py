@T.prim_func
def views(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    Y = T.alloc_buffer((16,), "float32")
    for i in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = A[vi]
    for i in range(4):
        # expected-error @below {{Y is also used by memref.subview, which cannot be converted; only loads and stores can}}
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            V = T.match_buffer(Y[vi * 4:vi * 4 + 4], (4,))
            for j in range(4):
                with T.block("inner"):
                    vj = T.axis.spatial(4, j)
                    B[vi * 4 + vj] = V[vj]
