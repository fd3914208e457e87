# RUN: tir-opt %s --split-input-file -p 'tir-lower-gpu-approximate' | FileCheck %s


# Functions may be approximate, and a product and a sum be one instruction, in a block that says so.
# CHECK-LABEL: func.func @weights
# CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
# CHECK: arith.subf %{{.*}}, %{{.*}} fastmath<contract> : f32
# CHECK: math.exp %{{.*}} fastmath<afn> : f32
@T.prim_func
def weights(S: T.Buffer((8,), "float32"), M: T.Buffer((8,), "float32"), P: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("P"):
            T.block_attr({"approximate": True})
            vi = T.axis.spatial(8, i)
            P[vi] = T.exp(S[vi] * T.float32(3) - M[vi])


# -----


# CHECK-LABEL: func.func @exact
# CHECK: arith.subf %{{.*}}, %{{.*}} : f32
# CHECK: math.exp %{{.*}} : f32
@T.prim_func
def exact(S: T.Buffer((8,), "float32"), M: T.Buffer((8,), "float32"), P: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("P"):
            vi = T.axis.spatial(8, i)
            P[vi] = T.exp(S[vi] - M[vi])
