# RUN: tir-opt %s --split-input-file -p tir-lower-reciprocals | FileCheck %s


# A divisor that the innermost loop does not change becomes a factor, if the block allows it.
# CHECK-LABEL: func.func @by_row
# CHECK: %[[S:.*]] = math.sqrt
# CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.0
# CHECK-NEXT: %[[R:.*]] = arith.divf %[[ONE]], %[[S]] : f32
# CHECK: arith.mulf %{{.*}}, %[[R]] : f32
# CHECK-NOT: arith.divf
@T.prim_func
def by_row(X: T.Buffer((8, 4), "float32"), S: T.Buffer((8,), "float32"), Y: T.Buffer((8, 4), "float32")):
    for i, j in T.grid(8, 4):
        with T.block("Y"):
            T.block_attr({"reciprocal": True})
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] / T.sqrt(S[vi] + T.float32(1))


# -----


# Without the annotation nothing changes.
# CHECK-LABEL: func.func @exact
# CHECK-NOT: arith.mulf
# CHECK: arith.divf
@T.prim_func
def exact(X: T.Buffer((8, 4), "float32"), S: T.Buffer((8,), "float32"), Y: T.Buffer((8, 4), "float32")):
    for i, j in T.grid(8, 4):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] / S[vi]


# -----


# Divisors that differ between iterations, and constants, remain divisors.
# CHECK-LABEL: func.func @by_column
# CHECK-NOT: arith.mulf
# CHECK: arith.divf
# CHECK: arith.divf
@T.prim_func
def by_column(X: T.Buffer((8, 4), "float32"), S: T.Buffer((4,), "float32"), Y: T.Buffer((8, 4), "float32")):
    for i, j in T.grid(8, 4):
        with T.block("Y"):
            T.block_attr({"reciprocal": True})
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] / S[vj] / T.float32(3)


# -----


# A quotient that is rounded to an integer remains: floor(x / x) is 1.
# CHECK-LABEL: func.func @rounded
# CHECK-NOT: arith.mulf
# CHECK: arith.divf
@T.prim_func
def rounded(X: T.Buffer((8, 4), "float32"), S: T.Buffer((8,), "float32"), Y: T.Buffer((8, 4), "float32")):
    for i, j in T.grid(8, 4):
        with T.block("Y"):
            T.block_attr({"reciprocal": True})
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.floor(X[vi, vj] / S[vi])
