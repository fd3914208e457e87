"""A systolic array with a product and a network on it: all that a user writes, 60 lines without blank ones."""

import numpy as np

from tir_mlir import accel, te
from tir_mlir.accel import upto
from tir_mlir.graph import GraphBuilder
from tir_mlir.script import tir as T

m = accel.Machine("array", header='#include "array.h"')
sp, acc = m.memory("sp", rows=1024, row=(16, "int8")), m.memory("acc", rows=256, row=(16, "int32"))
load, execute, store = (m.unit(name, queue=8) for name in ("load", "execute", "store"))
ld, st = m.state("ld", stride="int32"), m.state("st", stride="int32", scale="float32")


@m.instruction(load, sets=ld, call="config_ld({stride})")
def config_ld(stride: T.int32): ...


@m.instruction(store, sets=st, call="config_st({stride}, {scale})")
def config_st(stride: T.int32, scale: T.float32): ...


@m.instruction(load, call="mvin({D}, {R.row}, {rows}, {cols})", cycles=lambda rows, cols: rows, latency=100)
def mvin(D: m.host("int8"), R: sp, rows: upto(16), cols: upto(16)):
    T.assume(D.strides[0] == ld.stride)
    for i, j in T.grid(16, 16):
        R[i, j] = T.if_then_else(i < rows and j < cols, D[i, j], T.int8(0))


@m.instruction(execute, call="zero({C.row})", cycles=16)
def zero(C: acc):
    for i, j in T.grid(16, 16):
        C[i, j] = 0


@m.instruction(execute, call="compute({A.row}, {B.row}, {C.row})", cycles=16)
def compute(A: sp, B: sp, C: acc):
    for i, j, k in T.grid(16, 16, 16):
        C[i, j] += T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])


@m.instruction(store, call="mvout({D}, {C.row}, {rows}, {cols})", cycles=lambda rows, cols, scale: rows)
def mvout(C: acc, D: m.host("int8"), rows: upto(16), cols: upto(16), scale: T.float32):
    T.assume(D.strides[0] == st.stride)
    T.assume(st.scale == scale)
    for i, j in T.grid(16, 16):
        if i < rows and j < cols:
            scaled = T.round(T.Cast("float32", C[i, j]) * scale)
            D[i, j] = T.Cast("int8", T.max(T.min(scaled, T.float32(127)), T.float32(0)))


@m.instruction(store, call="mvout_sums({D}, {C.row}, {rows}, {cols})", cycles=lambda rows, cols: 4 * rows)
def mvout_sums(C: acc, D: m.host("int32"), rows: upto(16), cols: upto(16)):
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
    x = b.op("nn.dense", x, b.weight(f"w{n}", rng.standard_normal((outputs, inputs), np.float32)))
    x = b.op("nn.relu", x)
b.output(x)
batch = rng.standard_normal((32, 64), np.float32)
eight = b.finish().calibrate([batch], activations="int8", symmetric=True, per_channel=False, bias="int32", threads=1)
network = eight.offload(m)
