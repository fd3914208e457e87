# RUN: not tir-opt %s --split-input-file -p 'tir-graph-short-attention{target=sapphire}' 2>&1 | FileCheck %s --check-prefix=TARGET
# RUN: tir-opt %s --split-input-file -p 'tir-graph-short-attention{target=sapphire_rapids}' --emit=script | FileCheck %s

# Whole blocks of tiles.
# CHECK-LABEL: def main(
# CHECK:         R.nn.attention(q, k, v, {{.*}}weights_dtype="bfloat16")
from tir_mlir.graph import script as R


@R.function
def main(q: R.Tensor((1, 64, 2, 32), "bfloat16"), k: R.Tensor((1, 96, 2, 32), "bfloat16"), v: R.Tensor((1, 96, 2, 64), "bfloat16")):
    with R.dataflow():
        gv = R.nn.attention(q, k, v, causal_mask="TopLeft")
        R.output(gv)
    return gv


# -----

# 90 keys are no whole blocks.
# CHECK-LABEL: def main(
# CHECK:         R.nn.attention(q, k, v, layout="BSHD")
from tir_mlir.graph import script as R


@R.function
def main(q: R.Tensor((1, 64, 2, 32), "bfloat16"), k: R.Tensor((1, 90, 2, 32), "bfloat16"), v: R.Tensor((1, 90, 2, 64), "bfloat16")):
    with R.dataflow():
        gv = R.nn.attention(q, k, v)
        R.output(gv)
    return gv


# -----

# There are no tiles of float16.
# CHECK-LABEL: def main(
# CHECK:         R.nn.attention(q, q, q, layout="BSHD")
from tir_mlir.graph import script as R


@R.function
def main(q: R.Tensor((1, 64, 2, 32), "float16")):
    with R.dataflow():
        gv = R.nn.attention(q, q, q)
        R.output(gv)
    return gv

# TARGET: 'sapphire'
