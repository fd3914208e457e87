# RUN: tir-opt %s --emit=script -p 'tir-annotate-buffer-access{block=B buffer_index=0 buf_type=read gen_new_ranges="lambda vi: [(vi - 1, vi + 1)]"}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-annotate-buffer-access{block=B buffer_index=1 buf_type=read gen_new_ranges="lambda vi: vi"}' 2>&1 | FileCheck %s --check-prefix=INDEX
# RUN: not tir-opt %s -p 'tir-annotate-buffer-access{block=B buffer_index=0 buf_type=read gen_new_ranges="lambda vi: [vi, vi]"}' 2>&1 | FileCheck %s --check-prefix=RANK
# RUN: not tir-opt %s -p 'tir-annotate-buffer-access{block=B buffer_index=0 buf_type=read gen_new_ranges="lambda v, w: v"}' 2>&1 | FileCheck %s --check-prefix=ITERS


# INDEX: block "B" has no read region number 1; it has 1, counted from 0
# RANK: the lambda returns 2 ranges; A has 1 dimensions
# ITERS: takes 2 iters; the block has 1
# The region may leave the buffer, and be less than what is read.
# CHECK: T.reads(A[vi - 1:vi - 1 + 2])
# CHECK: T.block_attr({"explicit_read_region": [0]})
# CHECK: B[vi] = A[vi]
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
