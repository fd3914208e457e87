# Three iterations of 5 cannot become 16: vj is left as it is.
# CHECK: warning: {{.*}}iter vj of block "B" is left unpadded: its loops cannot grow to the new extent, so nothing would run the padding
# CHECK-LABEL: def odd_tile(
@T.prim_func
def odd_tile(A: T.Buffer((13, 15), "float32"), B: T.Buffer((13,), "float32")):
    # CHECK: A_pad = T.alloc_buffer((16, 15))
    # CHECK: for i, j_0, j_1 in T.grid(16, 3, 5):
    for i, j_0, j_1 in T.grid(13, 3, 5):
        with T.block("B"):
            vi = T.axis.spatial(13, i)
            vj = T.axis.reduce(15, j_0 * 5 + j_1)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]
