"""The accelerator of the course, with a product: all that a user writes, 25 lines without blank ones."""

from tir_mlir import accel, te
from tir_mlir.script import tir as T

m, size = accel.Machine("course"), 1024
reg, acc = (m.memory(name, rows=256, row=(16, "float32")) for name in ("reg", "accumulator"))
dma, tmm = m.unit("dma", queue=8), m.unit("tmm", queue=8)


@m.instruction(dma, call="accel_dma_load({R.row}, {D}, {D.strides[0]})", cycles=16)
def load(D: m.host("float32"), R: reg):
    for i, j in T.grid(16, 16):
        R[i, j] = D[i, j]


@m.instruction(dma, call="accel_dma_store({D}, {C.row}, {D.strides[0]})", cycles=16)
def store(C: acc, D: m.host("float32")):
    for i, j in T.grid(16, 16):
        D[i, j] = C[i, j]


@m.instruction(tmm, call="accel_fill_zero({C.row})", cycles=16)
def fill_zero(C: acc):
    for i, j in T.grid(16, 16):
        C[i, j] = T.float32(0)


@m.instruction(tmm, call="accel_tmm_add({C.row}, {A.row}, {B.row})", cycles=16)
def tmm_add(A: reg, B: reg, C: acc):
    for i, j, k in T.grid(16, 16, 16):
        C[i, j] += A[i, k] * B[j, k]


A, B, k = te.placeholder((size, size), name="A"), te.placeholder((size, size), name="B"), te.reduce_axis((0, size))
C = te.compute((size, size), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")
product = accel.map(te.create_prim_func([A, B, C]), m)
