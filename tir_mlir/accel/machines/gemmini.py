"""Gemmini: a systolic array of 16 x 16 multipliers of int8, with a scratchpad and an accumulator.

Facts are those of the default configuration of github.com/ucb-bar/gemmini (README.md, "ISA"; Configs.scala), the
calls those of gemmini.h of ucb-bar/gemmini-rocc-tests. Addresses of the accumulator have bit 31; bit 30 adds to what is
there; bit 29 reads 32 bits. A copy from address 0 writes zeros; with a stride of 0 it repeats a row.
"""

# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from tir_mlir.accel.machine import Machine
from tir_mlir.accel.machines.memoize_machine import memoize_machine
from tir_mlir.accel.operands import ExecutionUnit, MemorySpace, Register, between, upto
from tir_mlir.script import tir as T


@memoize_machine
def gemmini(latency: int = 100) -> Machine:
    """The machine in its default configuration. latency: of the memory of the CPU, in cycles."""
    m = Machine("gemmini", header='#include "include/gemmini.h"')
    sp = m.memory("sp", rows=16384, row=(16, "int8"))
    acc = m.memory("acc", rows=1024, row=(16, "int32"))
    load = m.unit("load", queue=8)
    _describe_copies(m, load, sp, latency)
    _describe_second_copies(m, load, sp, latency)
    _describe_sums(m, load, acc, latency)
    _describe_products(m, sp, acc)
    store, st = m.unit("store", queue=2), _describe_store_registers(m)
    _describe_stores(m, store, acc, st)
    _describe_store_of_sums(m, store, acc, st)
    _describe_pools(m, store, acc, st)
    _describe_pools_without_negatives(m, store, acc, st)
    return m


def _rows(rows: int) -> int:
    """The cycles of a copy into the machine: one for each row."""
    return rows


def _padded_cycles(rows: int, cols: int) -> int:
    """The cycles of a copy behind one of zeros, which a whole tile does not need."""
    return rows if rows == cols == 16 else 16 + rows


def _describe_copies(m: Machine, load: ExecutionUnit, sp: MemorySpace, latency: int) -> None:
    """mvin: what copies operands into the scratchpad."""
    ld = m.state("ld", stride="int32", scale="float32", block_stride=between(0, 65535))
    zero = "if ({rows} < 16 || {cols} < 16) gemmini_extended_mvin(0, {R.row}, 16, 16)"
    part = "if ({rows} && {cols}) gemmini_extended_mvin({D}, {R.row}, {cols}, {rows})"

    @m.instruction(load, sets=ld, call="gemmini_extended4_config_ld({stride}, {scale}, 0, {block_stride}, 0)")
    def config_ld(stride: T.int32, scale: T.float32, block_stride: T.int32): ...

    @m.instruction(load, call="gemmini_extended_mvin({D}, {R.row}, 16, 16)", cycles=16, latency=latency)
    def mvin(D: m.host("int8"), R: sp):
        T.assume(D.strides[0] == ld.stride)
        T.assume(ld.scale == 1)
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    @m.instruction(load, call="gemmini_extended_mvin({D}, {R.row}, 16, {rows})", cycles=_rows, latency=latency)
    def mvin_rows(D: m.host("int8"), R: sp, rows: between(1, 16)):
        """Some rows; what is behind them stays as it is."""
        T.assume(D.strides[0] == ld.stride)
        T.assume(ld.scale == 1)
        for i, j in T.grid(16, 16):
            if i < rows:
                R[i, j] = D[i, j]

    @m.instruction(load, call=[zero, part], cycles=_padded_cycles, latency=latency)
    def mvin_padded(D: m.host("int8"), R: sp, rows: upto(16), cols: upto(16)):
        """A tile at an edge, with zeros behind its rows and columns."""
        T.assume(D.strides[0] == ld.stride)
        T.assume(ld.scale == 1)
        for i, j in T.grid(16, 16):
            R[i, j] = T.if_then_else(i < rows and j < cols, D[i, j], T.int8(0))

    @m.instruction(load, call="gemmini_extended_mvin({D}, {R.row}, 64, 16)", cycles=64, latency=latency)
    def mvin_blocks(D: m.host("int8"), R: sp):
        """Four tiles beside each other; in the scratchpad they are block_stride rows apart."""
        T.assume(D.strides[0] == ld.stride)
        T.assume(R.strides[0] == ld.block_stride)
        T.assume(ld.scale == 1)
        for i, b, j in T.grid(16, 4, 16):
            R[b, i, j] = D[i, b * 16 + j]


