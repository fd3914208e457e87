# The map names a size of the program.
# CHECK-LABEL: def of_a_size(
# CHECK: B[n - vi - 1] = A[vi]
# CHECK: C[vi] = B[n - vi - 1]
@T.prim_func
def of_a_size(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    B = T.alloc_buffer((n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = B[vi]
