"""VTA: a GEMM core whose instructions run micro-operations in two loops, with a stage of scalar operations beside it.

Facts are those of github.com/apache/tvm-vta (include/vta/hw_spec.h: the fields of instructions and what they do;
hw_spec_const.h: their bits; config/vta_config.json: sizes). A micro-operation names an entry of each memory; the loops
add factors to them. Here an instruction has one micro-operation, which its call writes. Units wait for each other by
tokens alone: flags of an instruction (pop_prev_dep, pop_next_dep, push_prev_dep, push_next_dep) take one from the unit
before or behind its own, and put one there. The CPU waits for FINISH, which is behind all others.
"""

# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from tir_mlir.accel.machine import Machine
from tir_mlir.accel.machines.memoize_machine import memoize_machine
from tir_mlir.accel.operands import ExecutionUnit, MemorySpace, between, upto
from tir_mlir.script import tir as T


@memoize_machine
def vta(latency: int = 100) -> Machine:
    """The machine in its default configuration: blocks of 16, of int8 and int32. latency: of the memory of the CPU, in
    cycles."""
    m = Machine("vta", header='#include "vta.h"')
    inp = m.memory("inp", rows=2048, row=(16, "int8"))
    wgt = m.memory("wgt", rows=1024, row=(16, 16, "int8"))
    acc = m.memory("acc", rows=2048, row=(16, "int32"))
    units = [m.unit(name, queue=512, interlocks="none") for name in ("load", "compute", "store")]
    load, compute, store = units
    for one, other in ((load, compute), (compute, store)):  # 8 bits count tokens: hardware/chisel, Semaphore
        m.tokens(one, other, put="VTA_PUSH_NEXT", take="VTA_POP_PREV", depth=255, by_flags=True)
        m.tokens(other, one, put="VTA_PUSH_PREV", take="VTA_POP_NEXT", depth=255, by_flags=True)
    m.wait(*units, call="vta_finish()", name="finish")
    _describe_loads(m, load, inp, wgt, latency)
    _describe_load_of_sums(m, compute, acc, latency)
    _describe_products(m, compute, inp, wgt, acc)
    _describe_operations(m, compute, acc)
    _describe_store(m, store, acc)
    return m


MOST = 2047
"""Iterations of a loop of an instruction: no memory has more entries; the field has 14 bits."""


def _area(rows: int, blocks: int, value: int = 0) -> int:
    """The cycles of an instruction: one for each entry that it writes."""
    return max(1, rows * blocks)


def _describe_loads(m: Machine, load: ExecutionUnit, inp: MemorySpace, wgt: MemorySpace, latency: int) -> None:
    """Copies with two dimensions, of entries that become adjacent."""
    call = "vta_load_inp({flags}, {R.row}, {D}, {rows}, {blocks}, {D.strides[0]} / 16)"

    @m.instruction(load, call=call, cycles=_area, latency=latency)
    def load_inp(D: m.host("int8"), R: inp, rows: upto(MOST), blocks: upto(MOST)):
        """Rows of blocks of 16; those of the machine's memory are adjacent."""
        T.assume(R.strides[0] == blocks)
        T.assume(D.strides[0] % 16 == 0)
        T.assume(D.strides[1] == 16)
        for i, b, j in T.grid(rows, blocks, 16):
            R[i, b, j] = D[i, b, j]

    call = "vta_load_wgt({flags}, {R.row}, {D}, {rows}, {blocks}, {D.strides[0]} / 256)"

    @m.instruction(load, call=call, cycles=lambda rows, blocks: 16 * _area(rows, blocks), latency=latency)
    def load_wgt(D: m.host("int8"), R: wgt, rows: upto(MOST), blocks: upto(MOST)):
        """Rows of blocks of 16 x 16, each of which is adjacent in the memory of the CPU."""
        T.assume(R.strides[0] == blocks)
        T.assume(D.strides[0] % 256 == 0)
        T.assume(D.strides[1] == 256)
        T.assume(D.strides[2] == 16)
        for i, b, o, j in T.grid(rows, blocks, 16, 16):
            R[i, b, o, j] = D[i, b, o, j]


