# RUN: tir-opt %s --split-input-file --verify-diagnostics --emit=script -p 'tir-cache-value{block=B path=[0] scope=local}' | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-cache-value{block=B path=[2] scope=local}' 2>&1 | FileCheck %s --check-prefix=OPERAND


# OPERAND: error: {{.*}}the part at [] of the value of block "B" is arith.maximumf, with operands 0 to 1; 2 is none of them
# CHECK-LABEL: def scaled(
@T.prim_func
def scaled(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    # CHECK: B_part = T.alloc_buffer((4, 8), scope="local")
    # CHECK: for ax0, ax1 in T.grid(4, 8):
    # CHECK-NEXT: with T.block("B_part"):
    # CHECK: B_part[v0, v1] = A[v0, v1] * T.float32(2.0)
    # CHECK: with T.block("B"):
    # CHECK: B[vi, vj] = T.max(B_part[vi, vj], T.float32(0.0))
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.max(A[vi, vj] * T.float32(2), T.float32(0))


# -----


@T.prim_func
def summed(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        # expected-error @below {{block "B" has an init}}
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
