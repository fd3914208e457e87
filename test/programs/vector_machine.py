"""A machine with a unit for vectors: 16 x 16 elements of int8 and of int32, each in a memory, and copies of int8."""

from __future__ import annotations

from tir_mlir import accel
from tir_mlir.accel.operands import ExecutionUnit, MemorySpace
from tir_mlir.script import tir as T

# pyright: reportInvalidTypeForm=false


def vector_machine(rows: int = 96, masked: bool = True) -> accel.Machine:
    """The machine. rows: of each memory. masked: whether copies have sizes; else they are of whole tiles."""
    m = accel.Machine("vec")
    narrow, wide = m.memory("narrow", rows=rows, row=(16, "int8")), m.memory("wide", rows=rows, row=(16, "int32"))
    dma, alu = m.unit("dma", queue=8), m.unit("alu", queue=8)
    (_describe_masked_copies if masked else _describe_copies)(m, dma, narrow)

    @m.instruction(alu, call="widen({R.row}, {A.row})", cycles=16)
    def widen(A: narrow, R: wide):
        for i, j in T.grid(16, 16):
            R[i, j] = T.Cast("int32", A[i, j])

    @m.instruction(alu, call="add_slowly({R.row}, {A.row}, {B.row})", cycles=32)
    def add_slowly(A: wide, B: wide, R: wide):
        for i, j in T.grid(16, 16):
            R[i, j] = A[i, j] + B[i, j]

    @m.instruction(alu, call="add({R.row}, {A.row}, {B.row})", cycles=16)
    def add(A: wide, B: wide, R: wide):
        for i, j in T.grid(16, 16):
            R[i, j] = A[i, j] + B[i, j]

    @m.instruction(alu, call="clip({R.row}, {A.row}, {low})", cycles=16)
    def clip(A: wide, R: narrow, low: T.int32):
        for i, j in T.grid(16, 16):
            R[i, j] = T.Cast("int8", T.max(T.min(A[i, j], 127), low))

    _describe_pools(m, alu, narrow, wide)
    return m


def _describe_pools(m: accel.Machine, alu: ExecutionUnit, narrow: MemorySpace, wide: MemorySpace) -> None:
    @m.instruction(alu, call="fill({R.row}, {value})", cycles=16)
    def fill(R: narrow, value: T.int8):
        for i, j in T.grid(16, 16):
            R[i, j] = value

    @m.instruction(alu, call="clear_wide({R.row})", cycles=16)
    def clear_wide(R: wide):
        for i, j in T.grid(16, 16):
            R[i, j] = 0

    @m.instruction(alu, call="greatest({R.row}, {A.row})", cycles=16)
    def greatest(A: narrow, R: narrow):
        for i, j in T.grid(16, 16):
            R[i, j] = T.max(R[i, j], A[i, j])

    @m.instruction(alu, call="accumulate({R.row}, {A.row})", cycles=16)
    def accumulate(A: narrow, R: wide):
        for i, j in T.grid(16, 16):
            R[i, j] = R[i, j] + T.Cast("int32", A[i, j])

    @m.instruction(alu, call="divide({R.row}, {A.row}, {bits})", cycles=16)
    def divide(A: wide, R: narrow, bits: T.int32):
        for i, j in T.grid(16, 16):
            R[i, j] = T.Cast("int8", A[i, j] >> bits)


def product_machine(rows: int = 96) -> accel.Machine:
    """The same with products, whose sums are in a memory that only the unit for vectors reads."""
    m = vector_machine(rows)
    narrow, wide, alu = m.spaces["narrow"], m.spaces["wide"], m.units["alu"]
    sums, mac = m.memory("sums", rows=rows, row=(16, "int32")), m.unit("mac", queue=8)

    @m.instruction(mac, call="clear({C.row})", cycles=16)
    def clear(C: sums):
        for i, j in T.grid(16, 16):
            C[i, j] = 0

    @m.instruction(mac, call="multiply({A.row}, {B.row}, {C.row})", cycles=16)
    def multiply(A: narrow, B: narrow, C: sums):
        for i, j, k in T.grid(16, 16, 16):
            C[i, j] += T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])

    @m.instruction(alu, call="take({R.row}, {C.row})", cycles=16)
    def take(C: sums, R: wide):
        for i, j in T.grid(16, 16):
            R[i, j] = C[i, j]

    @m.instruction(
        m.units["dma"], call="store_wide({D}, {D.strides[0]}, {R.row}, {rows}, {cols})", cycles=lambda rows, cols: rows
    )
    def store_wide(R: wide, D: m.host("int32"), rows: accel.upto(16), cols: accel.upto(16)):
        for i, j in T.grid(16, 16):
            if i < rows and j < cols:
                D[i, j] = R[i, j]

    return m


def _describe_masked_copies(m: accel.Machine, dma: ExecutionUnit, narrow: MemorySpace) -> None:
    @m.instruction(
        dma, call="load({R.row}, {D}, {D.strides[0]}, {rows}, {cols})", cycles=lambda rows, cols: rows, latency=20
    )
    def load(D: m.host("int8"), R: narrow, rows: accel.upto(16), cols: accel.upto(16)):
        for i, j in T.grid(16, 16):
            R[i, j] = T.if_then_else(i < rows and j < cols, D[i, j], T.int8(0))

    @m.instruction(dma, call="store({D}, {D.strides[0]}, {R.row}, {rows}, {cols})", cycles=lambda rows, cols: rows)
    def store(R: narrow, D: m.host("int8"), rows: accel.upto(16), cols: accel.upto(16)):
        for i, j in T.grid(16, 16):
            if i < rows and j < cols:
                D[i, j] = R[i, j]


def _describe_copies(m: accel.Machine, dma: ExecutionUnit, narrow: MemorySpace) -> None:
    @m.instruction(dma, call="load({R.row}, {D}, {D.strides[0]})", cycles=16, latency=20)
    def load(D: m.host("int8"), R: narrow):
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    @m.instruction(dma, call="store({D}, {D.strides[0]}, {R.row})", cycles=16)
    def store(R: narrow, D: m.host("int8")):
        for i, j in T.grid(16, 16):
            D[i, j] = R[i, j]
