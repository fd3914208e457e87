@T.prim_func
def pointer(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    Y = T.alloc_buffer((16,), "float32")
    for i in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = A[vi]
    # expected-error @below {{Y is also used by a pointer into it, which cannot be converted; only loads and stores can}}
    with T.block("B"):
        T.reads(Y[0:16])
        T.writes(B[0:16])
        T.evaluate(T.call_extern("int32", "copy", B.access_ptr("w"), Y.access_ptr("r")))
