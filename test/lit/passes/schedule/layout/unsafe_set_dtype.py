# RUN: tir-opt %s --emit=script -p 'tir-unsafe-set-dtype{block=Y buffer_index=0 dtype=float16}' | FileCheck %s
# RUN: tir-opt %S/../Inputs/set_dtype_views.py --emit=script -p 'tir-unsafe-set-dtype{block=Y buffer_index=0 dtype=float16}' | FileCheck %S/../Inputs/set_dtype_views.py
# RUN: tir-opt %S/../Inputs/set_dtype_widened.py --emit=script -p 'tir-unsafe-set-dtype{block=Y buffer_index=0 dtype=float32}' | FileCheck %S/../Inputs/set_dtype_widened.py
# RUN: not tir-opt %s -p 'tir-unsafe-set-dtype{block=B buffer_index=0 dtype=float16}' 2>&1 | FileCheck %s --check-prefix=PARAM
# RUN: not tir-opt %s -p 'tir-unsafe-set-dtype{block=Y buffer_index=0 dtype=float8}' 2>&1 | FileCheck %s --check-prefix=DTYPE
# RUN: tir-opt %S/../Inputs/unsafe_set_dtype_refused.py --split-input-file --verify-diagnostics -p 'tir-unsafe-set-dtype{block=Y buffer_index=0 dtype=float16}'


# PARAM: B is a parameter of the function, whose type the caller chooses
# DTYPE: dtype "float8" is not supported
# CHECK: Y = T.alloc_buffer((16,), "float16")
# CHECK: Y[vi] = T.Cast("float16", A[vi] + T.float32(1.0))
# CHECK: B[vi] = T.Cast("float32", Y[vi]) * T.float32(2.0)
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    Y = T.alloc_buffer((16,), "float32")
    for i in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = A[vi] + T.float32(1)
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = Y[vi] * T.float32(2)
