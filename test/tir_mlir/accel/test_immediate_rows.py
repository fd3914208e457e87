"""Memories whose rows are immediates of instructions: loops over them are unrolled, in the C and in the model."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, accel, build
from tir_mlir.dialect.diagnostics import IntrinError, MachineError
from tir_mlir.runtime.library import Library
from tir_mlir.script import tir as T


def registers(rows: int = 8, renamed: bool = False, declared: str = "") -> accel.Machine:
    m = accel.Machine("regs")
    r = m.memory("r", rows=rows, row=(4, "int32"), immediate=True, renamed=renamed, declared=declared)
    move, save, mode = m.unit("move", queue=4), m.unit("save", queue=4), m.state("mode", kind="int32")

    @m.instruction(move, sets=mode, clears=[r], call="set_mode({kind})")
    def set_mode(kind: T.int32): ...

    @m.instruction(move, call="r{R.row} = load({D})", cycles=4)
    def load(D: m.host("int32"), R: r):
        T.assume(mode.kind == 1)
        for j in range(4):
            R[j] = D[j]

    @m.instruction(save, call="store({D}, r{R.row})", cycles=8)
    def store(R: r, D: m.host("int32")):
        T.assume(mode.kind == 1)
        for j in range(4):
            D[j] = R[j]

    @m.instruction(save, call="store_negated({D}, r{R.row})", cycles=8)
    def store_negated(R: r, D: m.host("int32")):
        T.assume(mode.kind == 2)
        for j in range(4):
            D[j] = 0 - R[j]

    return m


def copy(rows: int, part: int, planes: int = 1) -> Schedule:
    """Rows of four, copied through registers, `part` at a time, in turn into as many planes."""

    @T.prim_func
    def main(A: T.Buffer((rows, 4), "int32"), B: T.Buffer((rows, 4), "int32")):
        for i, j in T.grid(rows, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]

    sch = Schedule(main)
    reads = sch.cache_read("B", "A", "global.r")
    outer, _ = sch.split(sch.get_loops("B")[0], [None, part])
    sch.compute_at(reads, outer)
    if planes > 1:
        sch.double_buffer(reads, outer, planes)
    sch.tensorize(sch.get_loops(reads)[-1], "regs.load")
    sch.tensorize(sch.get_loops("B")[-1], "regs.store")
    return sch


def build_copy(rows: int, part: int, machine: accel.Machine) -> Library:
    return build(copy(rows, part), target=machine)


@pytest.mark.parametrize(("rows", "part"), [(8, 2), (7, 3), (3, 1)])
def test_loops_over_rows_are_unrolled(rows: int, part: int) -> None:
    lib = build_copy(rows, part, registers())
    given, taken = np.arange(rows * 4, dtype=np.int32).reshape(rows, 4), np.zeros((rows, 4), np.int32)
    lib(given, taken)
    np.testing.assert_array_equal(taken, given)
    assert lib.main.verify()
    assert lib.main.timeline.issued == {"set_mode": 1, "load": rows, "store": rows}
    numbers = [line.strip() for line in lib.source.splitlines() if "= load" in line]
    assert [n[:2] for n in numbers] == [f"r{n}" for n in range(part)]


def test_rows_that_are_not_there_are_behind_a_condition() -> None:
    source = build_copy(7, 3, registers()).source
    assert "if (i_0 * 3 <= 4) {\n      store(B + i_0 * 12 + 8, r2);" in source


def test_a_loop_that_makes_too_many_copies_is_refused() -> None:
    with pytest.raises(
        MachineError, match=r"operand R is in r, whose rows are immediates: loop \w+, .* 80 copies .* 64"
    ):
        build_copy(80, 80, registers(128))


def test_an_inner_loop_of_fewer_rows_is_taken() -> None:
    assert build_copy(80, 16, registers(128)).main.cycles > 0


def test_a_row_that_a_loop_of_many_iterations_numbers_is_refused() -> None:
    m = registers()
    sch = copy(1024, 1, planes=2)
    with pytest.raises(MachineError, match="no double_buffer of what is in r"):
        build(sch, target=m)


def test_rows_that_are_variables_are_declared() -> None:
    source = build_copy(8, 2, registers(declared="row4 r{row}")).source
    assert "  row4 r0;\n  row4 r1;\n" in source


def test_a_variable_has_the_number_of_its_row_in_its_name() -> None:
    with pytest.raises(IntrinError, match="numbers in their names; fix: immediate=True"):
        registers(declared="row4 r")


def test_renamed_rows_are_not_waited_for() -> None:
    waits, renames = (build_copy(64, 1, registers(renamed=r)).main.cycles for r in (False, True))
    assert waits == 2 + 64 * (4 + 8)  # one row: each load waits until it is stored
    assert renames == 2 + 4 + 64 * 8


def test_an_attribute_is_before_the_definition() -> None:
    m = registers()
    m.attributes = "__attribute__((cold))"
    assert "\n__attribute__((cold)) void main(" in build_copy(8, 2, m).source


def test_registers_are_not_set_while_a_row_is_alive() -> None:
    @T.prim_func
    def main(A: T.Buffer((8, 4), "int32"), B: T.Buffer((8, 4), "int32")):
        for i, j in T.grid(8, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = 0 - A[vi, vj]

    m, sch = registers(), Schedule(main)
    reads = sch.cache_read("B", "A", "global.r")
    sch.compute_at(reads, sch.get_loops("B")[0])
    sch.tensorize(sch.get_loops(reads)[-1], "regs.load")
    sch.tensorize(sch.get_loops("B")[-1], "regs.store_negated")
    with pytest.raises(
        MachineError, match=r"set_mode\(kind\) sets mode.kind and loses the contents of memory r, where"
    ):
        build(sch, target=m)
