"""Instructions that store the greatest of windows: descriptions with blocks and start values."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, accel, build
from tir_mlir.accel import upto
from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.accel.semantics import extent_limits, touched_shape
from tir_mlir.dialect.computation.scalar_params import ExtentLimit
from tir_mlir.errors import ScheduleError
from tir_mlir.script import tir as T

# pyright: reportInvalidTypeForm=false

MODEL = """
#include <stdint.h>
static int32_t wide[64][4];
static void fetch(int32_t to, const int32_t *from) {
  for (int j = 0; j < 4; ++j) wide[to][j] = from[j];
}
static void save(int32_t *to, int32_t stride, int32_t from, int32_t width, int32_t rows, int32_t cols) {
  for (int y = 0; y < rows; ++y) for (int x = 0; x < cols; ++x) for (int c = 0; c < 4; ++c) {
    int32_t most = INT32_MIN;
    for (int u = 0; u < 3; ++u) for (int v = 0; v < 3; ++v) {
      int32_t value = wide[from + (2 * y + u) * width + 2 * x + v][c];
      most = value > most ? value : most;
    }
    to[y * stride + x * 4 + c] = most;
  }
}
"""


def pooling_machine() -> accel.Machine:
    """A memory of 64 rows, and a store of the greatest of windows of 3 x 3, two apart, up to 2 x 3 of them."""
    m = accel.Machine("windows", header=MODEL)
    wide, dma = m.memory("wide", rows=64, row=(4, "int32")), m.unit("dma")

    @m.instruction(dma, call="fetch({R.row}, {D})")
    def fetch(D: m.host("int32"), R: wide):
        for j in range(4):
            R[0, j] = D[j]

    @m.instruction(dma, call="save({D}, {D.strides[0]}, {C.row}, {C.strides[0]}, {rows}, {cols})")
    def save(C: wide, D: m.host("int32"), rows: upto(2), cols: upto(3)):
        T.assume(D.strides[1] == 4)
        for y, x, c, u, v in T.grid(rows, cols, 4, 3, 3):
            with T.block("D"):
                vy, vx, vc = T.axis.remap("SSS", [y, x, c])
                vu, vv = T.axis.reduce(3, u), T.axis.reduce(3, v)
                with T.init():
                    D[vy, vx, vc] = -2147483648
                D[vy, vx, vc] = T.max(D[vy, vx, vc], C[vy * 2 + vu, vx * 2 + vv, vc])

    return m


def greatest(rows: int, cols: int, window: int):
    """The greatest of windows of an image in the memory of the machine, as large as they need."""
    height, width = rows * 2 + window - 2, cols * 2 + window - 2

    @T.prim_func
    def main(X: T.Buffer((height, width, 4), "int32"), Y: T.Buffer((rows, cols, 4), "int32")):
        S = T.alloc_buffer((height, width, 4), "int32", scope="global.wide")
        for y, x, c in T.grid(height, width, 4):
            with T.block("S"):
                vy, vx, vc = T.axis.remap("SSS", [y, x, c])
                S[vy, vx, vc] = X[vy, vx, vc]
        for y, x, c, u, v in T.grid(rows, cols, 4, window, window):
            with T.block("Y"):
                vy, vx, vc, vu, vv = T.axis.remap("SSSRR", [y, x, c, u, v])
                with T.init():
                    Y[vy, vx, vc] = -2147483648
                Y[vy, vx, vc] = T.max(Y[vy, vx, vc], S[vy * 2 + vu, vx * 2 + vv, vc])

    return main


def test_a_result_with_a_start_value_is_only_written() -> None:
    tiles = {t.name: t for t in pooling_machine().instructions["save"].tiles}
    assert (tiles["C"].shape, tiles["C"].access) == ((5, 7, 4), "r")
    assert (tiles["D"].shape, tiles["D"].access) == ((2, 3, 4), "w")


def test_sizes_limit_windows() -> None:
    save = pooling_machine().instructions["save"]
    assert extent_limits(save)["C"] == {0: ExtentLimit("rows", 2, 1), 1: ExtentLimit("cols", 2, 1)}
    image = next(t for t in save.tiles if t.name == "C")
    assert touched_shape(save, image, {"rows": 1, "cols": 2}) == (3, 5, 4)
    assert touched_shape(save, image, {"rows": 0, "cols": 3}) == (0, 7, 4)


def test_the_c_of_windows_is_compared() -> None:
    assert (found := pooling_machine().check()), str(found)
    other = pooling_machine().check(MODEL.replace("2 * x + v", "2 * x + u"), only=["save"])
    assert "save: D[0, 0, " in str(other)


@pytest.mark.parametrize(("rows", "cols"), [(2, 3), (1, 2), (1, 1)])
def test_windows_at_an_edge_need_no_more_than_they_read(rows: int, cols: int) -> None:
    machine = pooling_machine()
    sch = Schedule(greatest(rows, cols, 3))
    sch.tensorize(sch.get_loops("S")[-1], "windows.fetch")
    sch.tensorize(sch.get_loops("Y")[0], "windows.save")
    main = build(sch, target=machine).main
    assert isinstance(main, MachineFunction)
    x = np.random.default_rng(0).integers(-1000, 1000, (2 * rows + 1, 2 * cols + 1, 4), np.int32)
    y = np.zeros((rows, cols, 4), np.int32)
    main(x, y)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (0, 1))[::2, ::2]
    np.testing.assert_array_equal(y, windows.max((-2, -1)))
    assert main.verify()


def test_a_window_of_another_size_is_refused() -> None:
    sch = Schedule(greatest(2, 2, 2))
    pooling_machine()
    with pytest.raises(ScheduleError, match=r'(?s)"windows\.save".*vu: 3 reduce, .*vu_i: 2 reduce'):
        sch.tensorize(sch.get_loops("Y")[0], "windows.save")
