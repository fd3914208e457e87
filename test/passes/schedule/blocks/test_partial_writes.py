"""An instruction with a limit may leave elements of its window as they are: proofs know that it does."""

from __future__ import annotations

import pytest
from programs.parsed import parse

from tir_mlir import Schedule, accel
from tir_mlir.errors import ScheduleError
from tir_mlir.script import tir as T

# pyright: reportInvalidTypeForm=false

ROWS = accel.Machine("rows")
PAD = ROWS.memory("pad", rows=64, row=(16, "int32"))


@ROWS.instruction(ROWS.unit("dma"), call="load({R.row}, {D}, {D.strides[0]}, {rows})", cycles=16)
def load(D: ROWS.host("int32"), R: PAD, rows: accel.upto(16)):
    for i, j in T.grid(16, 16):
        if i < rows:
            R[i, j] = D[i, j]


def overwritten(rows: int) -> Schedule:
    """X fills S where u is 0, L loads rows over it, and Y reads all of it."""
    sch = Schedule(
        parse(
            f"""
@T.prim_func
def main(A: T.Buffer((4, 2, 16, 16), "int32"), Z: T.Buffer((4, 16, 16), "int32"), B: T.Buffer((4, 2, 16, 16), "int32")):
    S = T.alloc_buffer((16, 16), "int32", scope="global.pad")
    for t, u in T.grid(4, 2):
        for i, j in T.grid(16, 16):
            with T.block("X"):
                T.where(u < 1)
                vt, vu, vi, vj = T.axis.remap("OOSS", [t, u, i, j])
                S[vi, vj] = Z[vt, vi, vj]
        for i, j in T.grid(16, 16):
            with T.block("L"):
                T.where(i < {rows})
                vt, vu, vi, vj = T.axis.remap("OOSS", [t, u, i, j])
                S[vi, vj] = A[vt, vu, vi, vj]
        for i, j in T.grid(16, 16):
            with T.block("Y"):
                vt, vu, vi, vj = T.axis.remap("SSSS", [t, u, i, j])
                B[vt, vu, vi, vj] = S[vi, vj]
"""
        )
    )
    sch.tensorize(sch.get_loops("L")[2], "rows.load")
    return sch


def test_what_an_instruction_leaves_is_a_value_of_another_block() -> None:
    sch = overwritten(5)
    t, u = sch.get_loops("Y")[:2]
    with pytest.raises(ScheduleError, match="not provable: whether two iterations of L_o and X access one element"):
        sch.reorder(u, t)
    assert sch.verify()


def test_a_text_says_that_a_window_is_written_in_part() -> None:
    text = overwritten(5).mod.script()
    assert text.count('T.block_attr({"tir.partial": ["writes"]})') == 1
    assert parse(text).script() == text


def copied(rows: int, size: int) -> Schedule:
    """A tile of a copy that is an instruction, of which so many rows are in the buffer."""
    sch = Schedule(
        parse(
            f"""
@T.prim_func
def main(A: T.Buffer(({rows}, 16), "int32")):
    S = T.alloc_buffer(({size}, 16), "int32", scope="global.pad")
    for i, j in T.grid({rows}, 16):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = A[vi, vj]
"""
        )
    )
    sch.tensorize(sch.split(sch.get_loops("S")[0], [None, 16])[1], "rows.load")
    return sch


@pytest.mark.parametrize(
    ("rows", "size", "partial"), [(32, 32, False), (33, 33, False), (33, 48, True), (17, 32, True)]
)
def test_a_limit_at_the_end_of_a_buffer_leaves_nothing(rows: int, size: int, partial: bool) -> None:
    assert ("tir.partial" in copied(rows, size).mod.script()) == partial
