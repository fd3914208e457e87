# The map divides by a size of the program; the new extents follow from the product of sizes.
# OPEN: not provable: {{.*}}that no two elements of B get one index is not decided; assume_injective_transform=True asserts it
# DIGITS: not provable: {{.*}}it does more than split and join digits
# BLOCK-LABEL: def by_sizes(
# BLOCK: for ax0, ax1 in T.grid(m, n):
# BLOCK: v0, v1 = T.axis.remap("SS", [ax0, ax1])
# BLOCK: B[v0 * n + v1] = A[v0 * n + v1]
# BLOCK: C[vi] = B[vi]
# CHECK-LABEL: def by_sizes(
# CHECK: B = T.alloc_buffer((m, n))
# CHECK: B[vi // n, vi % n] = A[vi]
# CHECK: C[vi] = B[vi // n, vi % n]
@T.prim_func
def by_sizes(a: T.handle, c: T.handle, n: T.int64, m: T.int64):
    A = T.match_buffer(a, (m * n,), "float32")
    C = T.match_buffer(c, (m * n,), "float32")
    B = T.alloc_buffer((m * n,), "float32")
    for i in range(m * n):
        with T.block("B"):
            vi = T.axis.spatial(m * n, i)
            B[vi] = A[vi]
    for i in range(m * n):
        with T.block("C"):
            vi = T.axis.spatial(m * n, i)
            C[vi] = B[vi]
