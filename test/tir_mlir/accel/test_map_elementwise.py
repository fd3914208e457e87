"""Elementwise programs that are mapped to machines without a person: one block for each instruction."""

# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from programs.vector_machine import vector_machine

from tir_mlir import accel
from tir_mlir.accel.machines import gemmini
from tir_mlir.errors import MachineError
from tir_mlir.schedule import Schedule
from tir_mlir.script import tir as T
from tir_mlir.script.module import PrimFunc


def sum_of(m: int, n: int):
    """Two tensors, added and clipped in three blocks."""

    @T.prim_func
    def main(A: T.Buffer((m, n), "int8"), B: T.Buffer((m, n), "int8"), C: T.Buffer((m, n), "int8")):
        S = T.alloc_buffer((m, n), "int32")
        R = T.alloc_buffer((m, n), "int32")
        for i, j in T.grid(m, n):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = T.Cast("int32", A[vi, vj]) + T.Cast("int32", B[vi, vj])
        for i, j in T.grid(m, n):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                R[vi, vj] = T.max(T.min(S[vi, vj], 127), -5)
        for i, j in T.grid(m, n):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast("int8", R[vi, vj])

    return main


def run(mapped: accel.Mapping, m: int, n: int) -> None:
    """Compare with NumPy."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (m, n), np.int8) for _ in range(2))
    c = np.zeros((m, n), np.int8)
    mapped.build().main(a, b, c)
    np.testing.assert_array_equal(c, np.clip(a.astype(np.int32) + b, -5, 127))


@pytest.mark.parametrize("shape", [(32, 16), (33, 20), (1, 1)])
def test_a_sum_of_tensors_is_mapped(shape: tuple[int, int]) -> None:
    mapped = accel.map(sum_of(*shape), vector_machine())
    run(mapped, *shape)
    assert mapped.schedule.verify()


def test_its_reasons_name_each_instruction() -> None:
    mapped = accel.map(sum_of(16, 16), vector_machine())
    assert str(mapped).splitlines()[1:] == [
        "  vec.load copies A, tiles of 16 x 16, into narrow",
        "  vec.widen computes tiles of 16 x 16 in wide",
        "  vec.load copies B, tiles of 16 x 16, into narrow",
        "  vec.widen computes tiles of 16 x 16 in wide",
        "  vec.add computes tiles of 16 x 16 in wide; vec.add_slowly does the same, and is not cheaper",
        "  vec.clip computes tiles of 16 x 16 in narrow",
        "  vec.store stores tiles of 16 x 16",
        "  loops over parts: none",
    ]


def test_the_cpu_pads_what_copies_of_whole_tiles_cannot() -> None:
    run(accel.map(sum_of(17, 30), vector_machine(masked=False)), 17, 30)


@pytest.mark.nightly
def test_its_steps_are_a_trace() -> None:
    mapped = accel.map(sum_of(33, 20), vector_machine())
    again = Schedule(sum_of(33, 20))
    mapped.schedule.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == mapped.schedule.mod.script()


def test_small_memories_hold_a_part() -> None:
    mapped = accel.map(sum_of(64, 32), vector_machine(rows=80))
    run(mapped, 64, 32)
    with pytest.raises(MachineError, match="block C: the smallest tiles need 80 rows of narrow, which has 40"):
        accel.map(sum_of(64, 32), vector_machine(rows=40))


def test_a_part_that_no_instruction_computes_is_named() -> None:
    @T.prim_func
    def main(A: T.Buffer((16, 16), "int8"), C: T.Buffer((16, 16), "int8")):
        for i, j in T.grid(16, 16):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast("int8", T.Cast("int32", A[vi, vj]) * 3)

    reason = r"compute block C: none computes muli\(extsi\(A\), 3\); nearest is vec\.\w+: "
    with pytest.raises(MachineError, match=reason):
        accel.map(main, vector_machine())


def requantized(m: int, n: int):
    """Sums of 32 bits, scaled to 8 bits."""

    @T.prim_func
    def main(S: T.Buffer((m, n), "int32"), Y: T.Buffer((m, n), "int8")):
        for i, j in T.grid(m, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                scaled = T.round(T.Cast("float32", S[vi, vj]) * T.float32(2.0**-9))
                Y[vi, vj] = T.Cast("int8", T.max(T.min(scaled, T.float32(127)), T.float32(0)))

    return main


def rows_of(m: int, n: int):
    """One row of sums, scaled to 8 bits, in each row."""

    @T.prim_func
    def main(S: T.Buffer((n,), "int32"), Y: T.Buffer((m, n), "int8")):
        for i, j in T.grid(m, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                scaled = T.round(T.Cast("float32", S[vj]) * T.float32(2.0**-9))
                Y[vi, vj] = T.Cast("int8", T.max(T.min(scaled, T.float32(127)), T.float32(0)))

    return main


@pytest.mark.parametrize("program", [requantized, rows_of])
def test_gemmini_scales_what_it_loads_and_repeats_rows(program: Callable[[int, int], PrimFunc]) -> None:
    mapped = accel.map(program(33, 20), gemmini())
    shape = (33, 20) if program is requantized else (20,)
    sums, y = np.random.default_rng(0).integers(-(10**5), 10**5, shape, np.int32), np.zeros((33, 20), np.int8)
    mapped.build().main(sums, y)
    scaled = np.clip(np.round(sums.astype(np.float32) * np.float32(2.0**-9)), 0, 127)
    np.testing.assert_array_equal(y, np.broadcast_to(scaled.astype(np.int8), y.shape))


def turning_machine() -> accel.Machine:
    """A machine whose copies turn tiles."""
    m = accel.Machine("turn")
    pad, dma = m.memory("pad", rows=64, row=(16, "int8")), m.unit("dma", queue=8)

    @m.instruction(dma, call="load({R.row}, {D}, {D.strides[0]}, {rows}, {cols})", cycles=16, latency=20)
    def load(D: m.host("int8"), R: pad, rows: accel.upto(16), cols: accel.upto(16)):
        for i, j in T.grid(16, 16):
            R[j, i] = T.if_then_else(i < rows and j < cols, D[i, j], T.int8(0))

    @m.instruction(dma, call="store({D}, {D.strides[0]}, {R.row}, {rows}, {cols})", cycles=16)
    def store(R: pad, D: m.host("int8"), rows: accel.upto(16), cols: accel.upto(16)):
        for i, j in T.grid(16, 16):
            if i < rows and j < cols:
                D[i, j] = R[i, j]

    return m


def test_copies_that_turn_tiles_transpose() -> None:
    @T.prim_func
    def main(A: T.Buffer((33, 20), "int8"), Y: T.Buffer((20, 33), "int8")):
        for i, j in T.grid(20, 33):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vj, vi]

    a, y = np.arange(660, dtype=np.int32).astype(np.int8).reshape(33, 20), np.zeros((20, 33), np.int8)
    accel.map(main, turning_machine()).build().main(a, y)
    np.testing.assert_array_equal(y, a.T)
