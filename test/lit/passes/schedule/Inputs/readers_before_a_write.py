# B and E read Y before U writes it: the copy is made from what was there.
# CHECK-LABEL: def before_a_write(
# CHECK: with T.block("Y_global.S"):
# CHECK: Y_global_S[v0] = Y[v0]
# CHECK: B[vi] = Y_global_S[vi]
# CHECK: E[vi] = Y_global_S[7 - vi]
# CHECK: Y[vi] = Y[vi] + T.float32(1.0)
@T.prim_func
def before_a_write(Y: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), E: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]
    for i in range(8):
        with T.block("E"):
            vi = T.axis.spatial(8, i)
            E[vi] = Y[7 - vi]
    for i in range(8):
        with T.block("U"):
            vi = T.axis.spatial(8, i)
            Y[vi] = Y[vi] + T.float32(1)
