# RUN: not tir-opt %s -p 'tir-graph-tiled-attention{target=sm_8}' 2>&1 | FileCheck %s --check-prefix=TARGET
# RUN: tir-opt %s --split-input-file -p 'tir-graph-tiled-attention{target=sm_80}' --emit=script | FileCheck %s
# RUN: tir-opt %s --split-input-file -p 'tir-graph-tiled-attention{target=sm_75}' --emit=script | FileCheck %s --check-prefix=OLD

# Heads are read where they are; scores are in units of log 2, and products of float16.
# CHECK-LABEL: def attention(Q: T.Buffer((1, 40, 2, 16), "float16")
# CHECK: Qs[vh, vi, vd] = T.if_then_else(vi < 40{{.*}}, Q[0, vi, vh, vd],
# CHECK: S[vh, vi, vj] {{.*}} T.Cast("float32", Qs[vh, vi, vd]) * T.Cast("float32", Ks[vh, vj, vd])
# CHECK: Y[vh, vi, vj] = T.if_then_else(vj < 40, S[vh, vi, vj] * T.float32(0.3606
# CHECK: T.exp2(
# CHECK: X[vh, vi, vd] {{.*}} T.Cast("float32", P[vh, vi, vj]) * T.Cast("float32", Vs[vh, vj, vd])
# CHECK-LABEL: def main(
# CHECK-NOT: permute_dims
# CHECK: R.call_tir(cls.attention, (q, k, v)
# CHECK-NOT: permute_dims
# OLD: R.nn.attention(
# TARGET: sm_8
from tir_mlir.graph import script as R


@R.function
def main(q: R.Tensor((1, 40, 2, 16), "float16"), k: R.Tensor((1, 40, 2, 16), "float16"), v: R.Tensor((1, 40, 2, 16), "float16")):
    with R.dataflow():
        lv = R.permute_dims(q, axes=[0, 2, 1, 3])
        lv1 = R.permute_dims(k, axes=[0, 2, 1, 3])
        lv2 = R.permute_dims(v, axes=[0, 2, 1, 3])
        lv3 = R.nn.attention(lv, lv1, lv2, layout="BHSD")
        gv = R.permute_dims(lv3, axes=[0, 2, 1, 3])
        R.output(gv)
    return gv
