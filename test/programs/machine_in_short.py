"""A product and a network on a systolic array: all that a user writes beside its description."""

import numpy as np
from programs.systolic import systolic

from tir_mlir import accel, te
from tir_mlir.graph import GraphBuilder
from tir_mlir.script import tir as T

m = systolic()
acc, st = m.spaces["acc"], m.registers["st"]


@m.instruction(m.units["store"], call="mvout_sums({D}, {C.row}, {rows}, {cols})", cycles=lambda rows, cols: 4 * rows)
def mvout_sums(C: acc, D: m.host("int32"), rows: accel.upto(16), cols: accel.upto(16)):
    T.assume(D.strides[0] == st.stride)
    for i, j in T.grid(16, 16):
        if i < rows and j < cols:
            D[i, j] = C[i, j]


A, B, k = te.placeholder((512, 512), "int8", "A"), te.placeholder((512, 512), "int8", "B"), te.reduce_axis((0, 512))
S = te.compute((512, 512), lambda i, j: te.sum(A[i, k].astype("int32") * B[k, j].astype("int32"), axis=k), "S")
scaled = te.compute(
    (512, 512),
    lambda i, j: te.max(te.min(te.round(S[i, j].astype("float32") * 0.001), 127.0), 0.0).astype("int8"),
)
product = accel.map(te.create_prim_func([A, B, scaled]), m)

rng, b = np.random.default_rng(0), GraphBuilder("main")
x = b.input("x", (32, 64))
for n, (inputs, outputs) in enumerate([(64, 48), (48, 48), (48, 10)]):
    x = b.op("nn.relu", b.op("nn.dense", x, b.weight(f"w{n}", rng.standard_normal((outputs, inputs), np.float32))))
b.output(x)
batch = rng.standard_normal((32, 64), np.float32)
eight = b.finish().calibrate([batch], activations="int8", symmetric=True, per_channel=False, bias="int32", threads=1)
network = eight.offload(m)