def _describe_products(
    m: Machine, compute: ExecutionUnit, inp: MemorySpace, wgt: MemorySpace, acc: MemorySpace
) -> None:
    """GEMM instructions: with their bit that sets entries to 0, and without it."""
    call = "vta_gemm({flags}, 1, {C.row}, 0, 0, {rows}, {blocks}, {C.strides[0]}, {C.strides[1]}, 0, 0, 0, 0)"

    @m.instruction(compute, call=call, cycles=_area)
    def reset(C: acc, rows: upto(MOST), blocks: upto(MOST)):
        """A GEMM instruction with its bit that sets entries to 0."""
        for i, b, j in T.grid(rows, blocks, 16):
            C[i, b, j] = 0

    entries = "{C.row}, {A.row}, {B.row}"
    factors = "0, {C.strides[0]}, {A.strides[1]}, {A.strides[0]}, {B.strides[0]}, 0"

    @m.instruction(compute, call=f"vta_gemm({{flags}}, 0, {entries}, {{blocks}}, {{rows}}, {factors})", cycles=_area)
    def gemm(A: inp, B: wgt, C: acc, rows: upto(MOST), blocks: upto(MOST)):
        """Rows of one block of columns: its sum over blocks of 16 terms. Rows are the inner loop: the pipeline adds to
        another entry each cycle."""
        for i, b, o, j in T.grid(rows, blocks, 16, 16):
            C[i, o] += T.Cast("int32", A[i, b, j]) * T.Cast("int32", B[b, o, j])


def _describe_load_of_sums(m: Machine, compute: ExecutionUnit, acc: MemorySpace, latency: int) -> None:
    call = "vta_load_acc({flags}, {R.row}, {D}, {rows}, {blocks}, {D.strides[0]} / 16)"

    @m.instruction(compute, call=call, cycles=lambda rows, blocks: 4 * _area(rows, blocks), latency=latency)
    def load_acc(D: m.host("int32"), R: acc, rows: upto(MOST), blocks: upto(MOST)):
        T.assume(R.strides[0] == blocks)
        T.assume(D.strides[0] % 16 == 0)
        T.assume(D.strides[1] == 16)
        for i, b, j in T.grid(rows, blocks, 16):
            R[i, b, j] = D[i, b, j]


def _describe_operations(m: Machine, compute: ExecutionUnit, acc: MemorySpace) -> None:
    """ALU instructions with an immediate, of 16 bits; a shift takes 5 of them, of which one is the sign."""
    loops = "{C.row}, {rows}, {blocks}, {C.strides[0]}, {C.strides[1]}"
    immediate = between(-(2**15), 2**15 - 1)

    @m.instruction(compute, call=f"vta_alu_imm({{flags}}, VTA_ALU_SHR, {loops}, {{value}})", cycles=_area)
    def shift(C: acc, rows: upto(MOST), blocks: upto(MOST), value: between(0, 15)):
        for i, b, j in T.grid(rows, blocks, 16):
            C[i, b, j] = C[i, b, j] >> value

    @m.instruction(compute, call=f"vta_alu_imm({{flags}}, VTA_ALU_ADD, {loops}, {{value}})", cycles=_area)
    def add(C: acc, rows: upto(MOST), blocks: upto(MOST), value: immediate):
        for i, b, j in T.grid(rows, blocks, 16):
            C[i, b, j] = C[i, b, j] + value

    @m.instruction(compute, call=f"vta_alu_imm({{flags}}, VTA_ALU_MAX, {loops}, {{value}})", cycles=_area)
    def largest(C: acc, rows: upto(MOST), blocks: upto(MOST), value: immediate):
        for i, b, j in T.grid(rows, blocks, 16):
            C[i, b, j] = T.max(C[i, b, j], value)

    @m.instruction(compute, call=f"vta_alu_imm({{flags}}, VTA_ALU_MIN, {loops}, {{value}})", cycles=_area)
    def least(C: acc, rows: upto(MOST), blocks: upto(MOST), value: immediate):
        for i, b, j in T.grid(rows, blocks, 16):
            C[i, b, j] = T.min(C[i, b, j], value)


def _describe_store(m: Machine, store: ExecutionUnit, acc: MemorySpace) -> None:
    call = "vta_store({flags}, {D}, {C.row}, {rows}, {blocks}, {D.strides[0]} / 16)"

    @m.instruction(store, call=call, cycles=_area)
    def store_out(C: acc, D: m.host("int8"), rows: upto(MOST), blocks: upto(MOST)):
        """The low 8 bits of sums, which the core keeps beside them."""
        T.assume(C.strides[0] == blocks)
        T.assume(D.strides[0] % 16 == 0)
        T.assume(D.strides[1] == 16)
        for i, b, j in T.grid(rows, blocks, 16):
            D[i, b, j] = T.Cast("int8", C[i, b, j])