def _describe_second_copies(m: Machine, load: ExecutionUnit, sp: MemorySpace, latency: int) -> None:
    """mvin2: a copy with registers of its own, so that those of two operands need no change."""
    ld2 = m.state("ld2", stride="int32", scale="float32")

    @m.instruction(load, sets=ld2, call="gemmini_extended3_config_ld({stride}, {scale}, 0, 1)")
    def config_ld2(stride: T.int32, scale: T.float32): ...

    @m.instruction(load, call="gemmini_extended_mvin2({D}, {R.row}, 16, 16)", cycles=16, latency=latency)
    def mvin2(D: m.host("int8"), R: sp):
        T.assume(D.strides[0] == ld2.stride)
        T.assume(ld2.scale == 1)
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    zero = "if ({rows} < 16 || {cols} < 16) gemmini_extended_mvin2(0, {R.row}, 16, 16)"
    part = "if ({rows} && {cols}) gemmini_extended_mvin2({D}, {R.row}, {cols}, {rows})"

    @m.instruction(load, call=[zero, part], cycles=_padded_cycles, latency=latency)
    def mvin2_padded(D: m.host("int8"), R: sp, rows: upto(16), cols: upto(16)):
        """A tile at an edge, with zeros behind its rows and columns."""
        T.assume(D.strides[0] == ld2.stride)
        T.assume(ld2.scale == 1)
        for i, j in T.grid(16, 16):
            R[i, j] = T.if_then_else(i < rows and j < cols, D[i, j], T.int8(0))

    @m.instruction(load, call="gemmini_extended_mvin2({D}, {R.row}, 16, 16)", cycles=16, latency=latency)
    def mvin2_scaled(D: m.host("int8"), R: sp, scale: T.float32):
        """Scaled, rounded to the nearest even, and clipped."""
        T.assume(D.strides[0] == ld2.stride)
        T.assume(ld2.scale == scale)
        for i, j in T.grid(16, 16):
            R[i, j] = T.Cast(
                "int8", T.max(T.min(T.round(T.Cast("float32", D[i, j]) * scale), T.float32(127)), T.float32(-128))
            )


def _describe_sums(m: Machine, load: ExecutionUnit, acc: MemorySpace, latency: int) -> None:
    """mvin3: what copies start values of sums, of 32 bits."""
    ld3 = m.state("ld3", stride="int32", scale="float32")

    @m.instruction(load, sets=ld3, call="gemmini_extended3_config_ld({stride}, {scale}, 0, 2)")
    def config_ld3(stride: T.int32, scale: T.float32): ...

    @m.instruction(load, call="gemmini_extended_mvin3({D}, (1u << 31) | {C.row}, 16, 16)", cycles=64, latency=latency)
    def mvin3(D: m.host("int32"), C: acc):
        T.assume(D.strides[0] * 4 == ld3.stride)
        T.assume(ld3.scale == 1)
        for i, j in T.grid(16, 16):
            C[i, j] = D[i, j]

    repeated = "gemmini_extended_mvin3({D}, (1u << 31) | {C.row}, 16, {rows})"

    @m.instruction(load, call=repeated, cycles=_rows, latency=latency)
    def mvin3_bias(D: m.host("int32"), C: acc, rows: between(1, 16)):
        """One row, repeated."""
        T.assume(ld3.stride == 0)
        T.assume(ld3.scale == 1)
        for i, j in T.grid(16, 16):
            if i < rows:
                C[i, j] = D[j]

    @m.instruction(load, call="gemmini_extended_mvin3(0, (1u << 31) | {C.row}, 16, {rows})", cycles=_rows)
    def mvin3_zero(C: acc, rows: between(1, 16)):
        """A copy from address 0: zeros, without the memory of the CPU."""
        for i, j in T.grid(16, 16):
            if i < rows:
                C[i, j] = 0


def _describe_kept_weights(m: Machine, execute: ExecutionUnit, sp: MemorySpace, acc: MemorySpace, ex: Register) -> None:
    """A preload and several computes."""
    first = ["gemmini_preload({B.row}, (3u << 30) | {C.row})", "gemmini_compute_preloaded({A.row}, GARBAGE_ADDR)"]
    more = [
        f"gemmini_preload(GARBAGE_ADDR, ((3u << 30) | {{C.row}}) + {t} * {{C.strides[0]}}); "
        f"gemmini_compute_accumulated({{A.row}} + {t} * {{A.strides[0]}}, GARBAGE_ADDR)"
        for t in range(1, 4)
    ]

    @m.instruction(execute, call=[*first, *more], cycles=64)
    def matmul_kept(A: sp, B: sp, C: acc):
        """B stays in the array for four tiles of A."""
        T.assume(ex.weight_stationary == 1)
        T.assume(A.strides[1] == ex.a_stride)
        for t, i, j, k in T.grid(4, 16, 16, 16):
            C[t, i, j] += T.Cast("int32", A[t, i, k]) * T.Cast("int32", B[k, j])


