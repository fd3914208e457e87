# The sum over i is finished only after the loop: B also runs on partial sums, and its last run overwrites what they gave.
# CHECK: warning: {{.*}}under loop i block "B" also runs on partial sums of block "Y"; only its last run has the final values
# CHECK: warning: {{.*}}under loop i block "B" also runs on values of block "Y" that are not final; only its last run has the final values: an outer loop runs it once
# CHECK-LABEL: def partial_sums(
# CHECK: for i in range(4):
# CHECK-NEXT: for j in range(16):
# CHECK-NEXT: with T.block("Y"):
# CHECK: for ax0 in range(16):
# CHECK-NEXT: with T.block("B"):
@T.prim_func
def partial_sums(A: T.Buffer((4, 16), "float32"), B: T.Buffer((16,), "float32")):
    Y = T.alloc_buffer((16,), "float32")
    for i, j in T.grid(4, 16):
        with T.block("Y"):
            vi, vj = T.axis.remap("RS", [i, j])
            with T.init():
                Y[vj] = T.float32(0)
            Y[vj] = Y[vj] + A[vi, vj]
    for k in range(16):
        with T.block("B"):
            vk = T.axis.spatial(16, k)
            B[vk] = Y[vk]


# -----


# Y is computed again in each iteration: B runs on all its values, and the last ones count.
# CHECK-LABEL: def recomputed(
# CHECK: for i in range(4):
# CHECK: with T.block("Y"):
# CHECK: for ax0 in range(16):
# CHECK-NEXT: with T.block("B"):
@T.prim_func
def recomputed(A: T.Buffer((4, 16), "float32"), B: T.Buffer((16,), "float32")):
    Y = T.alloc_buffer((16,), "float32")
    for i, j in T.grid(4, 16):
        with T.block("Y"):
            vi = T.axis.opaque(4, i)
            vj = T.axis.spatial(16, j)
            Y[vj] = A[vi, vj]
    for k in range(16):
        with T.block("B"):
            vk = T.axis.spatial(16, k)
            B[vk] = Y[vk]
