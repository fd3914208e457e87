# RUN: tir-opt %s --emit=script -p 'tir-unsafe-hide-buffer-access{block=C buf_type=read buf_index_array=1}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-unsafe-hide-buffer-access{block=C buf_type=read buf_index_array=0,2}' 2>&1 | FileCheck %s --check-prefix=INDEX


# INDEX: block "C" has no read region number 2; it has 2, counted from 0
# The block reads B all the same, and proofs know it; the text says that something is left out.
# CHECK: T.reads(A[vi])
# CHECK-NEXT: T.writes(C[vi])
# CHECK-NEXT: T.block_attr({"tir.hidden": ["reads"]})
# CHECK-NEXT: C[vi] = A[vi] + B[vi]
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[vi] + B[vi]