def _describe_products(m: Machine, sp: MemorySpace, acc: MemorySpace) -> None:
    """A preload and a compute, in each of the two flows of data."""
    execute = m.unit("execute", queue=8)
    ex = m.state("ex", weight_stationary="int32", a_stride="int32")

    @m.instruction(execute, sets=ex, call="gemmini_extended_config_ex({weight_stationary}, 0, 0, {a_stride}, 0, 0)")
    def config_ex(weight_stationary: T.int32, a_stride: T.int32): ...

    zeros = ["gemmini_preload_zeros((1u << 31) | {C.row})", "gemmini_compute_preloaded(GARBAGE_ADDR, GARBAGE_ADDR)"]

    @m.instruction(execute, call=zeros, cycles=16)
    def zero(C: acc):
        """A product with weights of zeros, which is not added."""
        T.assume(ex.weight_stationary == 1)
        for i, j in T.grid(16, 16):
            C[i, j] = 0

    preload = "gemmini_extended_preload({B.row}, (3u << 30) | {C.row}, 16, 16, 16, {rows})"
    compute = "gemmini_extended_compute_preloaded({A.row}, GARBAGE_ADDR, 16, {rows}, 16, 16)"

    @m.instruction(execute, call=[preload, compute], cycles=16)
    def matmul(A: sp, B: sp, C: acc, rows: between(1, 16)):
        """B stays in the array; the rows of A pass, and are added to those of C. The next B takes 16 cycles anyway."""
        T.assume(ex.weight_stationary == 1)
        T.assume(A.strides[0] == ex.a_stride)
        for i, j, k in T.grid(16, 16, 16):
            if i < rows:
                C[i, j] += T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])

    _describe_kept_weights(m, execute, sp, acc, ex)
    preload = "gemmini_preload(GARBAGE_ADDR, (3u << 30) | {C.row})"
    compute = "gemmini_compute_preloaded({A.row}, {B.row})"

    @m.instruction(execute, call=[preload, compute], cycles=32)
    def matmul_os(A: sp, B: sp, C: acc):
        """The sums stay in the array, and are added to C at the end."""
        T.assume(ex.weight_stationary == 0)
        T.assume(A.strides[0] == ex.a_stride)
        for i, j, k in T.grid(16, 16, 16):
            C[i, j] += T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])


def _describe_store_registers(m: Machine) -> Register:
    """The registers of mvout. Its windows are squares, a window from each other; 0: it stores what there is."""
    byte = between(0, 255)
    return m.state(
        "st", stride="int32", relu="int32", scale="float32", window=between(0, 3), row_stride="int32", porows=byte,
        pocols=byte, ocols=byte,
    )  # fmt: skip


def _describe_stores(m: Machine, store: ExecutionUnit, acc: MemorySpace, st: Register) -> None:
    """What stores sums: scaled, with and without activation."""
    configure = (
        "gemmini_extended2_config_st({stride}, {relu}, {scale}, {window}, {window}, {row_stride} / {stride}, {porows}, "
        "{pocols}, {window} * {porows}, {ocols}, 0, 0)"
    )

    @m.instruction(store, sets=st, call=configure)
    def config_st(
        stride: T.int32, relu: T.int32, scale: T.float32, window: T.int32, row_stride: T.int32, porows: T.int32,
        pocols: T.int32, ocols: T.int32,
    ): ...  # fmt: skip

    scaled = "if ({rows} && {cols}) gemmini_extended_mvout({D}, (1u << 31) | {C.row}, {cols}, {rows})"

    @m.instruction(store, call=scaled, cycles=lambda rows, cols, scale: rows)
    def mvout(C: acc, D: m.host("int8"), rows: upto(16), cols: upto(16), scale: T.float32):
        """Sums, scaled, rounded to the nearest even, and clipped."""
        T.assume(D.strides[0] == st.stride)
        T.assume(st.relu == 0)
        T.assume(st.scale == scale)
        T.assume(st.window == 0)
        for i, j in T.grid(16, 16):
            if i < rows and j < cols:
                D[i, j] = T.Cast(
                    "int8", T.max(T.min(T.round(T.Cast("float32", C[i, j]) * scale), T.float32(127)), T.float32(-128))
                )

    @m.instruction(store, call=scaled, cycles=lambda rows, cols, scale: rows)
    def mvout_relu(C: acc, D: m.host("int8"), rows: upto(16), cols: upto(16), scale: T.float32):
        """As `mvout`; what is negative becomes 0."""
        T.assume(D.strides[0] == st.stride)
        T.assume(st.relu == 1)
        T.assume(st.scale == scale)
        T.assume(st.window == 0)
        for i, j in T.grid(16, 16):
            if i < rows and j < cols:
                D[i, j] = T.Cast(
                    "int8", T.max(T.min(T.round(T.Cast("float32", C[i, j]) * scale), T.float32(127)), T.float32(0))
                )


