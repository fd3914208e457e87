"""Numbers that fit the fields of instructions and registers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, accel, build
from tir_mlir.accel import between
from tir_mlir.errors import IntrinError, MachineError, ScheduleError
from tir_mlir.script import tir as T

MODEL = """static int PAD[32][16]; static int ld_stride;
static void set_ld(int stride) { ld_stride = stride; }
static void load(const int *from, int to, int shift) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) PAD[to + i][j] = from[i * ld_stride + j] + SHIFT; }
static void save(float *to, int from, float scale) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) to[i * 16 + j] = (float)PAD[from + i][j] * scale; }
"""


def limited() -> accel.Machine:
    machine = accel.Machine("limited")
    pad = machine.memory("pad", rows=32, row=(16, "int32"))
    dma = machine.unit("dma")
    ld = machine.state("ld", stride=between(16, 64, 16))

    @machine.instruction(dma, sets=ld, call="set_ld({stride})")
    def set_ld(stride: T.int32): ...

    @machine.instruction(dma, call="load({D}, {R.row}, {shift})")
    def load(D: machine.host("int32"), R: pad, shift: between(-4, 3)):
        T.assume(D.strides[0] == ld.stride)
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j] + shift

    @machine.instruction(dma, call="save({D}, {R.row}, {scale})")
    def save(R: pad, D: machine.host("float32"), scale: between(0.0, 2.0)):
        T.assume(D.strides[0] == 16)
        for i, j in T.grid(16, 16):
            D[i, j] = T.Cast("float32", R[i, j]) * scale

    return machine


def scheduled(width: int = 16, shift: object = 1, scale: float = 0.5) -> Schedule:
    sch = Schedule(
        parse(f"""
@T.prim_func
def main(A: T.Buffer((16, {width}), "int32"), B: T.Buffer((16, 16), "float32")):
    for t in range(1):
        P = T.alloc_buffer((16, 16), "int32", scope="global.pad")
        for i, j in T.grid(16, 16):
            with T.block("P"):
                vt, vi, vj = T.axis.remap("OSS", [t, i, j])
                P[vi, vj] = A[vi, vj] + ({shift})
        for i, j in T.grid(16, 16):
            with T.block("B"):
                vt, vi, vj = T.axis.remap("OSS", [t, i, j])
                B[vi, vj] = T.Cast("float32", P[vi, vj]) * T.float32({scale})
""")
    )
    sch.tensorize(sch.get_loops("P")[1], "limited.load")
    sch.tensorize(sch.get_loops("B")[1], "limited.save")
    return sch


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 80}, "stride is 80, and its field takes numbers from 16 to 64 by steps of 16; the nearest is 64"),
        ({"width": 30}, "stride is 30, and its field takes numbers from 16 to 64 by steps of 16; the nearest is 32"),
        ({"shift": 4}, "load(D, R, shift): shift is 4, and its field takes numbers from -4 to 3; the nearest is 3"),
        ({"scale": 2.5}, "scale is 2.5, and its field takes numbers from 0.0 to 2.0; the nearest is 2.0"),
        ({"scale": -1.0}, "scale is -1.0, and its field takes numbers from 0.0 to 2.0; the nearest is 0.0"),
    ],
)
def test_a_number_outside_of_its_field_is_refused(change: dict[str, object], message: str) -> None:
    machine = limited()
    with pytest.raises(MachineError, match=re.escape(message)):
        build(scheduled(**change), target=machine)


@pytest.mark.parametrize("change", [{}, {"width": 64}, {"shift": -4}, {"scale": 2.0}])
def test_a_number_at_the_end_of_its_field_fits(change: dict[str, object]) -> None:
    machine = limited()
    main = build(scheduled(**change), target=machine).main
    a, b = np.ones((16, change.get("width", 16)), np.int32), np.zeros((16, 16), np.float32)
    main(a, b)
    shift = change.get("shift", 1)
    np.testing.assert_array_equal(b, np.full((16, 16), change.get("scale", 0.5) * (1 + shift), np.float32))
    assert main.verify()


def test_a_check_keeps_to_the_fields() -> None:
    assert limited().check(MODEL.replace("SHIFT", "(shift < -4 || shift > 3 ? 99 : shift)"))
    result = limited().check(MODEL.replace("SHIFT", "(shift & 3)"))  # a field that lost its sign
    assert "load: R[" in str(result), str(result)


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(IntrinError, match=re.escape("between(3, 1, 0): no number is in it")):
        between(3, 1)


def masked(low: int, high: int = 16) -> accel.Machine:
    """A machine whose copies have `low` to `high` rows of 16."""
    machine = accel.Machine("masked")
    pad = machine.memory("pad", rows=64, row=(16, "int8"))
    dma = machine.unit("dma")

    @machine.instruction(dma, call="load({D}, {R.row}, {rows})")
    def load(D: machine.host("int8"), R: pad, rows: between(low, high)):
        for i, j in T.grid(16, 16):
            R[i, j] = T.if_then_else(i < rows, D[i, j], T.int8(0))

    @machine.instruction(dma, call="save({D}, {R.row})")
    def save(R: pad, D: machine.host("int8")):
        for i, j in T.grid(16, 16):
            D[i, j] = R[i, j]

    return machine


def padded(rows: int) -> Schedule:
    sch = Schedule(
        parse(f"""
@T.prim_func
def main(A: T.Buffer(({rows}, 16), "int8"), B: T.Buffer((32, 16), "int8")):
    P = T.alloc_buffer((32, 16), "int8", scope="global.pad")
    for i, j in T.grid(32, 16):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = T.if_then_else(vi < {rows}, A[vi, vj], T.int8(0))
    for i, j in T.grid(32, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = P[vi, vj]
""")
    )
    for block, name in (("P", "masked.load"), ("B", "masked.save")):
        sch.tensorize(sch.split(sch.get_loops(block)[0], [None, 16])[1], name)
    return sch


@pytest.mark.parametrize("rows", [1, 15, 16, 17])
def test_a_mask_may_have_no_rows(rows: int) -> None:
    machine = masked(0)
    main = build(padded(rows), target=machine).main
    a, b = np.ones((rows, 16), np.int8), np.full((32, 16), 7, np.int8)
    main(a, b)
    assert b.sum() == rows * 16 and main.verify()


def test_a_mask_without_rows_is_refused_where_none_is_taken() -> None:
    machine = masked(1)
    build(padded(17), target=machine)
    with pytest.raises(ScheduleError, match=r'parameter rows of "masked\.load" is at least 1; .* at vi_o = 1'):
        padded(15)


def test_a_mask_that_ends_before_the_tile_is_not_cut_there() -> None:
    masked(0, 8)
    padded(8)
    with pytest.raises(ScheduleError, match=r'parameter rows of "masked\.load" is at most 8; .* at vi_o = 0'):
        padded(12)
