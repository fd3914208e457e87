# float32 represents all values of int8: a cast to it is the value itself; another one applies to the int8 number.
# CHECK: Y = T.alloc_buffer((16,))
# CHECK: Y[vi] = T.Cast("float32", A[vi])
# CHECK: B[vi] = Y[vi] * T.float32(2.0)
# CHECK: C[vi] = T.Cast("int32", T.Cast("int8", Y[vi]))
@T.prim_func
def main(A: T.Buffer((16,), "int8"), B: T.Buffer((16,), "float32"), C: T.Buffer((16,), "int32")):
    Y = T.alloc_buffer((16,), "int8")
    for i in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = A[vi]
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = T.Cast("float32", Y[vi]) * T.float32(2)
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = T.Cast("int32", Y[vi])
