"""Tiles of more than two dimensions, with strides in a memory of the machine, of rows of other shapes and types."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, accel, build
from tir_mlir.errors import IntrinError, MachineError, ScriptError
from tir_mlir.script import tir as T


def blocked() -> accel.Machine:
    """A core whose product loops over rows and blocks of 16 terms, at strides of its memories."""
    m = accel.Machine("blocked")
    inp = m.memory("inp", rows=512, row=(16, "int8"))
    wgt = m.memory("wgt", rows=64, row=(16, 16, "int8"))
    acc = m.memory("acc", rows=256, row=(16, "int32"))
    unit = m.unit("unit", queue=8)

    @m.instruction(unit, call="load_inp({R.row}, {R.strides[0]}, {D}, {D.strides[0]}, {rows})")
    def load_inp(D: m.host("int8"), R: inp, rows: accel.upto(64)):
        for i, j in T.grid(rows, 16):
            R[i, j] = D[i, j]

    @m.instruction(unit, call="load_wgt({R.row}, {D}, {D.strides[0]})")
    def load_wgt(D: m.host("int8"), R: wgt):
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    @m.instruction(unit, call="zero({C.row}, {rows})")
    def zero(C: acc, rows: accel.upto(64)):
        for i, j in T.grid(rows, 16):
            C[i, j] = 0

    call = "gemm({C.row}, {A.row}, {A.strides[0]}, {A.strides[1]}, {B.row}, {B.strides[0]}, {rows}, {depth})"

    @m.instruction(unit, call=call, cycles=lambda rows, depth: rows * depth)
    def gemm(A: inp, B: wgt, C: acc, rows: accel.upto(64), depth: accel.upto(64)):
        for i, kk, o, k in T.grid(rows, depth, 16, 16):
            C[i, o] += T.Cast("int32", A[i, kk, k]) * T.Cast("int32", B[kk, o, k])

    @m.instruction(unit, call="store({D}, {R.row}, {D.strides[0]}, {rows})")
    def store(R: acc, D: m.host("int32"), rows: accel.upto(64)):
        for i, j in T.grid(rows, 16):
            D[i, j] = R[i, j]

    return m


def schedule_product(m: int, n: int, k: int, rows: int) -> Schedule:
    """A product with rows of weights, so many rows of the result at once."""

    @T.prim_func
    def main(A: T.Buffer((m, k), "int8"), B: T.Buffer((n, k), "int8"), C: T.Buffer((m, n), "int32")):
        for i, j, r in T.grid(m, n, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj, vk])

    sch = Schedule(main)
    out = sch.cache_write("C", 0, "global.acc")
    a, b = sch.cache_read("C", "A", "global.inp"), sch.cache_read("C", "B", "global.wgt")
    sch.transform_block_layout("C", lambda i, j, r: (i, j // 16, r // 16, j % 16, r % 16))
    i, j, r, j_1, r_1 = sch.get_loops("C")
    i, i_1 = sch.split(i, [None, rows])
    sch.reorder(i, j, i_1, r, j_1, r_1)
    sch.compute_at(a, i, preserve_unit_loops=True)
    sch.compute_at(b, j, preserve_unit_loops=True)
    sch.reverse_compute_at(out, j, preserve_unit_loops=True)
    sch.transform_layout(a, ("write", 0), lambda x, y: (x, y // 16, y % 16))
    sch.transform_layout(b, ("write", 0), lambda x, y: (x // 16, y // 16, x % 16, y % 16))
    sch.transform_layout("C", ("write", 0), lambda x, y: (y // 16, x, y % 16))
    zero = sch.decompose_reduction("C", i_1)
    sch.tensorize(i_1, "blocked.gemm")
    sch.tensorize(sch.get_loops(zero)[-2], "blocked.zero")
    sch.tensorize(sch.get_loops(out)[-2], "blocked.store")
    for copy, name in ((a, "blocked.load_inp"), (b, "blocked.load_wgt")):
        x, y = sch.get_loops(copy)[-2:]
        y, y_1 = sch.split(y, [None, 16])
        sch.reorder(y, x, y_1)
        sch.tensorize(x, name)
    return sch


@pytest.mark.parametrize(
    ("m", "n", "k", "rows"), [(64, 48, 32, 32), (17, 16, 16, 17), (34, 32, 80, 17), (1, 16, 48, 1)]
)
def test_an_instruction_loops_over_tiles_at_strides(m: int, n: int, k: int, rows: int) -> None:
    machine = blocked()
    sch = schedule_product(m, n, k, rows)
    lib = build(sch, target=machine)
    rng = np.random.default_rng(0)
    a, b, c = (
        rng.integers(-128, 128, (m, k), np.int8),
        rng.integers(-128, 128, (n, k), np.int8),
        np.zeros((m, n), np.int32),
    )
    lib(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.T.astype(np.int32))
    assert sch.verify()
    blocks = k // 16
    assert f"A_GLOBAL_INP, {blocks}, 1, B_GLOBAL_WGT, 1, {rows}, {blocks});" in lib.source


def test_strides_are_free_where_the_call_names_them() -> None:
    instructions = blocked().instructions
    tiles = {t.name: (t.shape, t.row, t.free) for t in instructions["gemm"].tiles}
    assert tiles == {
        "A": ((64, 64, 16), (16,), (0, 1)),
        "B": ((64, 16, 16), (16, 16), (0,)),
        "C": ((64, 16), (16,), ()),
    }


def test_rows_hold_elements_of_other_types() -> None:
    machine = accel.Machine("tiles")
    tile = machine.memory("tile", rows=32, row=(64, "int8"))
    unit = machine.unit("unit")

    @machine.instruction(unit, call="zero({C.row})")
    def zero(C: tile.of("int32")):
        for i, j in T.grid(16, 16):
            C[i, j] = 7

    @machine.instruction(unit, call="store({D}, {C.row}, {D.strides[0]})")
    def store(C: tile.of("int32"), D: machine.host("int32")):
        for i, j in T.grid(16, 16):
            D[i, j] = C[i, j]

    @T.prim_func
    def main(D: T.Buffer((16, 16), "int32")):
        C = T.alloc_buffer((16, 16), "int32", scope="global.tile")
        for i, j in T.grid(16, 16):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = 7
        for i, j in T.grid(16, 16):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vi, vj]

    sch = Schedule(main)
    sch.tensorize(sch.get_loops("C")[0], "tiles.zero")
    sch.tensorize(sch.get_loops("D")[0], "tiles.store")
    lib, d = build(sch, target=machine), np.zeros((16, 16), np.int32)
    lib(d)
    assert (d == 7).all()
    assert [b.rows for b in lib.main.placed.rows] == [16]


def test_a_row_of_other_bytes_is_refused() -> None:
    tile = accel.Machine("tiles").memory("tile", rows=32, row=(64, "int8"))
    with pytest.raises(IntrinError, match="a row of tile has 64 bytes; 8 of int32 have not"):
        tile.of("int32", 8)


def test_too_many_columns_are_refused() -> None:
    machine = accel.Machine("wide")
    pad = machine.memory("pad", rows=32, row=(4, 16, "int8"))
    with pytest.raises(ScriptError, match="operand R has 8 x 16 columns; a row of pad has 4 x 16"):

        @machine.instruction(machine.unit("dma"), call="load({R.row}, {D})")
        def load(D: machine.host("int8"), R: pad):
            for i, j in T.grid(8, 16):
                R[i, j] = D[i, j]


def aligned(width: int, blocks: int) -> tuple[Schedule, accel.Machine]:
    """A copy of a tile out of rows of `width`, by a machine that copies at strides of 16 into adjacent rows."""
    machine = accel.Machine("aligned")
    pad = machine.memory("pad", rows=64, row=(16, "int8"))

    @machine.instruction(machine.unit("dma"), call="load({R.row}, {D}, {D.strides[0]} / 16, {rows}, {blocks})")
    def load(D: machine.host("int8"), R: pad, rows: accel.upto(8), blocks: accel.upto(8)):
        T.assume(D.strides[0] % 16 == 0)
        T.assume(R.strides[0] == blocks)
        for i, b, j in T.grid(rows, blocks, 16):
            R[i, b, j] = D[i, b, j]

    @machine.instruction(machine.units["dma"], call="save({R.row}, {D}, {D.strides[0]}, {D.strides[1]})")
    def save(R: pad, D: machine.host("int8")):
        for i, b, j in T.grid(8, 4, 16):
            D[i, b, j] = R[i, b, j]

    @T.prim_func
    def main(A: T.Buffer((8, 4, width), "int8"), B: T.Buffer((8, 4, 16), "int8")):
        P = T.alloc_buffer((8, 4, 16), "int8", scope="global.pad")
        for h, i, b, j in T.grid(4 // blocks, 8, blocks, 16):
            with T.block("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                vb = T.axis.spatial(4, h * blocks + b)
                P[vi, vb, vj] = A[vi, vb, vj]
        for i, b, j in T.grid(8, 4, 16):
            with T.block("B"):
                vi, vb, vj = T.axis.remap("SSS", [i, b, j])
                B[vi, vb, vj] = P[vi, vb, vj]

    sch = Schedule(main)
    sch.tensorize(sch.get_loops("B")[0], "aligned.save")
    sch.tensorize(sch.get_loops("P")[1], "aligned.load")
    return sch, machine


def test_a_stride_that_a_copy_cannot_do_is_refused() -> None:
    sch, machine = aligned(18, 4)
    with pytest.raises(MachineError, match=r"needs D\.strides\[0\] % 16 == 0; here it is 8"):
        build(sch, target=machine)


def test_rows_that_are_not_adjacent_are_refused() -> None:
    sch, machine = aligned(48, 2)
    with pytest.raises(MachineError, match=r"needs R\.strides\[0\] == blocks; here it is 4 and 2"):
        build(sch, target=machine)
