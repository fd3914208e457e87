# CHECK: warning: {{.*}}transform_block_layout replaces loop i and drops its annotations (my.x)
# CHECK-LABEL: def annotated(
# CHECK: for ax0, ax1 in T.grid(8, 6):
# CHECK-NEXT: with T.block("B"):
@T.prim_func
def annotated(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32")):
    for i in T.serial(6, annotations={"my.x": 1}):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
