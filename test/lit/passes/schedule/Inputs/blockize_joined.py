# An iter of the new block is ordered if one of the blocks needs the order; one of extent 1 needs no counterpart.
# CHECK-LABEL: def ordered(
# CHECK: with T.block("outer_P_Q_"):
# CHECK-NEXT: vi_o = T.axis.opaque(4, i)
# CHECK: with T.block("P"):
# CHECK: with T.block("Q"):
@T.prim_func
def ordered(A: T.Buffer((4, 8), "float32"), Q: T.Buffer((4, 8), "float32")):
    P = T.alloc_buffer((8,), "float32")
    for i in range(4):
        for j in range(8):
            with T.block("P"):
                vi = T.axis.opaque(4, i)
                vj = T.axis.spatial(8, j)
                P[vj] = A[vi, vj]
        for j in range(8):
            with T.block("Q"):
                vi, vj = T.axis.remap("SS", [i, j])
                Q[vi, vj] = P[7 - vj]


# -----


# CHECK-LABEL: def unit(
# CHECK: with T.block("outer_P_Q_"):
# CHECK-NEXT: vi_o = T.axis.reduce(1, i)
# CHECK: with T.block("P"):
# CHECK: with T.block("Q"):
@T.prim_func
def unit(A: T.Buffer((1, 8), "float32"), Q: T.Buffer((1, 8), "float32")):
    P = T.alloc_buffer((8,), "float32")
    for i in range(1):
        for j in range(8):
            with T.block("P"):
                vi, vj = T.axis.remap("RS", [i, j])
                P[vj] = A[vi, vj]
        for j in range(8):
            with T.block("Q"):
                vi, vj = T.axis.remap("SS", [i, j])
                Q[vi, vj] = P[7 - vj]
