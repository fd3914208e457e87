"""The accelerator of the course: products of 16 x 16 tiles of floats, copies by a DMA, and tiles of zeros."""

# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from tir_mlir.accel.machine import Machine
from tir_mlir.accel.machines.memoize_machine import memoize_machine
from tir_mlir.script import tir as T


@memoize_machine
def tmm16(rows: int = 256) -> Machine:
    """The machine whose instructions the course writes as `accel_fill_zero`, `accel_tmm_add` and `accel_dma_copy`.

    rows: of its registers for operands, and of its accumulators.
    """
    m = Machine("tmm16", header='#include "accel.h"')
    reg, acc = m.memory("reg", rows=rows, row=(16, "float32")), m.memory("accumulator", rows=rows, row=(16, "float32"))
    dma, unit = m.unit("dma", queue=8), m.unit("tmm", queue=8)

    @m.instruction(dma, call="accel_dma_load({R.row}, {D}, {D.strides[0]})", cycles=16)
    def load(D: m.host("float32"), R: reg):
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    @m.instruction(dma, call="accel_dma_store({D}, {C.row}, {D.strides[0]})", cycles=16)
    def store(C: acc, D: m.host("float32")):
        for i, j in T.grid(16, 16):
            D[i, j] = C[i, j]

    @m.instruction(unit, call="accel_fill_zero({C.row})", cycles=16)
    def fill_zero(C: acc):
        for i, j in T.grid(16, 16):
            C[i, j] = T.float32(0)

    @m.instruction(unit, call="accel_tmm_add({C.row}, {A.row}, {B.row})", cycles=16)
    def tmm_add(A: reg, B: reg, C: acc):
        for i, j, k in T.grid(16, 16, 16):
            C[i, j] += A[i, k] * B[j, k]

    return m
