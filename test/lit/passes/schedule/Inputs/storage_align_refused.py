@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    Y = T.alloc_buffer((16,), "float32")
    for i in range(16):
        # expected-error @below {{block "Y" has buffer_dim_align = 3, which is not a list of [buffer, axis, factor, offset]}}
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            T.block_attr({"buffer_dim_align": 3})
            Y[vi] = A[vi]
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = Y[vi]
