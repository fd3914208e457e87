"""What an instruction computes, and the elements that it accesses."""

from __future__ import annotations

import numpy as np
import pytest
from programs.systolic import systolic

from tir_mlir import Schedule, accel, build
from tir_mlir.accel.semantics import accessed_elements
from tir_mlir.script import tir as T


@pytest.mark.parametrize(("rows", "cols"), [(0, 0), (1, 16), (5, 3), (16, 16)])
def test_elements_behind_a_mask_are_not_accessed(rows: int, cols: int) -> None:
    instructions = systolic().instructions
    inside = np.ones((rows, cols), bool)
    into = accessed_elements(instructions["mvin"], {"rows": rows, "cols": cols})
    out = accessed_elements(instructions["mvout"], {"rows": rows, "cols": cols, "scale": 1.0})
    np.testing.assert_array_equal(into["D"], inside)
    assert into["R"].all()
    np.testing.assert_array_equal(out["C"], inside)
    np.testing.assert_array_equal(out["D"], inside)


def shifted(first: bool) -> tuple[accel.Machine, accel.MachineInstruction]:
    """A machine that adds a number to what it copies; first: the number is its first operand."""
    machine = accel.Machine("shifted")
    pad = machine.memory("pad", rows=32, row=(16, "int32"))
    dma = machine.unit("dma")
    if first:

        @machine.instruction(dma, call="load({D}, {R.row}, {zero})")
        def load(zero: T.int32, D: machine.host("int8"), R: pad):
            for i, j in T.grid(16, 16):
                R[i, j] = T.Cast("int32", D[i, j]) + zero
    else:

        @machine.instruction(dma, call="load({D}, {R.row}, {zero})")
        def load(D: machine.host("int8"), R: pad, zero: T.int32):
            for i, j in T.grid(16, 16):
                R[i, j] = T.Cast("int32", D[i, j]) + zero

    @machine.instruction(dma, call="save({D}, {R.row})")
    def save(R: pad, D: machine.host("int32")):
        for i, j in T.grid(16, 16):
            D[i, j] = R[i, j]

    return machine, load


@T.prim_func
def three_less(A: T.Buffer((16, 16), "int8"), B: T.Buffer((16, 16), "int32")):
    P = T.alloc_buffer((16, 16), "int32", scope="global.pad")
    for i, j in T.grid(16, 16):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = T.Cast("int32", A[vi, vj]) + -3
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = P[vi, vj]


@pytest.mark.parametrize("first", [False, True])
def test_a_number_may_be_negative_and_come_first(first: bool) -> None:
    machine, _ = shifted(first)
    sch = Schedule(three_less)
    sch.tensorize(sch.get_loops("P")[0], "shifted.load")
    sch.tensorize(sch.get_loops("B")[0], "shifted.save")
    a, b = np.arange(256).astype(np.int8).reshape(16, 16), np.zeros((16, 16), np.int32)
    build(sch, target=machine)(a, b)
    np.testing.assert_array_equal(b, a.astype(np.int32) - 3)
