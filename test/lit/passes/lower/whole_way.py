# RUN: tir-opt %s -p tir-lower | FileCheck %s --check-prefix=LOOPS
# RUN: tir-opt %s -p tir-lower-to-llvm | FileCheck %s --check-prefix=LLVM
# RUN: tir-opt %s --emit=llvm | FileCheck %s --check-prefix=IR
# RUN: tir-opt %s -p 'tir-parallel{loop=i}, tir-lower, func.func(canonicalize, cse), lower-affine' | FileCheck %s --check-prefix=MIXED


# LOOPS: func.func @tir.main
# LOOPS-NOT: tir.
# LOOPS: affine.store
# LLVM-NOT: builtin.unrealized_conversion_cast
# LLVM: llvm.func @tir.main
# LLVM: llvm.store
# IR: define void @tir.main(ptr
# IR: store float
# MIXED: scf.parallel
# MIXED-NOT: affine.
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    T.func_attr({"tir.noalias": True})
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)