def _describe_store_of_sums(m: Machine, store: ExecutionUnit, acc: MemorySpace, st: Register) -> None:
    whole = "if ({rows} && {cols}) gemmini_extended_mvout({D}, (5u << 29) | {C.row}, {cols}, {rows})"

    @m.instruction(store, call=whole, cycles=lambda rows, cols: 4 * rows)
    def mvout_sums(C: acc, D: m.host("int32"), rows: upto(16), cols: upto(16)):
        """Sums as they are, of 32 bits."""
        T.assume(D.strides[0] * 4 == st.stride)
        T.assume(st.window == 0)
        for i, j in T.grid(16, 16):
            if i < rows and j < cols:
                D[i, j] = C[i, j]


_POOLED = (
    "if ({rows} && {cols} && {channels}) "
    "gemmini_extended_mvout({D}, (1u << 31) | {C.row}, {channels}, 4 * {rows} * {cols})"
)


def _windows(rows: int, cols: int, channels: int, scale: float) -> int:
    """The cycles of a pool: one for each element of a window."""
    return 4 * rows * cols


def _describe_pools(m: Machine, store: ExecutionUnit, acc: MemorySpace, st: Register) -> None:
    """mvout with pooling: the greatest of each window of 2 x 2 of an image, whose rows follow each other in acc."""

    @m.instruction(store, call=_POOLED, cycles=_windows)
    def mvout_pool(C: acc, D: m.host("int8"), rows: upto(16), cols: upto(16), channels: upto(16), scale: T.float32):
        """Sums, scaled, rounded to the nearest even, and clipped; of each window the greatest."""
        T.assume(C.strides[0] == st.ocols)
        T.assume(D.strides[1] == st.stride)
        T.assume(D.strides[0] == st.row_stride)
        T.assume(D.strides[0] % D.strides[1] == 0)
        T.assume(D.strides[0] <= 255 * D.strides[1])
        T.assume(rows == st.porows)
        T.assume(cols == st.pocols)
        T.assume(st.relu == 0)
        T.assume(st.scale == scale)
        T.assume(st.window == 2)
        for y, x, c, u, v in T.grid(rows, cols, channels, 2, 2):
            with T.block("D"):
                vy, vx, vc, vu, vv = T.axis.remap("SSSRR", [y, x, c, u, v])
                with T.init():
                    D[vy, vx, vc] = T.int8(-128)
                scaled = T.round(T.Cast("float32", C[vy * 2 + vu, vx * 2 + vv, vc]) * scale)
                D[vy, vx, vc] = T.max(
                    D[vy, vx, vc], T.Cast("int8", T.max(T.min(scaled, T.float32(127)), T.float32(-128)))
                )


def _describe_pools_without_negatives(m: Machine, store: ExecutionUnit, acc: MemorySpace, st: Register) -> None:
    """As `_describe_pools`, behind an activation."""

    @m.instruction(store, call=_POOLED, cycles=_windows)
    def mvout_pool_relu(
        C: acc, D: m.host("int8"), rows: upto(16), cols: upto(16), channels: upto(16), scale: T.float32
    ):
        """As `mvout_pool`; what is negative becomes 0."""
        T.assume(C.strides[0] == st.ocols)
        T.assume(D.strides[1] == st.stride)
        T.assume(D.strides[0] == st.row_stride)
        T.assume(D.strides[0] % D.strides[1] == 0)
        T.assume(D.strides[0] <= 255 * D.strides[1])
        T.assume(rows == st.porows)
        T.assume(cols == st.pocols)
        T.assume(st.relu == 1)
        T.assume(st.scale == scale)
        T.assume(st.window == 2)
        for y, x, c, u, v in T.grid(rows, cols, channels, 2, 2):
            with T.block("D"):
                vy, vx, vc, vu, vv = T.axis.remap("SSSRR", [y, x, c, u, v])
                with T.init():
                    D[vy, vx, vc] = T.int8(-128)
                scaled = T.round(T.Cast("float32", C[vy * 2 + vu, vx * 2 + vv, vc]) * scale)
                D[vy, vx, vc] = T.max(D[vy, vx, vc], T.Cast("int8", T.max(T.min(scaled, T.float32(127)), T.float32(0))))
