"""An NPU with two cores: each has memories, a product of 32 terms, and channels of a DMA. Calls start instructions; the
CPU waits for the channels, and for the product, where a row is used again."""

# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from tir_mlir.accel.machine import Machine
from tir_mlir.accel.machines.memoize_machine import memoize_machine
from tir_mlir.accel.operands import MemorySpace, upto
from tir_mlir.script import tir as T


@memoize_machine
def npu(cores: int = 2, latency: int = 200) -> Machine:
    """The machine. latency: of the memory of the CPU, in cycles."""
    m = Machine("npu", header='#include "npu.h"', cores=cores)
    x, w = m.memory("x", rows=1024, row=(32, "int8")), m.memory("w", rows=1024, row=(32, "int8"))
    sums = m.memory("sums", rows=512, row=(16, "int32"))
    _describe_copies(m, x, w, sums, latency)
    _describe_products(m, x, w, sums)
    for unit in m.units.values():
        m.wait(unit, call=f"npu_wait_{unit.name}({{left}})", most=unit.queue - 1)
    return m


def _rows(rows: int, cols: int) -> int:
    """The cycles of a copy: one for each row."""
    return max(1, rows)


def _describe_copies(m: Machine, x: MemorySpace, w: MemorySpace, sums: MemorySpace, latency: int) -> None:
    dma_in, dma_out = (m.unit(name, queue=8, interlocks="none") for name in ("dma_in", "dma_out"))

    @m.instruction(
        dma_in, call="npu_load_x({R.row}, {D}, {D.strides[0]}, {rows}, {cols})", cycles=_rows, latency=latency
    )
    def load_x(D: m.host("int8"), R: x, rows: upto(16), cols: upto(32)):
        """Rows of activations; what is behind them becomes 0."""
        for i, j in T.grid(16, 32):
            R[i, j] = T.if_then_else(i < rows and j < cols, D[i, j], T.int8(0))

    @m.instruction(
        dma_in, call="npu_load_w({R.row}, {D}, {D.strides[0]}, {rows}, {cols})", cycles=_rows, latency=latency
    )
    def load_w(D: m.host("int8"), R: w, rows: upto(16), cols: upto(32)):
        """Rows of weights: 32 terms of each of 16 outputs."""
        for i, j in T.grid(16, 32):
            R[i, j] = T.if_then_else(i < rows and j < cols, D[i, j], T.int8(0))

    call = "npu_store({D}, {D.strides[0]}, {C.row}, {rows}, {cols})"

    @m.instruction(dma_out, call=call, cycles=_rows)
    def store(C: sums, D: m.host("int32"), rows: upto(16), cols: upto(16)):
        for i, j in T.grid(16, 16):
            if i < rows and j < cols:
                D[i, j] = C[i, j]


def _describe_products(m: Machine, x: MemorySpace, w: MemorySpace, sums: MemorySpace) -> None:
    mac = m.unit("mac", queue=8, interlocks="none")

    @m.instruction(mac, call="npu_clear({C.row})", cycles=16)
    def clear(C: sums):
        for i, j in T.grid(16, 16):
            C[i, j] = 0

    @m.instruction(mac, call="npu_mac({A.row}, {B.row}, {C.row})", cycles=16)
    def multiply(A: x, B: w, C: sums):
        for i, j, k in T.grid(16, 16, 32):
            C[i, j] += T.Cast("int32", A[i, k]) * T.Cast("int32", B[j, k])
